import { isManifestSigned, readAssertion } from "./assertion.js";
import { hex, sha256 } from "./bytes.js";
import { ContainerReader, END_LENGTH, lengthOf } from "./container.js";
import { isPlausible, readFloats, samplesOf } from "./depth.js";
import { readExif } from "./exif.js";
import { compareExif } from "./exifrules.js";
import { Fault } from "./fault.js";
import { readLocation } from "./location.js";
import { parseManifest } from "./manifest.js";
import { readMetadata } from "./metadata.js";
import { Pace } from "./pace.js";
import { DEPTH, LOCATION, METADATA, PHOTO } from "./path.js";
import { judgePolicy } from "./policy.js";
import { digestOf, extraWork } from "./sha256.js";
import { Source } from "./source.js";
import { judgeTrust } from "./trust.js";
import { verdictOf } from "./verdict.js";

// Verification, step by step: section 11.

const CHECKS = [
    "container", "manifest", "assertion", "signature", "entries", "depth", "metadata", "location", "trust", "policy",
];

/** What a bundle says, without trust and policy: steps 1 to 5. Faults are findings, and are not thrown. */
export async function readBundle(blob, pace = new Pace()) {
    const reading = {
        bytes: 0, manifest: null, manifestSHA256: null, authenticator: null, entries: [], metadata: null, position: null,
        isPlausible: null, photo: null, faults: [], warnings: [], outcomes: new Map(),
    };
    const source = new Source(blob);
    pace.total = blob.size;
    try {
        await readAll(reading, source, pace);
    } catch (error) {
        if (!(error instanceof Fault)) throw error;
        reading.faults.push(error);
        reading.outcomes.set(error.code.split(".")[0], "failed");
    }
    reading.bytes = source.position;
    return reading;
}

async function readAll(reading, source, pace) {
    const container = new ContainerReader(source);
    await container.readMagic();
    const manifestBytes = await container.readNamed("manifest.json");
    const assertionBytes = await container.readNamed("assertion.cbor");
    const manifest = await parseManifest(manifestBytes);
    reading.manifest = manifest;
    // The floats are inflated, and compared with their CRC-32 and, if they are many, in pieces with their hash.
    pace.total += manifest.entries.reduce((sum, { size }) => sum + extraWork(size), 0);
    if (manifest.depth) pace.total += 2 * manifest.depth.bytes + extraWork(manifest.depth.bytes);
    reading.manifestSHA256 = hex(await sha256(manifestBytes));
    reading.entries = manifest.entries.map(entry => ({ ...entry, status: "unread", offset: null }));
    reading.outcomes.set("manifest", "passed");
    for (const [check, path] of [["depth", DEPTH], ["location", LOCATION]]) {
        if (!manifest.entries.some(entry => entry.path === path)) reading.outcomes.set(check, "not-applicable");
    }
    await checkAssertion(reading, manifestBytes, assertionBytes);
    await readPayload(reading, container, source, pace);
    await container.readEnd();
    passOver(reading, reading.entries);
    reading.outcomes.set("container", "passed");
    if (!reading.outcomes.has("entries")) reading.outcomes.set("entries", "passed");
}

/** A1 to A7. The payload is read whatever they find, so that the report says which parts differ. */
async function checkAssertion(reading, manifestBytes, assertionBytes) {
    const assertion = await readAssertion(assertionBytes);
    reading.authenticator = assertion.authenticator;
    reading.faults.push(...assertion.faults);
    reading.outcomes.set("assertion", assertion.faults.length === 0 ? "passed" : "failed");
    if (!assertion.authenticator) return;
    const isSigned = await isManifestSigned(manifestBytes, reading.manifest.point, assertion);
    reading.outcomes.set("signature", isSigned ? "passed" : "failed");
    if (!isSigned) {
        reading.faults.push(new Fault(
            "assertion.signature", "the signature is not valid for the key that the manifest names", "assertion.cbor"));
    }
}

async function readPayload(reading, container, source, pace) {
    const head = source.position;
    let next = 0;
    container.expectation = () => expectation(head, reading.entries, next);
    for (;;) {
        const header = await container.readHeader();
        if (!header) return;
        const index = reading.entries.findIndex(({ path }) => path === header.path);
        const entry = reading.entries[index];
        if (!entry) throw new Fault("container.unlisted", "is not listed in the manifest", header.path);
        if (header.size !== entry.size) {
            throw new Fault(
                "container.size", `has ${header.size} bytes, the manifest says ${entry.size}`, header.path);
        }
        passOver(reading, reading.entries.slice(next, index));
        next = index + 1;
        entry.offset = source.position;
        const bytes = await container.readData(header);
        await container.readPadding(header);
        pace.done += header.size;
        await readEntry(reading, entry, bytes, pace);
        await pace.rest();
    }
}

