import { isSame, isZero, latin1, shownText, utf8 } from "./bytes.js";
import { Fault } from "./fault.js";
import { isPath } from "./path.js";

// The container: section 3.

const BLOCK = 512;
const paddingOf = size => (BLOCK - size % BLOCK) % BLOCK;
/** The bytes that an entry takes: its header, and its content with padding. */
export const lengthOf = size => BLOCK + size + paddingOf(size);
export const END_LENGTH = 2 * BLOCK;
const TYPE_START = "application/vnd.capture-bundle+tar;version=";
const MIMETYPE = utf8(TYPE_START + "1\n");
const LIMITS = { "manifest.json": 2 ** 20, "assertion.cbor": 4096 };

/** The header block of a path and a size: section 3.1. */
export function headerBlock(name, size) {
    const block = new Uint8Array(BLOCK);
    const put = (offset, text) => block.set(utf8(text), offset);
    block.set(name, 0);
    put(100, "000644 \0");
    put(108, "000000 \0");
    put(116, "000000 \0");
    put(124, size.toString(8).padStart(11, "0") + " ");
    put(136, "00000000000 ");
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    put(329, "000000 \0");
    put(337, "000000 \0");
    const sum = block.reduce((total, byte) => total + byte, 0);
    put(148, sum.toString(8).padStart(6, "0") + "\0 ");
    return block;
}

/** Path and size of a header block (C4). */
function parsedHeader(block) {
    const end = block.subarray(0, 100).indexOf(0);
    if (end < 1) throw new Fault("container.header", "a header has no name of 1 to 99 bytes in its name field");
    const path = shownText(block.subarray(0, end));
    const digits = latin1(block.subarray(124, 136));
    if (!/^[0-7]{11} $/.test(digits)) {
        throw new Fault("container.header", `the header of ${path} has a size that is not eleven octal digits`);
    }
    const size = parseInt(digits, 8);
    const expected = headerBlock(block.subarray(0, end), size);
    const place = expected.findIndex((byte, index) => byte !== block[index]);
    if (place >= 0) {
        throw new Fault("container.header", `the header of ${path} differs from its canonical form at byte ${place}`);
    }
    return { path, size };
}

const MAGIC = new Uint8Array(2 * BLOCK);
MAGIC.set(headerBlock(utf8("mimetype"), MIMETYPE.length));
MAGIC.set(MIMETYPE, BLOCK);

/** Reads the entries of a bundle in their order, and refuses what section 3 refuses. */
export class ContainerReader {
    #source;
    #seen = new Set(["mimetype"]);
    #last = "";
    #place = "mimetype";
    /** Returns the length of the whole bundle, {bytes, isCertain}; null while the manifest was not read. For messages. */
    expectation = null;

    constructor(source) {
        this.#source = source;
    }

    /** C1 to C3. */
    async readMagic() {
        const bytes = await this.#source.read(MAGIC.length);
        if (isSame(bytes, MAGIC)) return;
        if (bytes.length === 0) throw new Fault("container.truncated", "is empty");
        const version = otherVersion(bytes);
        if (version !== null) {
            throw new Fault("container.version", `${version} of the format; this page reads version 1`);
        }
        if (bytes.length < MAGIC.length && isSame(bytes, MAGIC.subarray(0, bytes.length))) {
            throw this.#cutShort("inside the first 1024 bytes");
        }
        throw new Fault("container.magic", "is not a capture bundle: its first bytes are wrong");
    }

    /** The content of `manifest.json` or `assertion.cbor`, with its padding. */
    async readNamed(name) {
        const block = await this.#block();
        if (isZero(block)) throw new Fault("container.header", `found zero bytes, expected the header of ${name}`);
        const header = this.#checkedHeader(block);
        if (header.path !== name) throw new Fault("container.order", `found where ${name} was expected`, header.path);
        if (header.size > LIMITS[name]) {
            throw new Fault(
                "container.limit", `has ${header.size} bytes, at most ${LIMITS[name]} are allowed`, name);
        }
        this.#seen.add(name);
        const bytes = await this.readData(header);
        await this.readPadding(header);
        return bytes;
    }

    /** The header of the next payload entry; null at the end mark. C4, C8, C9, C10; the caller checks C12 to C14. */
    async readHeader() {
        const block = await this.#block();
        if (isZero(block)) return null;
        const header = this.#checkedHeader(block);
        if (header.path < this.#last) {
            throw new Fault(
                "container.order", `comes after ${this.#last}, expected the order of the manifest`, header.path);
        }
        this.#seen.add(header.path);
        this.#last = header.path;
        return header;
    }

    async readData({ path, size }) {
        if (size > this.#source.remaining) {
            this.#source.position = this.#source.size;
            throw this.#cutShort(`inside ${path}`);
        }
        return this.#source.read(size);
    }

    /** C1 and C5. */
    async readPadding({ path, size }) {
        const length = paddingOf(size);
        const padding = await this.#source.read(length);
        if (padding.length < length) throw this.#cutShort(`inside the padding of ${path}`);
        if (!isZero(padding)) throw new Fault("container.padding", "a padding byte is not zero", path);
    }

    /** What follows the first zero block: C6, C1, C7. */
    async readEnd() {
        const block = await this.#source.read(BLOCK);
        if (!isZero(block)) throw new Fault("container.end", "the end mark has one zero block, expected two");
        if (block.length < BLOCK) throw this.#cutShort("inside the end mark");
        if (this.#source.remaining > 0) {
            throw new Fault(
                "container.trailing",
                `has more bytes after the end of the archive, at offset ${this.#source.position}`);
        }
    }

    /** C4, C8, C9. */
    #checkedHeader(block) {
        const header = parsedHeader(block);
        if (!isPath(header.path)) {
            throw new Fault("container.path", "this path is not allowed in a bundle", header.path);
        }
        if (this.#seen.has(header.path)) {
            throw new Fault("container.duplicate", "appears twice in the bundle", header.path);
        }
        this.#place = header.path;
        return header;
    }

    async #block() {
        const block = await this.#source.read(BLOCK);
        if (block.length < BLOCK) throw this.#cutShort(`after ${this.#place}`);
        return block;
    }

    #cutShort(place) {
        const { size } = this.#source;
        const expected = this.expectation?.();
        const words = !expected ? `ends after ${size} bytes, ${place}`
            : `has ${size} bytes, expected ${expected.bytes}`
                + `${expected.isCertain ? "" : " (or fewer, if entries were withheld)"}; it ends ${place}`;
        return new Fault("container.truncated", `cut short: ${words}`);
    }
}

/** Words for the version of a bundle that this page does not read (C3); null if the bytes state no other version. */
function otherVersion(bytes) {
    const name = MAGIC.subarray(0, 100);
    const type = utf8(TYPE_START);
    const after = BLOCK + type.length;
    if (!isSame(bytes.subarray(0, 100), name) || !isSame(bytes.subarray(BLOCK, after), type)) return null;
    const rest = latin1(bytes.subarray(after, after + 2));
    if (rest === "1\n" || (bytes.length < after + 2 && "1\n".startsWith(rest))) return null;
    const digits = /^[0-9]+/.exec(latin1(bytes.subarray(after, after + 20)))?.[0];
    return digits === undefined ? "has no version" : `has version ${digits}`;
}
