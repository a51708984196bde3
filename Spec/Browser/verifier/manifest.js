import { base64Bytes, hex, sha256, textOf, utf8 } from "./bytes.js";
import { Fault } from "./fault.js";
import { kindWords, NotCanonical, parseCanonical } from "./json.js";
import { Members } from "./members.js";
import { isPoint } from "./p256.js";
import { DEPTH, isPayloadPath, LOCATION, mediaTypeOf, METADATA, PHOTO, roleOf } from "./path.js";
import { parseManifestTime } from "./time.js";

// The manifest: section 4.

const MANIFEST_DEPTH = 8;
const MOST_ENTRIES = 4096;
const LARGEST_ENTRY = 8589934591;
const TOKEN = "[0-9a-z][0-9a-z.+-]";
const MEDIA_TYPE = new RegExp(`^${TOKEN}{0,62}/${TOKEN}{0,62}$`);

/** The manifest of its bytes. Throws the fault that it finds first (M1 to M9). */
export async function parseManifest(bytes) {
    const root = parsed(bytes);
    const version = root.members.get("version");
    if (version && !(version.kind === "number" && version.text === "1")) {
        throw new Fault("manifest.version", "version is not 1, the only version that this page reads");
    }
    const fields = new Members(root, "the manifest");
    fields.allow(["captured_at", "device", "entries", "id", "version"], ["chain", "depth"]);
    const depth = fields.has("depth") ? depthOf(fields.object("depth")) : null;
    const capturedAt = fields.text("captured_at");
    const time = parseManifestTime(capturedAt);
    if (!time) fields.refuse("captured_at", "not a UTC time with milliseconds, like 2026-03-14T14:09:26.535Z");
    const point = pointOf(fields);
    const chain = fields.has("chain") ? chainOf(fields.object("chain")) : null;
    const entries = entriesOf(fields, depth);
    const keyId = hex(await sha256(point));
    const id = fields.text("id");
    const expected = await idOf(keyId, capturedAt, entries, depth);
    if (id !== expected) throw new Fault("manifest.id", `id is ${id}, but the content gives ${expected}`);
    return { id, keyId, point, capturedAt, time, depth, chain, entries };
}

/** M1. */
function parsed(bytes) {
    let root;
    try {
        root = parseCanonical(textOf(bytes), MANIFEST_DEPTH);
    } catch (error) {
        if (!(error instanceof NotCanonical)) throw error;
        throw new Fault("manifest.canonical", error.message);
    }
    if (root.kind !== "object") throw new Fault("manifest.canonical", `is ${kindWords(root)}, expected an object`);
    const breach = breachIn(root);
    if (breach) throw new Fault("manifest.canonical", breach);
    return root;
}

/** What section 4 does not allow in a value; null for nothing. */
function breachIn(value) {
    switch (value.kind) {
    case "object":
        for (const [name, member] of value.members) {
            const breach = breachIn({ kind: "string", text: name }) ?? breachIn(member);
            if (breach) return breach;
        }
        return null;
    case "array":
        return value.elements.reduce((breach, element) => breach ?? breachIn(element), null);
    case "string":
        return /^[\x20-\x7e]*$/.test(value.text) ? null : "a string has characters other than printable ASCII";
    case "number":
        return /^(?:0|[1-9][0-9]{0,15})$/.test(value.text) && Number.isSafeInteger(Number(value.text))
            ? null : `the number ${value.text} is not an integer from 0 to 2^53 - 1`;
    case "true":
        return null;
    default:
        return `the value ${value.kind} is not allowed`;
    }
}

function pointOf(fields) {
    const point = base64Bytes(fields.text("device"));
    if (!point) fields.refuse("device", "is not base64 with padding");
    if (!isPoint(point)) {
        throw new Fault(
            "manifest.device", `device is not an uncompressed point on P-256 (${point.length} bytes)`);
    }
    return point;
}

/** Section 4.4. */
function depthOf(fields) {
    fields.allow(["encoding", "height", "sha256", "source", "unit", "width"], []);
    fields.word("encoding", ["float32-le"]);
    fields.word("unit", ["m"]);
    const [width, height] = ["width", "height"].map(name => {
        const side = fields.integer(name);
        if (side < 1 || side > 16384) fields.refuse(name, `is ${side}, expected 1 to 16384`);
        return side;
    });
    const source = fields.object("source");
    source.allow(["encoding", "invalid", "row_order", "scale"], []);
    source.match("encoding", /^[0-9a-z][0-9a-z.+-]{0,31}$/, "is not the name of an encoding");
    source.word("invalid", ["nan", "zero", "nan-or-zero", "zero-or-max", "none"]);
    source.word("row_order", ["top-first", "bottom-first"]);
    source.match("scale", /^[0-9]{1,10}(?:\.[0-9]{1,20})?$/, "is not a decimal number");
    return { width, height, bytes: 4 * width * height, sha256: fields.digest("sha256") };
}

