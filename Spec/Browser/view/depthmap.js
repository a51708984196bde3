import { isMeasured } from "../verifier/depth.js";
import { turnOf } from "./turn.js";

const LARGEST_SIDE = 2048;
const INFINITY = 0x7f800000;

/** A depth map as the page shows it: upright, with at most 2048 samples a side. */
export class DepthMap {
    /** `photo` has EXIF and frame size of the photo; null if there is no photo to compare with. */
    constructor(samples, { width, height }, photo) {
        this.stored = { samples, width, height };
        // A depth map with another shape than the stored photo was turned already.
        const frame = photo?.frame;
        const hasShape = frame && (frame.width > frame.height) === (width > height);
        this.turn = turnOf(hasShape ? photo.exif?.orientation ?? 1 : 1);
        this.step = Math.max(1, Math.ceil(Math.max(width, height) / LARGEST_SIDE));
        const sides = [Math.ceil(width / this.step), Math.ceil(height / this.step)];
        [this.width, this.height] = this.turn[0] === 0 ? sides.reverse() : sides;
    }

    /** The sample at a place of the upright picture. */
    at(x, y) {
        return this.stored.samples[this.index(x, y)];
    }

    index(x, y) {
        const [xx, xy, yx, yy] = this.turn;
        const { width, height } = this.stored;
        const [fromLeft, fromTop] = [xx || xy, yx || yy];
        // The inverse of a turn is its transpose.
        const across = fromLeft > 0 ? x : this.width - 1 - x;
        const down = fromTop > 0 ? y : this.height - 1 - y;
        const [column, row] = xx === 0 ? [down, across] : [across, down];
        return Math.min(row * this.step, height - 1) * width + Math.min(column * this.step, width - 1);
    }

    /**
     * Percentiles of all measured samples, by nearest rank. Positive floats have the order of their bits, so that counting
     * their upper and then their lower halves finds each rank without sorting.
     */
    async measure(pace) {
        const { samples } = this.stored;
        const bits = new Uint32Array(samples.buffer, samples.byteOffset, samples.length);
        const upper = new Uint32Array(2 ** 15);
        await pace.each(bits, part => {
            for (let index = 0; index < part.length; index++) {
                const value = part[index];
                if (value > 0 && value < INFINITY) upper[value >>> 16] += 1;
            }
        });
        this.measured = upper.reduce((sum, count) => sum + count, 0);
        const ranks = [0.02, 0.5, 0.98].map(share => {
            let [rank, half] = [Math.max(1, Math.ceil(share * this.measured)), 0];
            while (half < upper.length && rank > upper[half]) rank -= upper[half++];
            return { rank, half };
        });
        const lower = new Array(2 ** 16).fill(null);
        for (const { half } of ranks) lower[half] = new Uint32Array(2 ** 16);
        await pace.each(bits, part => {
            for (let index = 0; index < part.length; index++) {
                const counts = lower[part[index] >>> 16];
                if (counts) counts[part[index] & 0xffff] += 1;
            }
        });
        [this.near, this.median, this.far] = ranks.map(({ rank, half }) => {
            const counts = lower[half];
            let low = 0;
            while (low < counts.length && rank > counts[low]) rank -= counts[low++];
            return new Float32Array(Uint32Array.of(half << 16 | low).buffer)[0];
        });
    }
}

/** A distance for people; words for a sample that says nothing. */
export function metres(sample) {
    if (isMeasured(sample)) return `${sample.toFixed(sample < 100 ? 3 : 1)} m`;
    return sample === 0 || Number.isNaN(sample) ? "not measured" : "meaningless (negative or infinite)";
}
