import { base64, base64Bytes, utf8 } from "../verifier/bytes.js";
import { byId } from "./dom.js";

// The bundle inside the page, for those who have none at hand: whole, and with one byte of its photo changed.

const made = new WeakSet();

export const isSample = file => made.has(file);

/** The public key of the sample's device, and behind it the bundle, compressed. */
const embedded = () => base64Bytes(byId("sample").content.textContent);
const POINT = 65;

/** The device of the sample, as a line of a trust file. */
export const sampleTrust = () => utf8(`sample-device p256 ${base64(embedded().subarray(0, POINT))}\n`);

export async function sampleFiles() {
    const stream = new Blob([embedded().subarray(POINT)]).stream().pipeThrough(new DecompressionStream("gzip"));
    const whole = new Uint8Array(await new Response(stream).arrayBuffer());
    const changed = whole.slice();
    // The photo is the last entry: before the end of the archive, it ends with the marker FF D9 and padding.
    const end = changed.findLastIndex((byte, place) => byte === 0xff && changed[place + 1] === 0xd9);
    changed[end - 100] ^= 1;
    const files = [new File([whole], "sample.bundle"), new File([changed], "sample with one changed byte.bundle")];
    for (const file of files) made.add(file);
    return files;
}
