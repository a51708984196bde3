import { statusMark } from "./badge.js";
import { contentOf, isSound, save } from "./content.js";
import { button, element } from "./dom.js";
import { size } from "./words.js";

const SAVE = "Save";

/** The table of entries with their hashes. A sound bundle has a button for each entry, which saves it. */
export function entriesTable(file, report) {
    const allowsSaving = isSound(report);
    const heads = ["Entry, with its SHA-256 in the manifest", "Size", "Status", ...(allowsSaving ? [SAVE] : [])];
    const rows = report.entries.map(entry => element(
        "tr", {},
        element("th", { scope: "row" }, entry.path, element("div", { class: "mono" }, entry.sha256)),
        element("td", { class: "number" }, size(entry.size)),
        element("td", {}, statusMark(entry.status === "altered" ? "ALTERED" : entry.status)),
        allowsSaving ? element("td", { class: "save" }, entry.status === "matched" ? saveButton(file, entry) : "") : null));
    return element(
        "div", { class: "scroll entries", tabindex: "0", role: "region", "aria-label": "Entries" },
        element(
            "table", {},
            element("caption", {}, "Everything that the device signed"),
            element("thead", {}, element("tr", {}, ...heads.map(head => element("th", { scope: "col", class: head === SAVE ? "save" : null }, head)))),
            element("tbody", {}, ...rows)));
}

function saveButton(file, entry) {
    const node = button("save", async () => {
        try {
            save([await contentOf(file, entry)], entry.path.split("/").pop());
        } catch (error) {
            node.textContent = error.message;
        }
    }, { "aria-label": `save ${entry.path}` });
    return node;
}
