import { textOf, utf8 } from "./bytes.js";
import { Fault } from "./fault.js";
import { kindWords, NotCanonical, parseCanonical } from "./json.js";
import { METADATA } from "./path.js";
import { parseTime, utcText } from "./time.js";

// The metadata: section 6.

const DEEPEST = 32;
const PLACE_NAME = new RegExp(
    "latitude|longitude|^gps"
    + "|^(lat|lon|lng|latlng|latlon|geo|geolocation|location|coordinates?|coords|position|place)$");
const MOST_WARNINGS = 16;
const LONGEST_NAME = 100;

/** `{metadata, faults, warnings}` of the bytes of metadata.json; `metadata` is null after E1 and E2. */
export function readMetadata(bytes, manifest) {
    const faults = [];
    const add = (code, message) => faults.push(new Fault(code, message, METADATA));
    let root;
    try {
        root = parseCanonical(textOf(bytes), DEEPEST);
    } catch (error) {
        if (!(error instanceof NotCanonical)) throw error;
        add("metadata.canonical", error.message);
        return { metadata: null, faults, warnings: [] };
    }
    const complaint = complaintAbout(root);
    if (complaint) add("metadata.value", complaint);
    const members = root.members ?? new Map();
    if (members.has("location")) {
        add("metadata.location", "has a top-level member location; a position belongs in location.json");
    }
    const warnings = placeNames(root).map(
        name => new Fault("metadata.position", `the member ${name} looks like a position`, METADATA));
    if (complaint) return { metadata: null, faults, warnings };
    const stated = sidesOf(members.get("depth_map_dimensions"));
    const metadata = {
        capturedAt: members.get("captured_at").text, deviceModel: members.get("device_model").text, sides: stated, root,
    };
    const time = utcText(parseTime(metadata.capturedAt));
    if (time !== manifest.capturedAt) {
        add("metadata.captured_at", `captured_at is ${time} in UTC, the manifest says ${manifest.capturedAt}`);
    }
    const [said, signed] = [stated, manifest.depth].map(sides => sides && `${sides.width}x${sides.height}`);
    if (said !== signed) {
        add(
            "metadata.dimensions",
            `depth_map_dimensions ${said ? `is ${said}` : "is missing"}, the manifest has ${signed ?? "no depth"}`);
    }
    return { metadata, faults, warnings };
}

/** What breaks E2; null for nothing. */
function complaintAbout(root) {
    if (root.kind !== "object") return `is ${kindWords(root)}, expected an object`;
    const time = root.members.get("captured_at");
    const timeWords = "expected a time with its zone like 2026-03-14T15:09:26.535+01:00";
    if (time?.kind !== "string") return `captured_at is ${time ? kindWords(time) : "missing"}, ${timeWords}`;
    if (!parseTime(time.text)) return `captured_at is "${time.text}", ${timeWords}`;
    const model = root.members.get("device_model");
    const modelWords = "expected a string of 1 to 256 bytes that is not blank";
    if (model?.kind !== "string") return `device_model is ${model ? kindWords(model) : "missing"}, ${modelWords}`;
    const [length, isBlank] = [utf8(model.text).length, /^[\t-\r ]*$/.test(model.text)];
    if (length > 256 || isBlank) {
        return `device_model has ${length} bytes${isBlank ? " and is blank" : ""}, ${modelWords}`;
    }
    const sides = root.members.get("depth_map_dimensions");
    if (sides && !sidesOf(sides)) return "depth_map_dimensions is not an object with the integers width and height";
    return null;
}

/** The digits of width and height; null for another value. */
function sidesOf(value) {
    const [width, height] = ["width", "height"].map(name => value?.members?.get(name));
    const isSound = [width, height].every(side => side?.kind === "number" && /^[0-9]+$/.test(side.text));
    return isSound ? { width: width.text, height: height.text } : null;
}

/** Names of members that look like a position, at any depth. */
function placeNames(root) {
    const found = [];
    const visit = (value, place) => {
        for (const element of value.elements ?? []) visit(element, place);
        for (const [name, member] of value.members ?? []) {
            const plain = name.replace(/[A-Z]/g, letter => letter.toLowerCase()).replace(/[_ -]/g, "");
            const path = [...place, name];
            const isTopLocation = path.length === 1 && name === "location";
            if (PLACE_NAME.test(plain) && !isTopLocation && found.length < MOST_WARNINGS) found.push(cut(path.join(".")));
            visit(member, path);
        }
    };
    visit(root, []);
    return found;
}

function cut(name) {
    let [shown, bytes] = ["", 0];
    for (const character of name) {
        bytes += utf8(character).length;
        if (bytes > LONGEST_NAME) break;
        shown += character;
    }
    return shown;
}
