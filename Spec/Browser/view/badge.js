import { drawing, element } from "./dom.js";

// A sign of another shape for each tone, so that colour is not needed to tell them apart: a disc with a tick, a triangle
// with an exclamation mark, an octagon with a cross.
const SHAPES = {
    good: ["M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1z", "M4.5 8.3 7 10.8l4.6-5.2"],
    doubtful: ["M8 1.2 15.4 14.6H.6z", "M8 6v4.4M8 11.6v1.6"],
    bad: ["M5 .8h6L15.2 5v6L11 15.2H5L.8 11V5z", "m5.2 5.2 5.6 5.6m0-5.6-5.6 5.6"],
};

export function badge(tone, words) {
    const [back, front] = SHAPES[tone];
    const sign = drawing(
        "svg", { viewBox: "0 0 16 16", "aria-hidden": "true" },
        drawing("path", { d: back, fill: "currentColor" }),
        drawing("path", { d: front, fill: "none", class: "cut", "stroke-width": "1.8" }));
    return element("span", { class: `badge ${tone}` }, sign, " ", words);
}

/** The status of an entry, in the colour of its tone. */
export function statusMark(words) {
    const tone = /withheld$/.test(words) ? "doubtful" : /ALTERED$/.test(words) ? "bad" : null;
    return tone ? element("span", { class: `mark ${tone}` }, words) : words;
}
