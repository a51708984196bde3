import { hex, sha256 } from "./bytes.js";

// SHA-256 in pieces: FIPS 180-4. WebCrypto is faster, but it hashes only what is in memory as a whole, and copies that first,
// which blocks the page for long if it is large.

const LARGEST_AT_ONCE = 64 * 2 ** 20;
const FILE_PIECE = 4 * 2 ** 20;

const primes = [];
for (let number = 2; primes.length < 64; number++) if (primes.every(prime => number % prime)) primes.push(number);
// The first 32 bits of the fraction of a root.
const fraction = root => (root % 1) * 2 ** 32 | 0;
const CONSTANTS = Int32Array.from(primes, prime => fraction(Math.cbrt(prime)));
const FIRST_STATE = primes.slice(0, 8).map(prime => fraction(Math.sqrt(prime)));

export class SHA256 {
    #state = Int32Array.from(FIRST_STATE);
    #words = new Int32Array(64);
    #block = new Uint8Array(64);
    #length = 0;

    add(bytes) {
        let place = 0;
        const held = this.#length % 64;
        this.#length += bytes.length;
        if (held > 0) {
            place = Math.min(64 - held, bytes.length);
            this.#block.set(bytes.subarray(0, place), held);
            if (held + place < 64) return;
            this.#blocks(this.#block, 0, 64);
        }
        const end = place + (bytes.length - place & ~63);
        this.#blocks(bytes, place, end);
        this.#block.set(bytes.subarray(end));
    }

    /** The digest in hex digits. Nothing can be added after it. */
    finish() {
        const length = this.#length;
        const end = new Uint8Array((length % 64 < 56 ? 64 : 128) - length % 64);
        end[0] = 0x80;
        const view = new DataView(end.buffer, end.length - 8);
        view.setUint32(0, Math.floor(length / 2 ** 29));
        view.setUint32(4, length * 8 % 2 ** 32);
        this.add(end);
        return [...this.#state].map(word => (word >>> 0).toString(16).padStart(8, "0")).join("");
    }

    /** `| 0` after each sum keeps it a 32-bit integer, which doubles the speed. */
    #blocks(bytes, start, end) {
        const state = this.#state, words = this.#words;
        let [h0, h1, h2, h3, h4, h5, h6, h7] = state;
        for (let place = start; place < end;) {
            for (let index = 0; index < 16; index++, place += 4) {
                words[index] = bytes[place] << 24 | bytes[place + 1] << 16 | bytes[place + 2] << 8 | bytes[place + 3];
            }
            for (let index = 16; index < 64; index++) {
                const x = words[index - 15], y = words[index - 2];
                const one = (x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3;
                const two = (y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10;
                words[index] = (words[index - 16] + words[index - 7] | 0) + (one + two | 0) | 0;
            }
            let a = h0, b = h1, c = h2, d = h3, e = h4, f = h5, g = h6, h = h7;
            for (let index = 0; index < 64; index++) {
                const one = (h + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7)) | 0)
                    + ((g ^ e & (f ^ g)) + (CONSTANTS[index] + words[index] | 0) | 0) | 0;
                const two = ((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)) + (a & b ^ c & (a ^ b)) | 0;
                h = g; g = f; f = e; e = d + one | 0; d = c; c = b; b = a; a = one + two | 0;
            }
            h0 = h0 + a | 0; h1 = h1 + b | 0; h2 = h2 + c | 0; h3 = h3 + d | 0;
            h4 = h4 + e | 0; h5 = h5 + f | 0; h6 = h6 + g | 0; h7 = h7 + h | 0;
        }
        state.set([h0, h1, h2, h3, h4, h5, h6, h7]);
    }
}

/** How many bytes of progress the hash of so many bytes makes. */
export const extraWork = size => size > LARGEST_AT_ONCE ? size : 0;

/** The SHA-256 of bytes, in hex digits. */
export async function digestOf(bytes, pace) {
    if (bytes.length <= LARGEST_AT_ONCE) return hex(await sha256(bytes));
    const hash = new SHA256();
    await pace.each(bytes, part => {
        hash.add(part);
        pace.done += part.length;
    });
    return hash.finish();
}

/** The SHA-256 of a file, which need not fit into memory. `read(offset, count)` gives its bytes. */
export async function digestOfFile(size, read, pace) {
    const hash = new SHA256();
    for (let offset = 0; offset < size; offset += FILE_PIECE) {
        await pace.each(await read(offset, Math.min(FILE_PIECE, size - offset)), part => hash.add(part));
    }
    return hash.finish();
}
