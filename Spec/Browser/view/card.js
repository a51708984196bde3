import { badge, statusMark } from "./badge.js";
import { isSound } from "./content.js";
import { button, element, foreign, visible } from "./dom.js";
import { entriesTable } from "./entries.js";
import { factsOf } from "./facts.js";
import { showPictures } from "./pictures.js";
import { explanation, finding, KINDS, kindOf, origin, verdictLine, withholding } from "./words.js";

/** Everything about one file: the verdict first. Aborting the signal ends the work on its pictures. */
export function card(item, remove, signal) {
    const { file, report, error, time } = item;
    const kind = KINDS[kindOf(item)];
    const section = element(
        "article", { class: "card", "aria-labelledby": "shown" },
        element(
            "div", { class: "heading" }, element("h2", { id: "shown", tabindex: "-1" }, foreign(file.name)),
            button("remove", remove, { "aria-label": `remove ${visible(file.name)}` })),
        element("p", { class: "verdict" }, badge(kind.tone, report ? foreign(verdictLine(report)) : kind.words)),
        element("p", {}, kind.meaning),
        element("p", { class: "note" }, `Checked on ${time}, by the clock of this computer.`));
    if (!report) {
        section.append(element("ul", { class: `findings ${kind.tone}` }, element("li", {}, error)));
        return section;
    }
    const findings = [
        ...origin(report), ...report.faults.map(finding), ...report.warnings.map(warning => `warning: ${finding(warning)}`),
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
        showPictures(pictures, file, report, signal).catch(problem => {
            if (!signal.aborted) pictures.append(element("p", { class: "note" }, problem.message));
        });
    } else if (report.manifest) {
        pictures.replaceWith(element(
            "p", { class: "note" }, "Photo and depth map are not shown, because the bundle is damaged."));
    }
    return section;
}

const PARTS = ["photo", "depth", "location"];

function factsList(report) {
    const rows = factsOf(report).flatMap(([name, value]) => [
        element("dt", {}, name),
        element(
            "dd", { class: /id$|^manifest$/.test(name) ? "mono" : null },
            PARTS.includes(name) ? statusMark(value) : foreign(value)),
    ]);
    return element("dl", { class: "facts" }, ...rows);
}

function limits({ notChecked }) {
    if (notChecked.length === 0) return "";
    return element(
        "section", { "aria-labelledby": "limits" }, element("h3", { id: "limits" }, "Not checked or not proven"),
        element("ul", {}, ...notChecked.map(topic => element("li", {}, explanation(topic)))));
}
