import { fillTable, remainder } from "./huffman.js";

// Deflate: RFC 1951 with the choices of section 5.1.

const LITERAL_BITS = 10, DISTANCE_BITS = 9;
const AT_ONCE = 2 ** 20;
const SIZE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const LENGTHS = Int32Array.of(
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258);
const LENGTH_BITS = Int32Array.of(
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0);
const DISTANCES = Int32Array.of(
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
    8193, 12289, 16385, 24577);
const DISTANCE_EXTRA = Int32Array.of(
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13);

/** The stream is not allowed (D1). */
export class Broken extends Error {}
/** The stream makes more bytes than fit (D2). */
export class TooLong extends Error {}

/**
 * Inflates the stream that begins at `start` of `input` into `output`.
 *
 * Returns the numbers of bytes {read, written}; `read` counts from the beginning of `input`.
 */
export async function inflate(input, start, output, blockLimit, pace) {
    const inflater = new Inflater(input, start, output);
    const before = pace.done;
    for (let block = 0; ; block++) {
        if (block === blockLimit) throw new Broken(`the deflate stream has more than ${blockLimit} blocks`);
        const isLast = inflater.block();
        do {
            await pace.rest();
            pace.done = before + inflater.written;
        } while (inflater.codes());
        if (isLast) return inflater.finish();
    }
}

class Inflater {
    // Bits that were read and not used yet: `held` has `count` of them. Behind the end of the input, zeros are read.
    held = 0;
    count = 0;
    written = 0;
    // Whether symbols of a block are left.
    isInside = false;
    lengths = new Uint8Array(320);
    literals = new Int32Array(4096);
    distances = new Int32Array(4096);

    constructor(input, start, output) {
        this.input = input;
        this.place = start;
        this.output = output;
    }

    fail(written = this.written) {
        throw new Broken(`the deflate stream is broken after ${written} bytes`);
    }

    /** Reads the head of a block, or all of a stored one, and returns whether it is the last one. */
    block() {
        const isLast = this.bits(1) === 1;
        switch (this.bits(2)) {
        case 0: this.stored(); break;
        case 1: this.fixedCodes(); break;
        case 2: this.dynamicCodes(); break;
        default: this.fail();
        }
        return isLast;
    }

    /** Gives back the whole bytes that were read ahead. */
    finish() {
        this.place -= this.count >> 3;
        return { read: this.place, written: this.written };
    }

    bits(wanted) {
        while (this.count < wanted) {
            if (this.place >= this.input.length) this.fail();
            this.held |= this.input[this.place++] << this.count;
            this.count += 8;
        }
        const value = this.held & (1 << wanted) - 1;
        this.held >>>= wanted;
        this.count -= wanted;
        return value;
    }

    stored() {
        this.finish();
        this.held = this.count = 0;
        const { input } = this;
        if (this.place + 4 > input.length) this.fail();
        const length = input[this.place] | input[this.place + 1] << 8;
        const complement = input[this.place + 2] | input[this.place + 3] << 8;
        if (length !== (complement ^ 0xffff)) this.fail();
        this.place += 4;
        const present = Math.min(length, input.length - this.place);
        if (this.written + present > this.output.length) throw new TooLong();
        if (present < length) this.fail();
        this.output.set(input.subarray(this.place, this.place + length), this.written);
        this.place += length;
        this.written += length;
    }

    fixedCodes() {
        this.isInside = true;
        const { lengths } = this;
        lengths.fill(8, 0, 144);
        lengths.fill(9, 144, 256);
        lengths.fill(7, 256, 280);
        lengths.fill(8, 280, 288);
        lengths.fill(5, 288, 320);
        fillTable(this.literals, LITERAL_BITS, lengths, 0, 288);
        fillTable(this.distances, DISTANCE_BITS, lengths, 288, 32);
    }

    dynamicCodes() {
        this.isInside = true;
        const { lengths } = this;
        const literals = this.bits(5) + 257, distances = this.bits(5) + 1, sizes = this.bits(4) + 4;
        if (literals > 286 || distances > 30) this.fail();
        lengths.fill(0, 0, 19);
        for (let index = 0; index < sizes; index++) lengths[SIZE_ORDER[index]] = this.bits(3);
        if (remainder(lengths, 0, 19) !== 0) this.fail();
        fillTable(this.distances, 7, lengths, 0, 19);
        this.readLengths(literals + distances);
        // Complete; or one code of one bit; or, for distances, no code at all.
        const isAllowed = (first, count) => {
            const left = remainder(lengths, first, count);
            if (left === 0) return true;
            let used = 0, longest = 0;
            for (let index = first; index < first + count; index++) {
                if (lengths[index] > 0) used += 1;
                if (lengths[index] > longest) longest = lengths[index];
            }
            return left > 0 && (used === 1 && longest === 1 || used === 0 && first > 0);
        };
        if (lengths[256] === 0 || !isAllowed(0, literals) || !isAllowed(literals, distances)) this.fail();
        fillTable(this.literals, LITERAL_BITS, lengths, 0, literals);
        fillTable(this.distances, DISTANCE_BITS, lengths, literals, distances);
    }

