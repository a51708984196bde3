import { Fault } from "./fault.js";
import { DEPTH } from "./path.js";

// What the user requires: rules R1 and R2 of section 11.

const PRESENT_ROLES = ["photo", "depth", "metadata", "location", "confidence", "source"];

/** `policy` is {allowsWithheld, required}; `required` has roles, names of entries, `chain`, `exif` and `plausible`. */
export function judgePolicy({ allowsWithheld, required }, reading) {
    const faults = [];
    for (const { path, status } of reading.entries) {
        if (status === "withheld" && !allowsWithheld) {
            faults.push(new Fault("policy.withheld", "removed by somebody who passed the bundle on", path));
        }
    }
    const present = reading.entries.filter(({ status }) => status === "matched");
    const add = message => faults.push(new Fault("policy.required", message));
    for (const word of required) {
        if (word === "exif") {
            // If the bundle lacks the photo, nothing can be said about its EXIF.
            if (!reading.photo?.exif) add("EXIF is required, but the photo has none");
        } else if (word === "plausible") {
            if (reading.isPlausible === null) add("a plausible depth map is required, but the bundle has no depth map");
            if (reading.isPlausible === false) add("a plausible depth map is required, but this one is not plausible");
        } else if (!isPresent(word, present, reading.manifest)) {
            add(`${word} is required, but not in the bundle`);
        }
    }
    return faults;
}

function isPresent(word, present, manifest) {
    if (word === "chain") return manifest.chain !== null;
    if (PRESENT_ROLES.includes(word)) return present.some(({ role }) => role === word);
    const name = word === "depth.f32" ? DEPTH : word;
    return present.some(({ path }) => path === name);
}
