import { isMeasured } from "../verifier/depth.js";
import { colourOf } from "./colours.js";

const MOST_POINTS = 120_000;

/**
 * The measured samples of a depth map as points in space, upright, in metres from the lens: x to the right, y down,
 * z away.
 *
 * `photo` is the ImageData of the upright photo, which colours the points; null colours them by depth.
 */
export function pointsOf(map, lens, photo) {
    const { samples, width, height } = map.stored;
    const stride = Math.max(1, Math.ceil(Math.sqrt(width * height / MOST_POINTS)));
    const most = Math.ceil(width / stride) * Math.ceil(height / stride);
    const points = {
        count: 0, x: new Float32Array(most), y: new Float32Array(most), z: new Float32Array(most),
        colour: new Uint32Array(most), spacing: stride / lens.fx, middle: map.median,
    };
    const photoPixels = photo && new Uint32Array(photo.data.buffer);
    const [xx, xy, yx, yy] = map.turn;
    for (let row = 0; row < height; row += stride) {
        for (let column = 0; column < width; column += stride) {
            const z = samples[row * width + column];
            if (!isMeasured(z)) continue;
            const [x, y] = [(column + 0.5 - lens.cx) * z / lens.fx, (row + 0.5 - lens.cy) * z / lens.fy];
            const index = points.count++;
            points.x[index] = xx * x + xy * y;
            points.y[index] = yx * x + yy * y;
            points.z[index] = z;
            if (!photo) {
                points.colour[index] = colourOf(z, map.near, map.far);
                continue;
            }
            const [u, v] = [(column + 0.5) / width - 0.5, (row + 0.5) / height - 0.5];
            const across = Math.floor((xx * u + xy * v + 0.5) * photo.width);
            const down = Math.floor((yx * u + yy * v + 0.5) * photo.height);
            const line = Math.min(photo.height - 1, Math.max(0, down));
            points.colour[index] = photoPixels[line * photo.width + Math.min(photo.width - 1, Math.max(0, across))];
        }
    }
    return points;
}

/** Draws points into the pixels of a canvas. `depths` keeps the nearest point of each pixel. */
export function drawPoints(points, view, pixels, depths, width, height, focal) {
    pixels.fill(0);
    depths.fill(Infinity);
    const { count, x, y, z, colour, spacing, middle } = points;
    const [sinYaw, cosYaw] = [Math.sin(view.yaw), Math.cos(view.yaw)];
    const [sinPitch, cosPitch] = [Math.sin(view.pitch), Math.cos(view.pitch)];
    const away = middle * view.distance;
    for (let index = 0; index < count; index++) {
        // Turned round the middle of the scene: first to the side, then up or down.
        const depth = z[index] - middle;
        const across = x[index] * cosYaw - depth * sinYaw;
        const back = depth * cosYaw + x[index] * sinYaw;
        const down = y[index] * cosPitch - back * sinPitch;
        const far = y[index] * sinPitch + back * cosPitch + away;
        if (far < 0.01 * middle) continue;
        const scale = focal / far;
        const side = Math.min(12, Math.max(2, Math.ceil(z[index] * spacing * scale * 1.15)));
        const left = Math.round(width / 2 + across * scale - side / 2);
        const top = Math.round(height / 2 + down * scale - side / 2);
        if (left < 0 || top < 0 || left + side > width || top + side > height) continue;
        for (let row = top; row < top + side; row++) {
            for (let place = row * width + left, end = place + side; place < end; place++) {
                if (far < depths[place]) {
                    depths[place] = far;
                    pixels[place] = colour[index];
                }
            }
        }
    }
}
