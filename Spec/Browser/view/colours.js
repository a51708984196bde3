// The colours of depth maps, from far to near: cividis (Nuñez, Anderton and Renslow, PLoS ONE 13(7), 2018). Every eighth
// colour; the others are interpolated. The order is visible to colour-blind people and in a grey print.

const ANCHORS = [
    0x00224e, 0x00285b, 0x002e6a, 0x053371, 0x1a386f, 0x273e6e, 0x32436d, 0x3b496c, 0x434e6c, 0x4b546c, 0x535a6d, 0x5a5f6e,
    0x61656f, 0x686a71, 0x6f7073, 0x767676, 0x7c7c78, 0x838179, 0x8b8778, 0x928d78, 0x9a9376, 0xa29975, 0xaaa073, 0xb3a670,
    0xbbad6d, 0xc3b369, 0xccba64, 0xd4c15f, 0xddc858, 0xe6d051, 0xefd748, 0xf8df3c, 0xfee838,
];
/** The colour of samples that were not measured, as a pixel. It is darker than the grey in the middle of cividis. */
export const GREY = 0xff505050;

/** 256 colours as pixels of ImageData on a little-endian processor: alpha, blue, green, red. */
export const COLOURS = Uint32Array.from({ length: 256 }, (_, index) => {
    const place = index / 255 * (ANCHORS.length - 1);
    const before = Math.min(Math.floor(place), ANCHORS.length - 2);
    const channel = shift => {
        const [one, next] = [ANCHORS[before] >> shift & 255, ANCHORS[before + 1] >> shift & 255];
        return Math.round(one + (next - one) * (place - before));
    };
    return 0xff000000 | channel(0) << 16 | channel(8) << 8 | channel(16);
});

/** The colour of a depth, if the colours cover the range from `near` to `far`. */
export function colourOf(depth, near, far) {
    const share = far > near ? (far - depth) / (far - near) : 1;
    return COLOURS[Math.round(Math.min(1, Math.max(0, share)) * 255)];
}
