import { hex, joined, latin1, sha256, textOf, utf8 } from "./bytes.js";
import { CBORReader } from "./cbor.js";
import { signatureOf } from "./der.js";
import { Fault } from "./fault.js";
import { isSignedBy, ORDER } from "./p256.js";

// The assertion: section 9.

const TYPE = "application/vnd.capture-bundle.manifest+json;version=1";
const LENGTH = 37;

/**
 * The parts of an assertion, and its faults (A1 to A6).
 *
 * `authenticator` is null after A1, A2, or fewer than 37 bytes (A3).
 */
export async function readAssertion(bytes) {
    const parts = partsOf(bytes);
    if (!parts) {
        return failure("assertion.encoding", "is not the CBOR map with signature and authenticatorData");
    }
    const signature = signatureOf(parts.signature);
    if (!signature) {
        return failure("assertion.der", "the signature is not DER with two integers in the allowed range");
    }
    const data = parts.authenticatorData;
    if (data.length < LENGTH) {
        return failure("assertion.authdata", `authenticatorData has ${data.length} bytes, expected ${LENGTH}`);
    }
    const rpIdHash = hex(data.subarray(0, 32));
    const isDisk = rpIdHash === hex(await sha256(utf8("capture-bundle.device-key")));
    const authenticator = {
        data, rpIdHash, kind: isDisk ? "disk" : "apple", flags: data[32],
        counter: new DataView(data.buffer, data.byteOffset).getUint32(33),
    };
    return { authenticator, signature, faults: faultsOf(authenticator, signature) };
}

function failure(code, message) {
    return { authenticator: null, signature: null, faults: [new Fault(code, message, "assertion.cbor")] };
}

/** A1: the map of `signature` and `authenticatorData`. */
function partsOf(bytes) {
    const reader = new CBORReader(bytes);
    if (reader.mapCount() !== 2) return null;
    if (latin1(reader.textString() ?? []) !== "signature") return null;
    const signature = reader.byteString();
    if (!signature || latin1(reader.textString() ?? []) !== "authenticatorData") return null;
    const authenticatorData = reader.byteString();
    return authenticatorData && reader.isAtEnd ? { signature, authenticatorData } : null;
}

/** A3 to A6. */
function faultsOf({ kind, data, flags, counter }, { s }) {
    const faults = [];
    const add = (code, message) => faults.push(new Fault(code, message, "assertion.cbor"));
    const rest = data.subarray(LENGTH);
    if (rest.length > 0 && !(kind === "apple" && isAppleMap(rest))) {
        add("assertion.authdata", `authenticatorData has ${rest.length} unexpected bytes after the first ${LENGTH}`);
    }
    const expected = kind === "apple" ? 0x40 : 0x00;
    if (flags !== expected) {
        add("assertion.flags", `flags are 0x${hex([flags])}, expected 0x${hex([expected])}`);
    }
    if (kind === "disk" && s > (ORDER - 1n) / 2n) {
        add("assertion.low_s", "the signature's s is above half the group order");
    }
    if (kind === "disk" && counter === 0) {
        add("assertion.counter", "the counter is 0, but a disk key counts from 1");
    }
    return faults;
}

/** Whether the bytes are the map that iOS 27 adds. */
function isAppleMap(bytes) {
    const reader = new CBORReader(bytes);
    const count = reader.mapCount();
    if (count !== 1 && count !== 2) return false;
    const names = new Set();
    for (let index = 0; index < count; index++) {
        const name = latin1(reader.textString() ?? []);
        const isSound = name === "apple_validation_category_01" ? reader.byteString() !== null
            : name === "apple_bundle_version_01" && textOf(reader.textString() ?? [0xff]) !== null;
        if (!isSound || names.has(name)) return false;
        names.add(name);
    }
    return reader.isAtEnd;
}

/** A7. */
export async function isManifestSigned(manifestBytes, point, { authenticator, signature }) {
    const head = utf8(`DSSEv1 ${TYPE.length} ${TYPE} ${manifestBytes.length} `);
    const clientData = joined(head, manifestBytes);
    const nonce = await sha256(joined(authenticator.data, await sha256(clientData)));
    return isSignedBy(point, signature.raw, nonce);
}
