import { badge } from "./badge.js";
import { isSound } from "./content.js";
import { element, foreign } from "./dom.js";
import { entriesTable } from "./entries.js";
import { factsOf } from "./facts.js";
import { showPictures } from "./pictures.js";
import { explanation, finding, KINDS, origin, verdictLine, withholding } from "./words.js";

let shown = 0;

/** Everything about one file: the verdict first. */
export function card({ file, report, error }) {
    const ours = ++shown;
    const kind = KINDS[report ? report.verdict : "unreadable"];
    const section = element(
        "article", { class: "card", "aria-labelledby": "shown" },
        element("h2", { id: "shown", tabindex: "-1" }, foreign(file.name)),
        element("p", { class: "verdict" }, badge(kind.tone, report ? foreign(verdictLine(report)) : kind.words)),
        element("p", {}, kind.meaning));
    if (!report) {
        section.append(element("ul", { class: `findings ${kind.tone}` }, element("li", {}, error)));
        return section;
    }
    const findings = [
        ...report.faults.map(finding), ...report.warnings.map(warning => `warning: ${finding(warning)}`),
        ...origin(report),
    ];
    if (findings.length > 0) {
        section.append(element("ul", { class: `findings ${kind.tone}` }, ...findings.map(
            words => element("li", {}, foreign(words)))));
    }
    const words = isSound(report) ? withholding(report) : null;
    if (words) section.append(element("p", { class: "note" }, foreign(words)));
    const pictures = element("div", { class: "pictures" });
    section.append(pictures, element("h3", {}, "What the bundle says"), factsList(report), limits(report));
    if (report.manifest) {
        section.append(element("h3", {}, "Entries"), entriesTable(file, report));
    }
    if (isSound(report)) {
        showPictures(pictures, file, report, () => ours === shown).catch(
            problem => pictures.append(element("p", { class: "note" }, problem.message)));
    } else if (report.manifest) {
        pictures.replaceWith(element(
            "p", { class: "note" }, "Photo and depth map are not shown, because the bundle is damaged."));
    }
    return section;
}

function factsList(report) {
    const rows = factsOf(report).flatMap(([name, value]) => [
        element("dt", {}, name),
        element("dd", { class: /id$|^manifest$/.test(name) ? "mono" : null }, foreign(value)),
    ]);
    return element("dl", { class: "facts" }, ...rows);
}

function limits({ notChecked }) {
    if (notChecked.length === 0) return "";
    return element(
        "section", { "aria-labelledby": "limits" }, element("h3", { id: "limits" }, "Not checked or not proven"),
        element("ul", {}, ...notChecked.map(topic => element("li", {}, explanation(topic)))));
}