/** How long the bundle has to be, if entries from `next` on are not withheld. */
function expectation(head, entries, next) {
    const present = entries.filter(({ status }) => status !== "withheld");
    return {
        bytes: head + present.reduce((sum, { size }) => sum + lengthOf(size), END_LENGTH),
        isCertain: entries.slice(next).every(({ isWithholdable }) => !isWithholdable),
    };
}

/** C14 for entries that did not occur where they belong. */
function passOver(reading, entries) {
    for (const entry of entries.filter(({ status }) => status === "unread")) {
        if (!entry.isWithholdable) {
            throw new Fault("container.missing", "is missing from the bundle", entry.path);
        }
        entry.status = "withheld";
        if (entry.path === DEPTH || entry.path === LOCATION) reading.outcomes.set(entry.role, "not-applicable");
    }
}

/** P1, and the rules for the content of an entry. */
async function readEntry(reading, entry, bytes, pace) {
    const digest = await digestOf(bytes, pace);
    entry.status = digest === entry.sha256 ? "matched" : "altered";
    if (entry.status === "altered") {
        reading.outcomes.set("entries", "failed");
        const message = `SHA-256 is ${digest}, the manifest says ${entry.sha256}`;
        reading.faults.push(new Fault("entry.sha256", message, entry.path));
        return;
    }
    if (entry.path === PHOTO) reading.photo = readExif(bytes);
    if (entry.path === DEPTH) await readDepth(reading, bytes, pace);
    if (entry.path === METADATA) {
        const { metadata, faults, warnings } = readMetadata(bytes, reading.manifest);
        reading.metadata = metadata;
        reading.warnings.push(...warnings);
        record(reading, "metadata", faults);
    }
    if (entry.path === LOCATION) {
        const { position, faults } = readLocation(bytes);
        reading.position = position;
        record(reading, "location", faults);
    }
}

async function readDepth(reading, bytes, pace) {
    try {
        reading.isPlausible = await isPlausible(samplesOf(await readFloats(bytes, reading.manifest.depth, pace)), pace);
        record(reading, "depth", []);
    } catch (error) {
        if (!(error instanceof Fault)) throw error;
        record(reading, "depth", [error]);
    }
}

function record(reading, check, faults) {
    reading.faults.push(...faults);
    reading.outcomes.set(check, faults.length === 0 ? "passed" : "failed");
}

/** The report of a bundle: step 6, and the verdict. It has the members of `capbundle verify --json`, and more. */
export async function judge(reading, devices, policy = { allowsWithheld: false, required: [] }) {
    const outcomes = new Map(reading.outcomes);
    const [faults, warnings] = [[...reading.faults], [...reading.warnings]];
    const isGenuine = ["assertion", "signature"].every(check => outcomes.get(check) === "passed");
    let device = null;
    if (isGenuine) {
        const trust = await judgeTrust(devices, reading.manifest, reading.authenticator);
        if (faults.length === 0) {
            const { disagreements, remarks } = compareExif({ ...reading, ...reading.photo });
            const requiresExif = policy.required.includes("exif");
            const policyFaults = [...judgePolicy(policy, reading), ...(requiresExif ? disagreements : [])];
            warnings.push(...(requiresExif ? [] : disagreements), ...remarks);
            outcomes.set("trust", trust.faults.length === 0 ? "passed" : "failed");
            outcomes.set("policy", policyFaults.length === 0 ? "passed" : "failed");
            device = trust.device;
            faults.push(...trust.faults, ...policyFaults);
        } else if (trust.faults.length === 0) {
            device = trust.device;
        }
    }
    return {
        ...reading, ...verdictOf(faults), faults, warnings, device, isGenuine,
        notChecked: notChecked(reading.manifest, isGenuine),
        checks: CHECKS.map(name => ({ name, outcome: outcomes.get(name) ?? "not-reached" })),
    };
}

function notChecked(manifest, isGenuine) {
    if (!manifest) return [];
    return isGenuine ? ["counter", "time", "scene", ...(manifest.chain ? ["chain"] : [])] : ["trust"];
}
