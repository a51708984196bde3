import { Unreadable } from "./fault.js";

// The largest entry that the page reads: WebCrypto can hash only what is in memory as a whole.
export const LARGEST_READ = 2 ** 30;
const WINDOW = 4 * 2 ** 20;

/** A file that is read in order, in pieces. Small reads come from a window, because each read of a file takes a while. */
export class Source {
    #blob;
    #window = new Uint8Array(0);
    #start = 0;
    /** The number of bytes that were read so far. */
    position = 0;

    constructor(blob) {
        this.#blob = blob;
    }

    get size() { return this.#blob.size; }
    get remaining() { return this.size - this.position; }

    /** The next bytes; fewer at the end of the file. */
    async read(length) {
        const count = Math.min(length, this.remaining);
        const bytes = await this.#bytes(this.position, count);
        this.position += count;
        return bytes;
    }

    async #bytes(offset, count) {
        if (count > LARGEST_READ) throw new Unreadable("has an entry of more than 1 GiB: use capbundle verify");
        if (count > WINDOW) return piece(this.#blob, offset, count);
        const first = offset - this.#start;
        if (first < 0 || first + count > this.#window.length) {
            this.#window = await piece(this.#blob, offset, Math.min(WINDOW, this.size - offset));
            this.#start = offset;
        }
        return this.#window.subarray(offset - this.#start, offset - this.#start + count);
    }
}

/** Bytes of a file. Browsers refuse to read a file that was changed after it was chosen. */
export async function piece(blob, offset, count) {
    try {
        return new Uint8Array(await blob.slice(offset, offset + count).arrayBuffer());
    } catch {
        throw new Unreadable("cannot be read, or was changed while it was being read");
    }
}
