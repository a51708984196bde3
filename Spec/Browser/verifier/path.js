// Paths of entries: section 3.4.

const FIXED = ["photo.jpg", "depth.f32.gz", "metadata.json", "location.json", "confidence.png"];
const SOURCE = /^source\/([0-9a-z][0-9a-z._-]*)$/;
const RESERVED = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/;
const LONGEST_PATH = 99;

export const PHOTO = "photo.jpg";
export const DEPTH = "depth.f32.gz";
export const METADATA = "metadata.json";
export const LOCATION = "location.json";

export const isPayloadPath = path => FIXED.includes(path) || isSourcePath(path);

export const isPath = path =>
    ["mimetype", "manifest.json", "assertion.cbor"].includes(path) || isPayloadPath(path);

function isSourcePath(path) {
    const segment = SOURCE.exec(path)?.[1];
    return segment !== undefined && path.length <= LONGEST_PATH && !segment.endsWith(".")
        && !RESERVED.test(segment.split(".")[0]);
}

const ROLES = {
    "confidence.png": "confidence", [DEPTH]: "depth", [LOCATION]: "location", [METADATA]: "metadata", [PHOTO]: "photo",
};
const MEDIA_TYPES = {
    "confidence.png": "image/png", [DEPTH]: "application/gzip", [LOCATION]: "application/json",
    [METADATA]: "application/json", [PHOTO]: "image/jpeg",
};

export const roleOf = path => ROLES[path] ?? "source";

/** The media type of a path; undefined for entries below `source/`, which have one of their own. */
export const mediaTypeOf = path => MEDIA_TYPES[path];
