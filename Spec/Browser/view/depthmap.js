import { isMeasured } from "../verifier/depth.js";
import { turnOf } from "./turn.js";

const LARGEST_SIDE = 2048;

/** A depth map as the page shows it: upright, with at most 2048 samples a side, and its statistics. */
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
        this.measure();
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

    /** Nearest, farthest and percentiles of the measured samples, by nearest rank. */
    measure() {
        const measured = new Float32Array(this.width * this.height);
        let [count, missing] = [0, 0];
        for (let y = 0; y < this.height; y++) {
            for (let x = 0; x < this.width; x++) {
                const sample = this.at(x, y);
                if (isMeasured(sample)) measured[count++] = sample;
                else missing += 1;
            }
        }
        const sorted = measured.subarray(0, count).sort();
        const rank = share => sorted[Math.max(0, Math.ceil(share * count) - 1)];
        this.measured = count;
        this.missingShare = missing / (this.width * this.height);
        this.near = rank(0.02);
        this.median = rank(0.5);
        this.far = rank(0.98);
        this.nearest = sorted[0];
        this.farthest = sorted[count - 1];
    }
}

/** A distance for people; words for a sample that says nothing. */
export function metres(sample) {
    if (isMeasured(sample)) return `${sample.toFixed(sample < 100 ? 3 : 1)} m`;
    return sample === 0 || Number.isNaN(sample) ? "not measured" : "meaningless (negative or infinite)";
}
