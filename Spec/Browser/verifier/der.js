import { numberOf, ORDER } from "./p256.js";

// DER of an ECDSA-Sig-Value (rule A2), and of a certificate in a trust file (section 10).

const INTEGER = 0x02, SEQUENCE = 0x30;

/** r ‖ s with 32 bytes each, and s as a number; null if the bytes break A2. */
export function signatureOf(der) {
    if (der.length < 2 || der[0] !== SEQUENCE || der[1] > 0x7f || der.length !== 2 + der[1]) return null;
    const r = integerAt(der, 2);
    const s = r && integerAt(der, r.end);
    if (!s || s.end !== der.length) return null;
    const raw = new Uint8Array(64);
    raw.set(r.digits, 32 - r.digits.length);
    raw.set(s.digits, 64 - s.digits.length);
    return { raw, s: s.value };
}

/** Whether the bytes, which are less than 64 KiB, are one SEQUENCE with its length in the shortest form. */
export function isSequence(der) {
    if (der[0] !== SEQUENCE) return false;
    if (der[1] <= 0x7f) return der.length === 2 + der[1];
    const [size, least, start] = der[1] === 0x81 ? [der[2], 0x80, 3] : [der[2] * 256 + der[3], 0x100, 4];
    return (der[1] === 0x81 || der[1] === 0x82) && size >= least && der.length === start + size;
}

/** An INTEGER of 1 to n − 1 in the shortest form; null for anything else. */
function integerAt(der, start) {
    const [tag, length] = [der[start], der[start + 1]];
    const end = start + 2 + length;
    if (tag !== INTEGER || !(length >= 1 && length <= 33) || end > der.length) return null;
    let digits = der.subarray(start + 2, end);
    if (digits[0] > 0x7f) return null;
    if (digits[0] === 0) {
        if (length === 1 || digits[1] <= 0x7f) return null;
        digits = digits.subarray(1);
    }
    const value = numberOf(digits);
    return digits.length <= 32 && value >= 1n && value < ORDER ? { digits, value, end } : null;
}
