import { millisecondsOf } from "./exif.js";
import { Fault } from "./fault.js";
import { LOCATION, PHOTO } from "./path.js";
import { parseTime } from "./time.js";

// What the photo says about the metadata: rules X1 to X5 of section 11.1.

const SECONDS = 2000, GPS_TIME = 5 * 60 * 1000, QUARTER = 15 * 60 * 1000, MOST_QUARTERS = 56;
const DEGREES = 0.02;

/** `{disagreements, remarks}`: X1 to X5, and a position that the photo tells although location.json is withheld. */
export function compareExif({ exif, frame, metadata, position, entries }) {
    if (!exif) return { disagreements: [], remarks: [] };
    const disagreements = [
        timeFault(exif, metadata), modelFault(exif, metadata), orientationFault(exif, frame, metadata),
        sizeFault(exif, frame, metadata), positionFault(exif, position),
    ].filter(fault => fault !== null);
    const isWithheld = entries.some(({ path, status }) => path === LOCATION && status === "withheld");
    const remarks = exif.position && isWithheld
        ? [exifFinding("position", "its EXIF tells a position, although location.json is withheld")] : [];
    return { disagreements, remarks };
}

const exifFinding = (name, message) => new Fault(`exif.${name}`, message, PHOTO);

/** X1. */
function timeFault({ time, gpsTime }, { capturedAt }) {
    if (!time) return null;
    const captured = millisecondsOf(parseTime(capturedAt));
    const isNear = (one, limit) => Math.abs(one - captured) <= limit;
    let said = time.text;
    if (time.exact !== null) {
        if (isNear(time.exact, SECONDS)) return null;
    } else if (gpsTime !== null) {
        if (isNear(gpsTime, GPS_TIME)) return null;
        said = `${new Date(gpsTime).toISOString()} as GPS time`;
    } else {
        const quarters = Math.round((time.local - captured) / QUARTER);
        if (Math.abs(quarters) <= MOST_QUARTERS && isNear(time.local - quarters * QUARTER, SECONDS)) return null;
        // A difference just above 14 hours is near the last quarter.
        const last = Math.sign(quarters) * MOST_QUARTERS;
        if (isNear(time.local - last * QUARTER, SECONDS)) return null;
        said = `${time.text}, which no time zone explains`;
    }
    return exifFinding("time", `its EXIF says ${said}, but captured_at is ${capturedAt}`);
}

/** X2. */
function modelFault({ make, model }, { deviceModel }) {
    if (!model || /[,(]/.test(deviceModel)) return null;
    // Only A to Z have a small letter here.
    const plain = text => text.replaceAll(" ", "").replace(/[A-Z]/g, letter => letter.toLowerCase());
    const [maker, camera, stated] = [make ?? "", model, deviceModel].map(plain);
    if ((maker + camera).includes(stated) || stated.includes(camera)) return null;
    const said = make && !camera.startsWith(maker) ? `${make} ${model}` : model;
    return exifFinding("model", `its EXIF says ${said}, but device_model is ${deviceModel}`);
}

/** X3. */
function orientationFault({ orientation }, frame, { sides }) {
    if (!(orientation >= 1 && orientation <= 4) || !frame || !sides) return null;
    const depth = { width: Number(sides.width), height: Number(sides.height) };
    if (Math.sign(frame.width - frame.height) * Math.sign(depth.width - depth.height) !== -1) return null;
    return exifFinding(
        "orientation", `it is ${frame.width}x${frame.height} and the depth map ${sides.width}x${sides.height}, `
            + `but its EXIF has no rotation (orientation ${orientation})`);
}

/** X4. The sides are digits, because those of the metadata can have any length. */
function sizeFault({ size }, frame, { root }) {
    if (!size) return null;
    const differs = (width, height) => String(Math.max(size.width, size.height)) !== larger(width, height)
        || String(Math.min(size.width, size.height)) !== smaller(width, height);
    const said = `its EXIF says ${size.width}x${size.height}`;
    if (frame && differs(String(frame.width), String(frame.height))) {
        return exifFinding("size", `${said}, but the picture is ${frame.width}x${frame.height}`);
    }
    const camera = root.members.get("camera_intrinsics")?.members;
    const [width, height] = ["width", "height"].map(name => camera?.get(name)?.text);
    const isSound = ["width", "height"].every(
        name => camera?.get(name)?.kind === "number" && /^[0-9]+$/.test(camera.get(name).text));
    return isSound && differs(width, height)
        ? exifFinding("size", `${said}, but camera_intrinsics is for ${width}x${height}`) : null;
}

const isLess = (one, other) => one.length < other.length || (one.length === other.length && one < other);
const larger = (one, other) => isLess(one, other) ? other : one;
const smaller = (one, other) => isLess(one, other) ? one : other;

/** X5. */
function positionFault({ position: said }, position) {
    if (!said || !position) return null;
    const latitude = Math.abs(said.latitude - Number(position.latitude));
    let longitude = Math.abs(said.longitude - Number(position.longitude));
    if (longitude > 180) longitude = 360 - longitude;
    return latitude > DEGREES || longitude > DEGREES
        ? exifFinding("position", `the position in its EXIF is more than ${DEGREES} degrees from location.json`) : null;
}
