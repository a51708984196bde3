import { isMeasured } from "../verifier/depth.js";
import { colourOf, COLOURS, GREY } from "./colours.js";
import { metres } from "./depthmap.js";
import { element } from "./dom.js";

/** The depth map in false colours, with a scale, and the distance under the pointer or the cursor. */
export async function depthPicture(map, pace) {
    const canvas = element("canvas", {
        width: map.width, height: map.height, tabindex: "0", role: "application", class: "depth",
        "aria-label": "Depth map. The arrow keys move a cursor, and the distance at it is announced.",
    });
    const reading = element(
        "output", { class: "reading", "aria-live": "polite" }, "Point at the depth map, or use the arrow keys.");
    const cursor = element("span", { class: "cursor", "aria-hidden": "true" });
    cursor.hidden = true;
    await paint(canvas, map, pace);
    const place = { x: map.width >> 1, y: map.height >> 1 };
    const show = (x, y) => {
        place.x = Math.min(map.width - 1, Math.max(0, x));
        place.y = Math.min(map.height - 1, Math.max(0, y));
        cursor.hidden = false;
        cursor.style.left = `${(place.x + 0.5) / map.width * 100}%`;
        cursor.style.top = `${(place.y + 0.5) / map.height * 100}%`;
        reading.textContent = `${metres(map.at(place.x, place.y))} at column ${place.x + 1}, row ${place.y + 1}`;
    };
    canvas.addEventListener("pointermove", event => {
        const box = canvas.getBoundingClientRect();
        show(
            Math.floor((event.clientX - box.left) / box.width * map.width),
            Math.floor((event.clientY - box.top) / box.height * map.height));
    });
    canvas.addEventListener("focus", () => show(place.x, place.y));
    canvas.addEventListener("keydown", event => {
        const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (!move) return;
        event.preventDefault();
        const stride = event.shiftKey ? 16 : 1;
        show(place.x + move[0] * stride, place.y + move[1] * stride);
    });
    const ends = map.measured === 0 ? ""
        : ` The ends of the scale are the 2nd and the 98th percentile: 2 % are nearer than ${label(map.near)}, 2 % farther`
            + ` than ${label(map.far)}.`;
    return element(
        "figure", {}, element("div", { class: "scaled" }, element("div", { class: "stage" }, canvas, cursor), scale(map)),
        element(
            "figcaption", {}, `Depth in false colours, near is bright.${ends} Grey was not measured. `, reading));
}

async function paint(canvas, map, pace) {
    const context = canvas.getContext("2d");
    const image = context.createImageData(map.width, map.height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let y = 0, place = 0; y < map.height; y++) {
        await pace.rest();
        for (let x = 0; x < map.width; x++, place++) {
            const sample = map.at(x, y);
            pixels[place] = isMeasured(sample) ? colourOf(sample, map.near, map.far) : GREY;
        }
    }
    context.putImageData(image, 0, 0);
}

const label = value => `${value.toFixed(2)} m`;

/** The bar beside the picture: near on top. */
function scale(map) {
    if (map.measured === 0) return null;
    const bar = element("canvas", { width: 1, height: 256, "aria-hidden": "true" });
    const context = bar.getContext("2d");
    const image = context.createImageData(1, 256);
    new Uint32Array(image.data.buffer).set(COLOURS.slice().reverse());
    context.putImageData(image, 0, 0);
    return element(
        "div", { class: "scale" }, element("span", {}, label(map.near)), element("div", { class: "bar" }, bar),
        element("span", {}, label(map.far)));
}
