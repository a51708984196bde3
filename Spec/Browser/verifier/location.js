import { textOf } from "./bytes.js";
import { Fault } from "./fault.js";
import { kindWords, NotCanonical, parseCanonical } from "./json.js";
import { LOCATION } from "./path.js";

// The position: section 7.

const LOCATION_DEPTH = 32;

/** `{position, faults}` of the bytes of location.json; `position` has the characters of the numbers. */
export function readLocation(bytes) {
    let root;
    try {
        root = parseCanonical(textOf(bytes), LOCATION_DEPTH);
    } catch (error) {
        if (!(error instanceof NotCanonical)) throw error;
        return { position: null, faults: [new Fault("location.canonical", error.message, LOCATION)] };
    }
    const complaint = positionComplaint(root);
    if (complaint) return { position: null, faults: [new Fault("location.value", complaint, LOCATION)] };
    const [latitude, longitude] = ["latitude", "longitude"].map(name => root.members.get(name).text);
    return { position: { latitude, longitude }, faults: [] };
}

/** What breaks L2; null for nothing. */
function positionComplaint(root) {
    const { members } = root;
    if (root.kind !== "object") return `is ${kindWords(root)}, expected an object`;
    if ([...members.values()].some(member => member.kind === "object" || member.kind === "array")) {
        return "a member is nested";
    }
    // Number() gives the nearest binary64 value.
    const number = name => members.get(name)?.kind === "number" ? Number(members.get(name).text) : NaN;
    const isOptional = (name, isSound) => ["null", undefined].includes(members.get(name)?.kind) || isSound(number(name));
    if (!(Math.abs(number("latitude")) <= 90)) return "latitude is not a number from -90 to 90";
    if (!(Math.abs(number("longitude")) <= 180)) return "longitude is not a number from -180 to 180";
    if (!isOptional("altitude", Number.isFinite)) return "altitude is neither a number nor null";
    if (!isOptional("accuracy", value => Number.isFinite(value) && value >= 0)) {
        return "accuracy is neither a number from 0 nor null";
    }
    const text = name => members.get(name)?.kind === "string" ? members.get(name).text : "?";
    if (!/^[0-9a-f]{64}$/.test(text("salt"))) return "salt is not a string of 64 lower-case hex digits";
    if (!/^0*$/.test(text("pad"))) return "pad is not a string of zeros";
    return null;
}
