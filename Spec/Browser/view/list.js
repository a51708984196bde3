import { badge } from "./badge.js";
import { save } from "./content.js";
import { csvOf } from "./csv.js";
import { button, element, foreign } from "./dom.js";
import { KINDS } from "./words.js";

const kindOf = ({ report }) => report ? report.verdict : "unreadable";

/** The number of bundles of each kind. */
export function summary(items) {
    const tile = (count, words) => element("li", {}, element("strong", {}, String(count)), " ", words);
    const kinds = Object.entries(KINDS).map(([kind, { tone, words }]) => {
        const count = items.filter(item => kindOf(item) === kind).length;
        return count > 0 ? tile(count, badge(tone, words)) : null;
    });
    return element(
        "ul", { class: "tiles", "aria-label": "Summary" },
        tile(items.length, items.length === 1 ? "bundle" : "bundles"), ...kinds);
}

/** A row for each bundle. A button in it shows the bundle below. */
export function table(items, selected, select) {
    const heads = ["File", "Verdict", "Captured (UTC)", "Device", "Model", "Findings"];
    const rows = items.map((item, index) => row(item, index === selected, () => select(index)));
    return element(
        "div", {},
        element(
            "div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All bundles" },
            element(
                "table", {}, element("caption", {}, "All bundles. Choose one to see more of it."),
                element("thead", {}, element("tr", {}, ...heads.map(head => element("th", { scope: "col" }, head)))),
                element("tbody", {}, ...rows))),
        element("p", {}, button("Save as a table for spreadsheets (CSV)", () => save([csvOf(items)], "bundles.csv"))));
}

function row({ file, report, error }, isSelected, show) {
    const kind = KINDS[kindOf({ report })];
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
