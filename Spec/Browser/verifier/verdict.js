// Verdicts and exit codes: sections 1 and 11.

const CLASSES = { "entry.sha256": 1, "assertion.signature": 1, "trust.unknown": 3 };
const WORDS = ["verified", "altered", "malformed", "unknown-device", "unacceptable"];
const WORST_FIRST = [2, 1, 3, 4, 0];

const classOf = code => CLASSES[code] ?? (/^(?:trust|policy|exif)\./.test(code) ? 4 : 2);

/** The worst class of the faults, and its word. */
export function verdictOf(faults) {
    const found = new Set(faults.map(({ code }) => classOf(code)));
    const exitCode = WORST_FIRST.find(one => found.has(one)) ?? 0;
    return { exitCode, verdict: WORDS[exitCode] };
}
