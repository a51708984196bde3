// The words of `capbundle verify`.

import { visible } from "./dom.js";

/** Kinds of results, the worst first, as exit codes are ordered. The tone decides colour and shape of the sign. */
export const KINDS = {
    "unreadable": { words: "not readable", tone: "bad", meaning: "This page gives no verdict on the file." },
    "malformed": {
        words: "MALFORMED", tone: "bad", meaning: "The file is not a bundle of a version that this page knows.",
    },
    "altered": {
        words: "ALTERED", tone: "bad", meaning: "Something was changed after signing, or was never signed.",
    },
    "unknown-device": {
        words: "sound, but the device is unknown", tone: "doubtful",
        meaning: "Nothing was changed since the bundle was signed. But anyone can make such a bundle: you have not said "
            + "that you trust this key.",
    },
    "unacceptable": {
        words: "not acceptable", tone: "doubtful",
        meaning: "Nothing was changed since the bundle was signed. But one of your rules refuses it.",
    },
    "withheld": {
        words: "verified, entries withheld", tone: "doubtful",
        meaning: "Every byte that is here is as it was when a holder of this device's key signed. The trust file that you "
            + "chose names this key. Some entries are not here.",
    },
    "verified": {
        words: "verified", tone: "good",
        meaning: "Every byte that is here is as it was when a holder of this device's key signed. The trust file that you "
            + "chose names this key.",
    },
};

export const withheldOf = ({ entries }) => entries.filter(({ status }) => status === "withheld").map(({ path }) => path);

/** The kind of a result; there is no report if the file cannot be read. */
export function kindOf({ report }) {
    if (!report) return "unreadable";
    return report.verdict === "verified" && withheldOf(report).length > 0 ? "withheld" : report.verdict;
}

const EXPLANATIONS = {
    trust: "trust: not checked, because the bundle has no valid signature",
    counter: "the counter: not compared with earlier ones, so a replay is not detected",
    time: "the time: the device claims it, and no time stamp proves it: this page checks none",
    scene: "the scene: a signature shows which key signed, not what was in front of the lens",
    chain: "the chain: the captures before and after this one were not checked",
};

export const explanation = topic => EXPLANATIONS[topic];

export const finding = ({ entry, message, code }) => visible(`${entry ? `${entry}: ` : ""}${message} [${code}]`);

const signer = ({ name, level }) => `${name} (${level})`;

/** The verdict line, such as `verified, signed by desk-lamp (software), withheld: photo.jpg`. */
export function verdictLine(report) {
    const { verdict, device, faults } = report;
    const isNamed = device && (verdict === "verified" || verdict === "unacceptable");
    const names = withheldOf(report);
    const isAccepted = ["verified", "unknown-device"].includes(verdict) && names.length > 0
        && !faults.some(({ code }) => code === "policy.withheld");
    return KINDS[verdict].words + (isNamed ? `, signed by ${signer(device)}` : "")
        + (isAccepted ? `, withheld: ${names.join(", ")}` : "");
}

/** What the rule for withheld entries does to a sound bundle; null if nothing is withheld, or if something else is wrong. */
export function withholding(report) {
    const { faults } = report;
    const names = withheldOf(report);
    if (names.length === 0) return null;
    const isRefused = ({ code }) => code === "policy.withheld";
    if (!faults.some(isRefused)) return `Withheld entries, which you chose to accept: ${names.join(", ")}.`;
    return faults.every(isRefused)
        ? "Nothing else is wrong. To accept the bundle without these entries, check “Accept bundles with withheld entries”."
        : null;
}

/** Who signed the facts of a damaged bundle. */
export function origin({ verdict, manifest, isGenuine, device, entries }) {
    if (!["altered", "malformed"].includes(verdict) || !manifest) return [];
    if (!isGenuine) return ["no valid signature: anyone could have written this"];
    const replaced = entries.filter(({ status }) => status === "altered").map(({ path }) => path);
    const line = `the manifest is genuine, signed by ${device ? signer(device) : "a device that you do not trust"}`;
    return replaced.length > 0 ? [`replaced after signing: ${replaced.join(", ")}`, line] : [line];
}

/** A rounded size in powers of 1000: `999 bytes`, `1.5 kB`, `78.6 GB`. */
export function size(bytes) {
    if (bytes < 1000) return `${bytes} byte${bytes === 1 ? "" : "s"}`;
    const units = ["kB", "MB", "GB", "TB"];
    let [value, unit] = [bytes / 1000, 0];
    for (; value >= 999.95 && unit < units.length - 1; unit++) value /= 1000;
    return `${value.toFixed(1)} ${units[unit]}`;
}
