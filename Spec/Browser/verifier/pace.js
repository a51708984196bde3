import { sha256 } from "./bytes.js";

const LONGEST_PIECE = 25; // milliseconds of work without a pause
const PIECE = 2 ** 18;

/** Divides long work into pieces. Between them the browser can draw and listen, and the user can cancel the work. */
export class Pace {
    #signal;
    #tell;
    #end = performance.now() + LONGEST_PIECE;
    /** Bytes to read and to inflate, and how many of them are done. */
    total = 0;
    done = 0;

    /** `tell(share)` is called in each pause. Aborting the signal ends the work with the signal's reason. */
    constructor(signal = null, tell = () => {}) {
        this.#signal = signal;
        this.#tell = tell;
    }

    /** Pauses if the last pause was long enough ago. */
    async rest() {
        if (performance.now() < this.#end) return;
        this.#tell(this.total > 0 ? Math.min(1, this.done / this.total) : 0);
        // Browsers slow down the timers of a page that nobody sees, but not its hashes.
        await (globalThis.document?.hidden ? sha256(new Uint8Array(1)) : new Promise(resume => setTimeout(resume)));
        this.#signal?.throwIfAborted();
        this.#end = performance.now() + LONGEST_PIECE;
    }

    /** Gives an array to `act` in pieces, with pauses. */
    async each(array, act) {
        for (let start = 0; start < array.length; start += PIECE) {
            act(array.subarray(start, start + PIECE));
            await this.rest();
        }
    }
}
