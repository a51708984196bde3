import { badge } from "./badge.js";
import { save } from "./content.js";
import { csvOf } from "./csv.js";
import { button, element, foreign } from "./dom.js";
import { KINDS, kindOf } from "./words.js";

const KIND_NAMES = Object.keys(KINDS);

/** The items in the order of the table: the worst first. */
export const worstFirst = items =>
    items.toSorted((one, other) => KIND_NAMES.indexOf(kindOf(one)) - KIND_NAMES.indexOf(kindOf(other)));

/** The number of bundles of each kind. Each is a button that shows only these in the table; `kind` is null for all. */
export function summary(items, shownKind, choose) {
    const tile = (kind, count, words) => element("li", {}, button(
        element("strong", {}, String(count)), () => choose(kind), { "aria-pressed": String(kind === shownKind) }, " ", words));
    const kinds = KIND_NAMES.map(kind => {
        const count = items.filter(item => kindOf(item) === kind).length;
        return count > 0 ? tile(kind, count, badge(KINDS[kind].tone, KINDS[kind].words)) : null;
    });
    return element(
        "ul", { class: "tiles", "aria-label": "Summary; each number shows its bundles" },
        tile(null, items.length, "bundles"), ...kinds);
}

/** A row for each of the items. A button in it shows the bundle below. */
export function table(items, selected, select) {
    const heads = ["File", "Verdict", "Captured (UTC)", "Device", "Model", "Findings"];
    return element(
        "div", { class: "scroll list", tabindex: "0", role: "region", "aria-label": "Bundles" },
        element(
            "table", {}, element("caption", {}, "The worst are first. Choose one to see more of it."),
            element("thead", {}, element("tr", {}, ...heads.map(head => element("th", { scope: "col" }, head)))),
            element("tbody", {}, ...items.map(item => row(item, item === selected, () => select(item))))));
}

/** What can be done with all bundles. */
export const actions = (items, removeAll) => element(
    "p", { class: "controls" },
    button("Save as a table for spreadsheets (CSV)", () => save([csvOf(items)], "bundles.csv")),
    button("Remove all", removeAll));

function row(item, isSelected, show) {
    const { file, report, error } = item;
    const kind = KINDS[kindOf(item)];
    const claimed = report?.isGenuine ? "" : " (unproven claim)";
    const codes = report ? report.faults.map(({ code }) => code).join(", ") : error;
    return element(
        "tr", {},
        element("th", { scope: "row" }, button(foreign(file.name), show, { "aria-pressed": String(isSelected) })),
        element("td", {}, badge(kind.tone, kind.words)),
        element("td", { class: "when" }, report?.manifest ? report.manifest.capturedAt + claimed : "—"),
        element("td", {}, report?.device ? foreign(report.device.name) : "—"),
        element("td", {}, report?.metadata ? foreign(report.metadata.deviceModel + claimed) : "—"),
        element("td", {}, codes || "none"));
}
