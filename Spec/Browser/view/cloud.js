import { button, element } from "./dom.js";
import { lensOf } from "./lens.js";
import { drawPoints, pointsOf } from "./points.js";

const LONGER_SIDE = 640;
const TURN = Math.PI / 36;
// A little to the side and from above, so that it is seen at once that the scene has depth.
const START = { yaw: 3 * TURN, pitch: TURN, distance: 1 };

/** The scene as points that can be turned. It moves only when the user turns it. */
export function cloud(map, metadata, photo) {
    const lens = lensOf(metadata, map);
    const points = pointsOf(map, lens, photo);
    const longer = Math.max(map.width, map.height);
    const [width, height] = [map.width, map.height].map(side => Math.max(120, Math.round(side / longer * LONGER_SIDE)));
    const canvas = element("canvas", {
        width, height, tabindex: "0", role: "application", class: "cloud",
        "aria-label": "The scene as points. The arrow keys turn it, plus and minus come closer and go back, 0 resets.",
    });
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const depths = new Float32Array(width * height);
    const focal = lens.fx / Math.max(map.stored.width, map.stored.height) * LONGER_SIDE;
    const view = { ...START };
    let isDue = false;
    const draw = () => {
        isDue = false;
        drawPoints(points, view, pixels, depths, width, height, focal);
        context.putImageData(image, 0, 0);
    };
    const change = (yaw, pitch, factor) => {
        view.yaw += yaw;
        view.pitch = Math.min(1.5, Math.max(-1.5, view.pitch + pitch));
        view.distance = Math.min(8, Math.max(0.2, view.distance * factor));
        if (!isDue) requestAnimationFrame(draw);
        isDue = true;
    };
    const reset = () => {
        Object.assign(view, START);
        change(0, 0, 1);
    };
    takeInput(canvas, change, reset);
    draw();
    const assumed = lens.isAssumed ? " The lens is assumed, so proportions are approximate." : "";
    return element(
        "figure", {}, canvas,
        element(
            "figcaption", {},
            `The scene as ${points.count} points. Drag, or use the arrow keys, to turn it.${assumed}`),
        controls(change, reset));
}

function controls(change, reset) {
    const moves = [
        ["turn left", -TURN * 2, 0, 1], ["turn right", TURN * 2, 0, 1], ["turn up", 0, -TURN * 2, 1],
        ["turn down", 0, TURN * 2, 1], ["closer", 0, 0, 0.8], ["farther", 0, 0, 1.25],
    ];
    return element(
        "p", { class: "controls" },
        ...moves.map(([words, ...move]) => button(words, () => change(...move))), button("reset", reset));
}

function takeInput(canvas, change, reset) {
    const keys = {
        ArrowLeft: [-TURN, 0, 1], ArrowRight: [TURN, 0, 1], ArrowUp: [0, -TURN, 1], ArrowDown: [0, TURN, 1],
        "+": [0, 0, 0.8], "=": [0, 0, 0.8], "-": [0, 0, 1.25],
    };
    canvas.addEventListener("keydown", event => {
        if (!keys[event.key] && event.key !== "0") return;
        event.preventDefault();
        if (event.key === "0") reset();
        else change(...keys[event.key]);
    });
    canvas.addEventListener("pointerdown", event => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener("pointermove", event => {
        if (event.buttons & 1) change(event.movementX * 0.008, event.movementY * 0.008, 1);
    });
}
