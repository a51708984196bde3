import { Unreadable } from "../verifier/fault.js";
import { Pace } from "../verifier/pace.js";
import { digestOfFile } from "../verifier/sha256.js";
import { piece } from "../verifier/source.js";
import { readBundle } from "../verifier/verification.js";
import { button, byId, element, visible } from "./dom.js";

/** Reads files one after the other, with a progress bar and a button that cancels it. */
export class Reading {
    #waiting = [];
    #isRunning = false;

    /**
     * Adds the files to `items`, and returns those that were added, with remarks on the others. While files are read,
     * it takes more of them, and returns null.
     */
    async take(files, items) {
        this.#waiting.push(...files);
        if (this.#isRunning) return null;
        this.#isRunning = true;
        const cancel = new AbortController();
        const bar = element("progress", { "aria-label": "Bundles that are verified" });
        const box = element(
            "p", { class: "controls" }, bar, button("Cancel", () => cancel.abort(new Unreadable("was cancelled"))));
        byId("status").after(box);
        const [added, again, remarks] = [[], [], []];
        const more = items.length > 0 ? " more" : "";
        let count = 0;
        try {
            while (this.#waiting.length > 0) {
                const file = this.#waiting.shift();
                const total = ++count + this.#waiting.length;
                byId("status").textContent = `Verifying ${total > 1 ? `${count} of ${total}${more}: ` : ""}${visible(file.name)}…`;
                const pace = new Pace(cancel.signal, share => { bar.value = (count - 1 + share) / total; });
                const same = await sameItem(file, items, pace);
                const item = same ? null : await readItem(file, pace);
                if (cancel.signal.aborted) {
                    remarks.push(`Cancelled: ${this.#waiting.length + 1} of ${total} were not read.`);
                    this.#waiting = [];
                } else if (same) {
                    again.push(`${visible(file.name)} (the same as ${visible(same.file.name)})`);
                } else {
                    items.push(item);
                    added.push(item);
                }
            }
        } finally {
            this.#isRunning = false;
            box.remove();
        }
        if (again.length > 0) {
            const more = again.length > 3 ? ` and ${again.length - 3} more` : "";
            remarks.push(`In the list already: ${again.slice(0, 3).join(", ")}${more}.`);
        }
        return { added, remarks };
    }
}

async function readItem(file, pace) {
    const item = { file, reading: null, report: null, error: null, time: utc(new Date()) };
    try {
        return { ...item, reading: await readBundle(file, pace) };
    } catch (error) {
        if (!(error instanceof Unreadable || error instanceof RangeError)) throw error;
        const isUnreadable = error instanceof Unreadable;
        return { ...item, error: isUnreadable ? error.message : "needs more memory than the browser gives: use capbundle verify" };
    }
}

const utc = date => `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;

/** The item with the same content as a file. Only files of the same size are hashed. */
async function sameItem(file, items, pace) {
    const candidates = items.filter(item => item.file.size === file.size);
    const own = candidates.length > 0 ? await hashed(file, pace) : null;
    for (const item of own ? candidates : []) {
        item.digest ??= await hashed(item.file, pace);
        if (item.digest === own) return item;
    }
    return null;
}

/** The hash of a file; null if it cannot be read any more. */
async function hashed(file, pace) {
    try {
        return await digestOfFile(file.size, (offset, count) => piece(file, offset, count), pace);
    } catch (error) {
        if (error instanceof Unreadable) return null;
        throw error;
    }
}