    readLengths(total) {
        const { lengths } = this;
        for (let index = 0; index < total;) {
            const symbol = this.sizeSymbol();
            if (symbol < 16) {
                lengths[index++] = symbol;
                continue;
            }
            if (symbol === 16 && index === 0) this.fail();
            const value = symbol === 16 ? lengths[index - 1] : 0;
            const run = symbol === 16 ? 3 + this.bits(2) : symbol === 17 ? 3 + this.bits(3) : 11 + this.bits(7);
            if (index + run > total) this.fail();
            lengths.fill(value, index, index + run);
            index += run;
        }
    }

    /** A symbol of the code of code lengths, whose table stands in place of the distances. */
    sizeSymbol() {
        while (this.count < 7 && this.place < this.input.length) {
            this.held |= this.input[this.place++] << this.count;
            this.count += 8;
        }
        const entry = this.distances[this.held & 127];
        const length = entry & 15;
        if (length === 0 || length > this.count) this.fail();
        this.held >>>= length;
        this.count -= length;
        return entry >> 4;
    }

    /**
     * Reads about a MiB of the symbols of a block, and returns whether some are left. The fields are kept in variables,
     * because this loop decides the speed.
     */
    codes() {
        if (!this.isInside) return false;
        const { input, output, literals, distances } = this;
        const end = input.length, room = output.length;
        let { held, count, place, written } = this;
        const pause = written + AT_ONCE;
        while (written < pause) {
            if (count < 15) {
                held |= ((place < end ? input[place] : 0) | (place + 1 < end ? input[place + 1] : 0) << 8) << count;
                place += 2;
                count += 16;
            }
            let entry = literals[held & 1023];
            if ((entry & 15) === 0) {
                if (entry === 0) return this.fail(written);
                entry = literals[(entry >>> 12) + (held >>> LITERAL_BITS & (1 << (entry >> 4 & 255)) - 1)];
                if (entry === 0) return this.fail(written);
            }
            held >>>= entry & 15;
            count -= entry & 15;
            // More bits were used than the input has.
            if (place > end && (place - end) * 8 > count) return this.fail(written);
            let symbol = entry >> 4;
            if (symbol < 256) {
                if (written === room) throw new TooLong();
                output[written++] = symbol;
                continue;
            }
            if (symbol === 256) {
                this.isInside = false;
                break;
            }
            symbol -= 257;
            if (symbol > 28) return this.fail(written);
            let more = LENGTH_BITS[symbol];
            while (count < 20) {
                held |= (place < end ? input[place] : 0) << count;
                place += 1;
                count += 8;
            }
            const length = LENGTHS[symbol] + (held & (1 << more) - 1);
            held >>>= more;
            count -= more;
            entry = distances[held & 511];
            if ((entry & 15) === 0) {
                if (entry === 0) return this.fail(written);
                entry = distances[(entry >>> 12) + (held >>> DISTANCE_BITS & (1 << (entry >> 4 & 255)) - 1)];
                if (entry === 0) return this.fail(written);
            }
            held >>>= entry & 15;
            count -= entry & 15;
            symbol = entry >> 4;
            if (symbol > 29) return this.fail(written);
            more = DISTANCE_EXTRA[symbol];
            while (count < more) {
                held |= (place < end ? input[place] : 0) << count;
                place += 1;
                count += 8;
            }
            const distance = DISTANCES[symbol] + (held & (1 << more) - 1);
            held >>>= more;
            count -= more;
            if (place > end && (place - end) * 8 > count || distance > written) return this.fail(written);
            if (written + length > room) throw new TooLong();
            for (const last = written + length; written < last; written++) output[written] = output[written - distance];
        }
        // What was read ahead behind the end was not used.
        if (place > end) {
            count -= (place - end) * 8;
            place = end;
        }
        this.held = held & (count < 31 ? (1 << count) - 1 : -1);
        this.count = count;
        this.place = place;
        this.written = written;
        return this.isInside;
    }
}