/** Section 4.5. */
function chainOf(fields) {
    fields.allow(["seq"], ["prev"]);
    const seq = fields.integer("seq");
    const prev = fields.has("prev") ? fields.digest("prev") : null;
    if (seq === 0 || (seq === 1) === (prev !== null)) {
        throw new Fault(
            "manifest.chain", `seq ${seq} is ${prev ? "with" : "without"} prev; only seq 1 has no prev`);
    }
    return { seq, prev };
}

/** Section 4.3. */
function entriesOf(fields, depth) {
    const elements = fields.array("entries");
    if (elements.length > MOST_ENTRIES) {
        throw new Fault("manifest.limit", `${elements.length} entries, at most ${MOST_ENTRIES} are allowed`);
    }
    const entries = elements.map((element, index) => entryOf(new Members(element, `entries[${index}]`), depth));
    for (let index = 1; index < entries.length; index++) {
        const [one, next] = [entries[index - 1].path, entries[index].path];
        if (!(one < next)) throw new Fault("manifest.entries", `${next} is listed after ${one}`);
    }
    const paths = new Set(entries.map(entry => entry.path));
    for (const path of [PHOTO, METADATA]) {
        if (!paths.has(path)) throw new Fault("manifest.entries", `${path} is not listed`);
    }
    if (paths.has(DEPTH) !== (depth !== null)) {
        throw new Fault(
            "manifest.entries", "depth and the entry depth.f32.gz must both be present, or both absent");
    }
    return entries;
}

function entryOf(fields, depth) {
    fields.allow(["media_type", "path", "role", "sha256", "size"], ["withholdable"]);
    const path = fields.text("path");
    const wrong = words => { throw new Fault("manifest.entries", words); };
    if (!isPayloadPath(path)) wrong(`${fields.place}: ${path} is not an allowed path`);
    const role = fields.text("role");
    if (role !== roleOf(path)) wrong(`${path}: role is ${role}, expected ${roleOf(path)}`);
    const mediaType = fields.text("media_type");
    const expected = mediaTypeOf(path);
    if (expected ? mediaType !== expected : !MEDIA_TYPE.test(mediaType)) {
        wrong(`${path}: media_type is ${mediaType}, expected ${expected ?? "type/subtype"}`);
    }
    const isWithholdable = fields.has("withholdable");
    if (isWithholdable && fields.value("withholdable").kind !== "true") {
        const found = kindWords(fields.value("withholdable"));
        fields.refuse("withholdable", `is ${found}, expected true, or the member left out`);
    }
    if (isWithholdable && path === METADATA) wrong("metadata.json cannot be withholdable");
    const sha256 = fields.digest("sha256");
    const size = fields.integer("size");
    checkSize(path, size, depth, fields);
    return { path, role, mediaType, sha256, size, isWithholdable };
}

/** M6. */
function checkSize(path, size, depth, fields) {
    let limit = { [LOCATION]: 512, [METADATA]: 2 ** 20 }[path] ?? LARGEST_ENTRY;
    if (path === DEPTH && depth) limit = depth.bytes + Math.floor(depth.bytes / 256) + 128;
    const allowed = path === LOCATION ? `expected ${limit}` : `at most ${limit} are allowed`;
    const samples = path === DEPTH && depth ? ` for ${depth.width}x${depth.height} samples` : "";
    if (size > limit) throw new Fault("manifest.limit", `${path} has ${size} bytes, ${allowed}${samples}`);
    if (path === LOCATION && size < limit) fields.refuse("size", `location.json has ${size} bytes, expected ${limit}`);
}

/** Section 4.6. */
async function idOf(keyId, capturedAt, entries, depth) {
    const lines = ["capture-bundle/1", keyId, capturedAt];
    for (const { path, sha256 } of entries) lines.push(`${path === DEPTH ? depth.sha256 : sha256}  ${path}`);
    const digest = await sha256(utf8(lines.map(line => line + "\n").join("")));
    digest[6] = digest[6] & 0x0f | 0x80;
    digest[8] = digest[8] & 0x3f | 0x80;
    return hex(digest.subarray(0, 16)).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
