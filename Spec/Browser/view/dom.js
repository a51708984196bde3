// Elements of the page. Text from bundles, files and their names becomes text nodes only.

const SVG = "http://www.w3.org/2000/svg";
const LONGEST_SHOWN = 500;

export function element(name, attributes = {}, ...children) {
    return filled(document.createElement(name), attributes, children);
}

export function drawing(name, attributes = {}, ...children) {
    return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (value !== null) node.setAttribute(name, value);
    }
    node.append(...children.filter(child => child !== null));
    return node;
}

export function button(words, act, attributes = {}, ...more) {
    const node = element("button", { type: "button", ...attributes }, words, ...more);
    node.addEventListener("click", act);
    return node;
}

/** The text with control characters, bidirectional controls and similar characters replaced by `\u{…}`. */
export function visible(text) {
    return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, letter => `\\u{${letter.codePointAt(0).toString(16)}}`);
}

/** Text from outside. Its direction does not affect the text around it. */
export function foreign(text) {
    const letters = [...text];
    const cut = letters.length > LONGEST_SHOWN
        ? `${letters.slice(0, LONGEST_SHOWN).join("")}… (${letters.length} characters)` : text;
    return element("bdi", {}, visible(cut));
}

export const byId = id => document.getElementById(id);
