import { hex } from "./bytes.js";

// The curve P-256 (secp256r1 of SEC 2).

const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
export const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

export const numberOf = bytes => BigInt(`0x0${hex(bytes)}`);

/** Whether the bytes are an uncompressed point on the curve. */
export function isPoint(bytes) {
    if (bytes.length !== 65 || bytes[0] !== 4) return false;
    const [x, y] = [numberOf(bytes.subarray(1, 33)), numberOf(bytes.subarray(33))];
    return x < P && y < P && (y * y - (x * x * x - 3n * x + B)) % P === 0n;
}

/** Whether an ECDSA signature with SHA-256 verifies. `signature` is r ‖ s, with 32 bytes each. */
export async function isSignedBy(point, signature, message) {
    const curve = { name: "ECDSA", namedCurve: "P-256" };
    const key = await crypto.subtle.importKey("raw", point, curve, false, ["verify"]);
    return crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, signature, message);
}
