import { textOf } from "./bytes.js";

// The directories of EXIF: section 11.1, "TIFF" and the forms of values.

const HEADER_LENGTH = 8;
// Bytes of a value of each type that a form of this page uses.
const INTEGERS = { 1: 1, 3: 2, 4: 4, 13: 4 };
const RATIONALS = { 5: "getUint32", 10: "getInt32" };
const TEXT_TYPE = 2, LONGEST_FIELD = 256;

export class TIFF {
    #view;
    #isLittle;
    /** The main directory; null if there is none. */
    main = null;
    /** Whether the bytes begin with a TIFF header. */
    isSound = false;

    constructor(bytes) {
        this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
        const order = bytes.length >= HEADER_LENGTH ? this.#view.getUint16(0) : 0;
        this.#isLittle = order === 0x4949;
        if (!this.#isLittle && order !== 0x4d4d || this.#number(2, 2) !== 42) return;
        this.isSound = true;
        this.mainOffset = this.#number(4, 4);
        this.main = this.directory(this.mainOffset);
    }

    /** The first entry of each tag: {type, count, offset of the values}. Null if the directory is not all there. */
    directory(offset) {
        if (offset === null || offset < HEADER_LENGTH || offset + 2 > this.#view.byteLength) return null;
        const count = this.#number(offset, 2);
        if (offset + 2 + 12 * count > this.#view.byteLength) return null;
        const entries = new Map();
        for (let place = offset + 2; place < offset + 2 + 12 * count; place += 12) {
            const tag = this.#number(place, 2);
            if (!entries.has(tag)) entries.set(tag, place);
        }
        return entries;
    }

    text(directory, tag) {
        const values = this.#values(directory, tag, type => type === TEXT_TYPE ? 1 : null);
        if (!values) return null;
        const bytes = new Uint8Array(this.#view.buffer, this.#view.byteOffset + values.offset, values.count);
        const end = bytes.indexOf(0);
        const text = end < 0 ? bytes : bytes.subarray(0, end);
        const whole = text.length <= LONGEST_FIELD ? textOf(text) : null;
        if (whole === null || /[\0-\x1f\x7f]/.test(whole)) return null;
        return whole.replace(/^ +| +$/g, "") || null;
    }

    integer(directory, tag) {
        const values = this.#values(directory, tag, type => INTEGERS[type] ?? null);
        return values && values.count > 0 ? this.#number(values.offset, INTEGERS[values.type]) : null;
    }

    /** The first three rationals; null for each that does not have the form. */
    rationals(directory, tag) {
        const values = this.#values(directory, tag, type => type in RATIONALS ? 8 : null);
        return [0, 1, 2].map(index => {
            if (!values || index >= values.count) return null;
            const [above, below] = [0, 4].map(
                part => this.#view[RATIONALS[values.type]](values.offset + 8 * index + part, this.#isLittle));
            return below === 0 ? null : above / below;
        });
    }

    /** Where the values of a tag are; null if they are not within the EXIF, or of a type without a size. */
    #values(directory, tag, sizeOf) {
        const place = directory?.get(tag);
        if (place === undefined) return null;
        const [type, count] = [this.#number(place + 2, 2), this.#number(place + 4, 4)];
        const size = sizeOf(type);
        if (size === null) return null;
        const offset = size * count <= 4 ? place + 8 : this.#number(place + 8, 4);
        return offset + size * count <= this.#view.byteLength ? { type, count, offset } : null;
    }

    #number(offset, size) {
        if (size === 1) return this.#view.getUint8(offset);
        return size === 2 ? this.#view.getUint16(offset, this.#isLittle) : this.#view.getUint32(offset, this.#isLittle);
    }
}
