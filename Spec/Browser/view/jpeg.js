// What the page needs to know about a photo: the size of the stored picture, and how EXIF says to turn it.

/** `{width, height, orientation}`; sizes are 0 if the file has no frame header, and orientation is 1 without EXIF. */
export function photoFacts(bytes) {
    const facts = { width: 0, height: 0, orientation: 1 };
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let place = 2;
    while (place + 4 <= bytes.length && bytes[place] === 0xff) {
        const marker = bytes[place + 1];
        const length = view.getUint16(place + 2);
        const end = place + 2 + length;
        if (marker === 0xda || length < 2 || end > bytes.length) break;
        if (marker === 0xe1) facts.orientation = orientationOf(bytes.subarray(place + 4, end)) ?? facts.orientation;
        const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
        if (isFrame && length >= 8) {
            facts.height = view.getUint16(place + 5);
            facts.width = view.getUint16(place + 7);
            break;
        }
        place = end;
    }
    return facts;
}

/** The orientation in an APP1 segment with EXIF: tag 0x0112 of the first directory. */
function orientationOf(segment) {
    const view = new DataView(segment.buffer, segment.byteOffset, segment.length);
    if (segment.length < 14 || view.getUint32(0) !== 0x45786966) return null;
    const isLittle = view.getUint16(6) === 0x4949;
    const start = 6 + view.getUint32(10, isLittle);
    if (start + 2 > segment.length) return null;
    const count = view.getUint16(start, isLittle);
    for (let index = 0; index < count; index++) {
        const field = start + 2 + 12 * index;
        if (field + 12 > segment.length) return null;
        if (view.getUint16(field, isLittle) !== 0x0112) continue;
        const value = view.getUint16(field + 8, isLittle);
        return value >= 1 && value <= 8 ? value : null;
    }
    return null;
}

// How each orientation moves a point whose coordinates count from the middle of the stored picture.
const TURNS = [
    [1, 0, 0, 1], [-1, 0, 0, 1], [-1, 0, 0, -1], [1, 0, 0, -1], [0, 1, 1, 0], [0, -1, 1, 0], [0, -1, -1, 0], [0, 1, -1, 0],
];

/** The matrix [xx, xy, yx, yy] that turns a stored picture upright. */
export const turnOf = orientation => TURNS[orientation - 1];
