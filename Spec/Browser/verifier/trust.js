import { base64, base64Bytes, hex, sha256, textOf, utf8 } from "./bytes.js";
import { isSequence } from "./der.js";
import { Fault } from "./fault.js";
import { isPoint } from "./p256.js";
import { isBefore, parseTimeOrDate } from "./time.js";

// The trust file: section 10. No time stamps are checked (section 6 of time-stamps.md).

const LARGEST = 64 * 2 ** 20, LARGEST_CERTIFICATE = 16384;
const LEVELS = ["software", "token", "tpm", "apple-appattest"];
const NAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/;
// One option of a line. Only the value of `rpid` may contain a comma.
const OPTION =
    /^(?:(revoked)|(level|valid-after|valid-before|revoked)=([^,]*)|(rpid)="([\x21\x23-\x7e]{1,255})")(?:,(?=.)|$)/;

/** The devices of a trust file. Throws T0. */
export async function parseTrust(bytes) {
    if (bytes.length > LARGEST) {
        throw new Fault("trust.file", `has ${bytes.length} bytes, at most ${LARGEST} are allowed`);
    }
    const text = textOf(bytes);
    if (text === null) throw new Fault("trust.file", "is not UTF-8 text");
    const devices = [];
    for (const [index, line] of text.split("\n").entries()) {
        if (line.startsWith("#") || /^[ \t]*$/.test(line)) continue;
        try {
            const device = await deviceOf(line);
            if (device) devices.push(device);
        } catch (error) {
            if (!(error instanceof Fault)) throw error;
            throw new Fault("trust.file", `line ${index + 1}: ${error.message}`);
        }
    }
    return devices;
}

/** The device of a line; null if it names a time stamping authority. */
async function deviceOf(line) {
    const refuse = message => { throw new Fault("trust.file", message); };
    if (line.endsWith("\r")) refuse("ends with CR LF, expected LF only");
    const fields = line.split(/[ \t]+/);
    const word = fields.length - 2;
    if (![1, 2].includes(word) || !["p256", "tsa"].includes(fields[word])) {
        refuse("expected NAME [OPTIONS] p256 BASE64, or NAME [OPTIONS] tsa BASE64");
    }
    const bytes = base64Bytes(fields[word + 1]);
    if (!NAME.test(fields[0])) refuse(`${fields[0]} is not a name`);
    const options = optionsOf(word === 2 ? fields[1] : null);
    if (fields[word] === "tsa") {
        if (!bytes || bytes.length > LARGEST_CERTIFICATE || !isSequence(bytes)) {
            refuse(`the certificate is not base64 of a DER SEQUENCE of at most ${LARGEST_CERTIFICATE} bytes`);
        }
        if (options.level || options.rpid || options.revokedFrom) {
            refuse("expected only valid-after, valid-before and revoked without a time");
        }
        return null;
    }
    if (!bytes || !isPoint(bytes)) refuse("the key is not base64 of an uncompressed point on P-256");
    const device = { name: fields[0], keyId: hex(await sha256(bytes)), ...options, level: options.level ?? LEVELS[0] };
    if ((device.level === "apple-appattest") !== (device.rpid !== undefined)) {
        refuse("expected both level=apple-appattest and rpid, or neither");
    }
    return device;
}

function optionsOf(text) {
    const options = { isRevoked: false };
    const given = new Set();
    for (let rest = text; rest !== null && (rest !== "" || given.size === 0);) {
        const match = OPTION.exec(rest);
        if (!match) throw new Fault("trust.file", `unknown option ${rest}`);
        const name = match[1] ?? match[2] ?? match[4];
        if (given.has(name)) throw new Fault("trust.file", `the option ${name} is given twice`);
        given.add(name);
        rest = rest.slice(match[0].length);
        if (name === "revoked") {
            options.isRevoked = true;
            options.revokedFrom = match[1] ? null : timeOf(match[3]);
        }
        if (name === "rpid") options.rpid = match[5];
        if (name === "level") options.level = levelOf(match[3]);
        if (name === "valid-after") options.validAfter = timeOf(match[3]);
        if (name === "valid-before") options.validBefore = timeOf(match[3]);
    }
    return options;
}

function levelOf(word) {
    if (LEVELS.includes(word)) return word;
    throw new Fault("trust.file", `unknown level ${word}`);
}

function timeOf(text) {
    const time = parseTimeOrDate(text);
    if (!time) throw new Fault("trust.file", `"${text}" is neither a date like 2026-03-14 nor a time with a zone`);
    return { ...time, text };
}

// A SubjectPublicKeyInfo of P-256 up to the point.
const SPKI = "3059301306072a8648ce3d020106082a8648ce3d030107034200";

/** The line of a trust file for a public key in PEM; null for another text. */
export function lineOfPEM(text, name) {
    const body = /^\s*-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]*)-----END PUBLIC KEY-----\s*$/.exec(text)?.[1];
    const bytes = body === undefined ? null : base64Bytes(body.replace(/\s/g, ""));
    if (!bytes || hex(bytes.subarray(0, 26)) !== SPKI || !isPoint(bytes.subarray(26))) return null;
    const stem = name.replace(/\.(?:pem|pub|key)\b/g, "");
    // The list calls a second device.key.pub "device.key.pub (2)", and its device gets the name device-2.
    const plain = stem.replace(/[^A-Za-z0-9._@+-]+/g, "-").replace(/^[^A-Za-z0-9]+|-$/g, "");
    return `${plain.slice(0, 64) || "device"} p256 ${base64(bytes.subarray(26))}`;
}

/** `{device, faults}`: the device that the trust file names, and T1 to T6. */
export async function judgeTrust(devices, manifest, authenticator) {
    const lines = devices.filter(device => device.keyId === manifest.keyId);
    if (lines.length === 0) {
        const message = `the device key ${manifest.keyId} is not in the trust file`;
        return { device: null, faults: [new Fault("trust.unknown", message)] };
    }
    const revoked = lines.filter(line => line.isRevoked);
    if (revoked.length > 0) {
        // A good time stamp helps only if each of these lines has a time.
        const unasked = revoked.every(line => line.revokedFrom) ? ", and no time stamp was checked" : "";
        const message = `the key of ${revoked[0].name} is revoked${unasked}`;
        return { device: revoked[0], faults: [new Fault("trust.revoked", message)] };
    }
    const judged = [];
    for (const line of lines) judged.push({ device: line, faults: await lineFaults(line, manifest, authenticator) });
    return judged.find(({ faults }) => faults.length === 0) ?? judged[0];
}

/** T1 to T4 for one line. */
async function lineFaults(line, manifest, { kind, rpIdHash }) {
    const faults = [];
    const add = (code, message) => faults.push(new Fault(code, message));
    if ((line.level !== "apple-appattest") !== (kind === "disk")) {
        const found = kind === "apple" ? "an Apple key" : "a disk key";
        add("trust.level", `${line.name} is trusted as ${line.level}, but ${found} signed`);
    }
    if (line.level === "apple-appattest" && rpIdHash !== hex(await sha256(utf8(line.rpid)))) {
        add("trust.rpid", `signed by an app other than ${line.rpid}`);
    }
    const claim = `claims ${manifest.capturedAt}, but ${line.name} is trusted only`;
    if (line.validAfter && isBefore(manifest.time, line.validAfter)) {
        add("trust.not_yet_valid", `${claim} from ${line.validAfter.text}`);
    }
    if (line.validBefore && !isBefore(manifest.time, line.validBefore)) {
        add("trust.expired", `${claim} until ${line.validBefore.text}`);
    }
    return faults;
}
