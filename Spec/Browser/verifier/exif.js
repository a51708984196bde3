import { TIFF } from "./tiff.js";
import { parseTime } from "./time.js";

// What the EXIF of a photo says: section 11.1. A field that does not have its form is null.

const SEARCHED = 2 ** 20;
const MARK = [0x45, 0x78, 0x69, 0x66, 0, 0];

/** `{exif, frame}` of the bytes of a photo: the fields, and {width, height}. Each is null if the photo has none. */
export function readExif(photo) {
    let [exif, frame] = [null, null];
    for (const { marker, data } of segments(photo)) {
        if (marker === 0xe1 && !exif && MARK.every((byte, index) => data[index] === byte)) exif = new TIFF(data.slice(6));
        const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
        if (isFrame && !frame) {
            frame = { height: data[1] << 8 | data[2], width: data[3] << 8 | data[4], isWhole: data.length >= 5 };
        }
    }
    if (frame && !(frame.isWhole && frame.width > 0 && frame.height > 0)) frame = null;
    return { exif: exif?.isSound ? fieldsOf(exif) : null, frame };
}

/** The segments before the scan, in the first MiB. */
function* segments(photo) {
    const end = Math.min(photo.length, SEARCHED);
    if (photo[0] !== 0xff || photo[1] !== 0xd8) return;
    for (let place = 2; photo[place] === 0xff;) {
        while (place < end && photo[place] === 0xff) place += 1;
        const marker = photo[place];
        const length = photo[place + 1] << 8 | photo[place + 2];
        const next = place + 1 + length;
        if (place + 3 > end || length < 2 || next > end) return;
        if (marker < 0xc0 || marker >= 0xd0 && marker <= 0xda) return;
        yield { marker, data: photo.subarray(place + 3, next) };
        place = next;
    }
}

function fieldsOf(tiff) {
    const { main } = tiff;
    const inside = tag => {
        const offset = tiff.integer(main, tag);
        return offset === tiff.mainOffset ? null : tiff.directory(offset);
    };
    const [details, gps] = [inside(0x8769), inside(0x8825)];
    const orientation = tiff.integer(main, 0x0112);
    return {
        make: tiff.text(main, 0x010f), model: tiff.text(main, 0x0110),
        orientation: orientation >= 1 && orientation <= 8 ? orientation : null,
        time: originalTime(tiff, details), gpsTime: gpsTimeOf(tiff, gps), size: sizeOf(tiff, details),
        position: positionOf(tiff, gps),
    };
}

/** DateTimeOriginal: {text, local, exact}, times in milliseconds; `exact` is null without OffsetTimeOriginal. */
function originalTime(tiff, details) {
    const date = isoDate(tiff.text(details, 0x9003), /^(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)$/);
    if (!date || !parseTime(`${date}Z`)) return null;
    const decimals = tiff.text(details, 0x9291) ?? "";
    const text = /^\d{1,9}$/.test(decimals) ? `${date}.${decimals}` : date;
    const offset = tiff.text(details, 0x9011);
    // Decimals before the zone would be read as those of the second, which have a field of their own.
    const exact = /^[Z+-]/.test(offset ?? "") ? parseTime(text + offset) : null;
    return {
        text: exact ? text + offset : text, local: millisecondsOf(parseTime(`${text}Z`)),
        exact: exact && millisecondsOf(exact),
    };
}

function isoDate(text, pattern) {
    const match = pattern.exec(text ?? "");
    return match && `${match[1]}-${match[2]}-${match[3]}T${match[4] ?? "00:00:00"}`;
}

export const millisecondsOf = ({ seconds, nanos }) => seconds * 1000 + Math.floor(nanos / 1e6);

function gpsTimeOf(tiff, gps) {
    const date = isoDate(tiff.text(gps, 29), /^(\d{4}):(\d\d):(\d\d)$/);
    const day = date && parseTime(`${date}Z`);
    const [hours, minutes, seconds] = tiff.rationals(gps, 7);
    const isIn = (value, limit) => value !== null && value >= 0 && value < limit;
    if (!day || !isIn(hours, 24) || !isIn(minutes, 60) || !isIn(seconds, 61)) return null;
    const time = millisecondsOf(day) + Math.trunc(((hours * 60 + minutes) * 60 + seconds) * 1000);
    return time <= LAST_MOMENT ? time : null;
}

const LAST_MOMENT = millisecondsOf(parseTime("9999-12-31T23:59:59.999Z"));

function sizeOf(tiff, details) {
    const [width, height] = [tiff.integer(details, 0xa002), tiff.integer(details, 0xa003)];
    return width > 0 && height > 0 ? { width, height } : null;
}

function positionOf(tiff, gps) {
    const latitude = degreesOf(tiff, gps, 2, 1, ["N", "S"], 90);
    const longitude = degreesOf(tiff, gps, 4, 3, ["E", "W"], 180);
    return latitude === null || longitude === null ? null : { latitude, longitude };
}

function degreesOf(tiff, gps, tag, reference, [positive, negative], limit) {
    const [degrees, minutes, seconds] = tiff.rationals(gps, tag);
    const side = tiff.text(gps, reference);
    if (degrees === null || side !== positive && side !== negative) return null;
    const value = degrees + (minutes ?? 0) / 60 + (seconds ?? 0) / 3600;
    if (!(value >= 0 && value <= limit)) return null;
    return side === negative ? -value : value;
}
