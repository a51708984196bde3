import { isSound } from "./content.js";
import { visible } from "./dom.js";
import { withheldOf } from "./words.js";

// The table for spreadsheets that `capbundle report --csv` writes (command-line.md section 3).

const COLUMNS = [
    "file", "verdict", "exit_code", "id", "captured_at", "device", "level", "key_id", "device_model", "latitude", "longitude",
    "depth", "bytes", "withheld", "findings",
];

export const csvOf = items => [COLUMNS, ...items.map(cells)].map(line).join("");

function cells({ file, report }) {
    if (!report) return [file.name, "unreadable", "66", ...COLUMNS.slice(4).map(() => ""), "input.unreadable"];
    const { manifest, metadata, device, faults } = report;
    const position = isSound(report) ? report.position : null;
    return [
        file.name, report.verdict, String(report.exitCode), manifest?.id ?? "", manifest?.capturedAt ?? "", device?.name ?? "",
        device?.level ?? "", manifest?.keyId ?? "", metadata?.deviceModel ?? "", position?.latitude ?? "",
        position?.longitude ?? "", manifest?.depth ? `${manifest.depth.width}x${manifest.depth.height}` : "",
        String(report.bytes), withheldOf(report).join(" "),
        faults.map(({ code }) => code).join(" "),
    ];
}

const line = values => `${values.map(quoted).join(",")}\r\n`;

/** A spreadsheet would run a text that begins with one of these signs as a formula. */
function quoted(value) {
    let text = visible(value);
    if (/^[=+\-@]/.test(text) && !/^[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?$/.test(text)) text = `'${text}`;
    return /[",]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text;
}
