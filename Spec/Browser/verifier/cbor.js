// CBOR items with the shortest heads and definite lengths (RFC 8949), as far as section 9 uses them.

const BYTES = 2, TEXT = 3, MAP = 5;

export class CBORReader {
    #bytes;
    #place = 0;

    constructor(bytes) {
        this.#bytes = bytes;
    }

    get isAtEnd() { return this.#place === this.#bytes.length; }

    /** Each method returns null for another item, a longer head, or an item that is cut off. */
    mapCount() { return this.#head(MAP); }
    byteString() { return this.#string(BYTES); }
    textString() { return this.#string(TEXT); }

    #string(type) {
        const length = this.#head(type);
        if (length === null || this.#place + length > this.#bytes.length) return null;
        this.#place += length;
        return this.#bytes.subarray(this.#place - length, this.#place);
    }

    /** The count in a head. A bundle has no item that needs more than two bytes of it. */
    #head(type) {
        const first = this.#bytes[this.#place];
        if (first === undefined || first >> 5 !== type) return null;
        const size = { 24: 1, 25: 2 }[first & 31] ?? 0;
        if ((first & 31) > 25) return null;
        let count = size === 0 ? first & 31 : 0;
        for (let index = 1; index <= size; index++) count = count * 256 + this.#bytes[this.#place + index];
        if (!(count >= [0, 24, 256][size])) return null;
        this.#place += 1 + size;
        return count;
    }
}
