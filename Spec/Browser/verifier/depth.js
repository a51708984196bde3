import { hex, isSame } from "./bytes.js";
import { crc32 } from "./crc32.js";
import { Fault } from "./fault.js";
import { Broken, inflate, TooLong } from "./inflate.js";
import { DEPTH } from "./path.js";
import { digestOf } from "./sha256.js";

// The depth map: section 5.

const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0);
const GZIP_HEADER = 10, TRAILER_LENGTH = 8;

const wrong = (code, message) => new Fault(code, message, DEPTH);

/** The floats of depth.f32.gz, as bytes. Throws D1 to D3. */
export async function readFloats(gzip, { bytes: expected, sha256: digest }, pace) {
    if (!isSame(gzip.subarray(0, HEADER.length), HEADER)) {
        throw wrong("depth.gzip", `does not begin with the gzip header ${hex(HEADER)}`);
    }
    if (gzip.length < GZIP_HEADER) throw wrong("depth.gzip", "the gzip member is cut off");
    const { floats, read, written } = await inflated(gzip, expected, pace);
    if (gzip.length < read + TRAILER_LENGTH) throw wrong("depth.gzip", "the gzip member is cut off");
    const trailer = new DataView(gzip.buffer, gzip.byteOffset + read);
    let crc = 0;
    await pace.each(floats.subarray(0, written), part => {
        crc = crc32(part, crc);
        pace.done += part.length;
    });
    if (trailer.getUint32(0, true) !== crc) {
        throw wrong("depth.gzip", "the CRC-32 of the gzip member is wrong");
    }
    if (trailer.getUint32(4, true) !== written % 2 ** 32) {
        throw wrong("depth.gzip", "the length in the gzip trailer is wrong");
    }
    if (gzip.length > read + TRAILER_LENGTH) {
        throw wrong("depth.gzip", "there are bytes after the end of the gzip member");
    }
    if (written < expected) throw wrong("depth.length", `inflates to ${written} bytes, expected ${expected}`);
    const found = await digestOf(floats, pace);
    if (found !== digest) throw wrong("depth.sha256", `the floats' SHA-256 is ${found}, the manifest says ${digest}`);
    return floats;
}

/** `{floats, read, written}` of a gzip member with a sound header: the end of it is not checked. */
export async function inflated(gzip, expected, pace) {
    const floats = new Uint8Array(expected);
    try {
        return { floats, ...await inflate(gzip, GZIP_HEADER, floats, 64 + Math.floor(expected / 512), pace) };
    } catch (error) {
        if (error instanceof TooLong) {
            throw wrong("depth.length", `inflates to more than the expected ${expected} bytes`);
        }
        if (error instanceof Broken) throw wrong("depth.gzip", error.message);
        throw error;
    }
}

/** The samples of the floats. Browsers run on little-endian processors only. */
export const samplesOf = floats => new Float32Array(floats.buffer, floats.byteOffset, floats.length / 4);

export const isMeasured = sample => sample > 0 && sample < Infinity;

/** Whether a depth map is plausible: section 5.2. */
export async function isPlausible(samples, pace) {
    const nearest = Math.fround(0.05);
    let measured = 0, near = 0, far = 0;
    await pace.each(samples, part => {
        // A loop with an index is faster than one over the values.
        for (let index = 0; index < part.length; index++) {
            const sample = part[index];
            if (!isMeasured(sample)) continue;
            measured += 1;
            if (sample < nearest) near += 1;
            if (sample > 100) far += 1;
        }
    });
    return measured > 0 && 2 * near < measured && 2 * far < measured;
}
