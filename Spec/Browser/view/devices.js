import { hex, sha256, textOf, utf8 } from "../verifier/bytes.js";
import { Fault } from "../verifier/fault.js";
import { lineOfPEM, parseTrust } from "../verifier/trust.js";
import { button, byId, element, foreign, visible } from "./dom.js";

/**
 * The devices that the user trusts. They never come from a file that was given as a bundle.
 *
 * All trust files count together, as if one file had all their lines. A new file never replaces another one of the same
 * name, because the line that revokes a key could be in the old file.
 */
export class Devices {
    #sources = [];

    /** All devices; null if a trust file is damaged, because then there is no verdict on any bundle (T0). */
    get all() {
        if (this.#sources.some(({ error }) => error)) return null;
        return this.#sources.flatMap(({ devices }) => devices);
    }

    /**
     * Adds a trust file, or a public key in PEM, whose device gets the name of the file. If the list already has the same
     * bytes, it adds nothing and returns their name. Calls must not overlap, or two files get the same name.
     */
    async add(bytes, givenName) {
        const digest = hex(await sha256(bytes));
        const same = this.#sources.find(one => one.digest === digest);
        if (same) return same.name;
        const name = this.#unusedName(givenName);
        const source = { name, digest, devices: [], error: null };
        const text = textOf(bytes);
        const line = text === null ? null : lineOfPEM(text, name);
        try {
            source.devices = await parseTrust(line ? utf8(line) : bytes);
        } catch (error) {
            if (!(error instanceof Fault)) throw error;
            source.error = `${error.message} [${error.code}]`;
        }
        this.#sources = [...this.#sources, source];
        return null;
    }

    /** Removes the source with this content, if the list has it. */
    async remove(bytes) {
        const digest = hex(await sha256(bytes));
        this.#sources = this.#sources.filter(one => one.digest !== digest);
    }

    #unusedName(given) {
        let name = given;
        for (let number = 2; this.#sources.some(one => one.name === name); number++) name = `${given} (${number})`;
        return name;
    }

    /** Lists the devices, so that the user can compare their key ids. */
    show(changed) {
        const items = this.#sources.map(source => element(
            "li", {},
            element("strong", {}, foreign(source.name)), " ",
            button("remove", () => {
                this.#sources = this.#sources.filter(one => one !== source);
                changed();
            }, { "aria-label": `remove ${visible(source.name)}` }),
            source.error
                ? element(
                    "p", { class: "findings bad", role: "alert" }, foreign(source.error),
                    ". No bundle gets a verdict until you remove it.")
                : element("ul", {}, ...source.devices.slice(0, 100).map(deviceLine))));
        byId("devices").replaceChildren(...items);
    }
}

function deviceLine({ name, keyId, level, isRevoked }) {
    const words = [level, ...(isRevoked ? ["revoked"] : [])].join(", ");
    return element("li", {}, foreign(name), ` (${words}): `, element("span", { class: "mono" }, keyId));
}
