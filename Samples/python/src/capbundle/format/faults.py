"""The codes of both pages of the specification with their exit classes, and the exception that carries one."""

from __future__ import annotations

from collections.abc import Iterable

EXIT_ORDER = (2, 1, 3, 4, 0)  # section 11: the worst class first
TRUST_FILE_EXIT = 78  # section 10, T0

CODES = {
    "C1": "container.truncated", "C2": "container.magic", "C3": "container.version", "C4": "container.header",
    "C5": "container.padding", "C6": "container.end", "C7": "container.trailing", "C8": "container.path",
    "C9": "container.duplicate", "C10": "container.order", "C11": "container.limit", "C12": "container.unlisted",
    "C13": "container.size", "C14": "container.missing",
    "M1": "manifest.canonical", "M2": "manifest.version", "M3": "manifest.key", "M4": "manifest.value",
    "M5": "manifest.device", "M6": "manifest.limit", "M7": "manifest.entries", "M8": "manifest.chain",
    "M9": "manifest.id",
    "D1": "depth.gzip", "D2": "depth.length", "D3": "depth.sha256",
    "E1": "metadata.canonical", "E2": "metadata.value", "E3": "metadata.location", "E4": "metadata.captured_at",
    "E5": "metadata.dimensions",
    "L1": "location.canonical", "L2": "location.value",
    "A1": "assertion.encoding", "A2": "assertion.der", "A3": "assertion.authdata", "A4": "assertion.flags",
    "A5": "assertion.low_s", "A6": "assertion.counter", "A7": "assertion.signature",
    "P1": "entry.sha256",
    "T0": "trust.file", "T1": "trust.level", "T2": "trust.rpid", "T3": "trust.not_yet_valid", "T4": "trust.expired",
    "T5": "trust.unknown", "T6": "trust.revoked",
    "R1": "policy.withheld", "R2": "policy.required",
    "H1": "chain.gap", "H2": "chain.fork", "H3": "chain.order", "K1": "counter.reused",
    "X1": "exif.time", "X2": "exif.model", "X3": "exif.orientation", "X4": "exif.size", "X5": "exif.position",
    # Codes of Spec/upload.md:
    "U1": "body.truncated", "U2": "body.boundary", "U3": "body.header", "U4": "body.limit", "U5": "body.delimiter",
    "U6": "body.size", "U7": "body.trailing", "U8": "body.metadata", "U9": "body.boundary",
    "Q1": "request.header", "Q2": "request.signature",
}

# A fault means malformed unless the specification says otherwise; for a request, 1 is the vectors' "refuse".
_CLASSES = {"A7": 1, "P1": 1, "T0": TRUST_FILE_EXIT, "T1": 4, "T2": 4, "T3": 4, "T4": 4, "T5": 3, "T6": 4,
            "R1": 4, "R2": 4, "H1": 4, "H2": 4, "H3": 4, "K1": 4, "Q1": 1, "Q2": 1,
            "X1": 4, "X2": 4, "X3": 4, "X4": 4, "X5": 4}
CLASS_OF_CODE = {code: _CLASSES.get(label, 2) for label, code in CODES.items()}

POSITION_WARNING = "metadata.position"  # section 6; never a fault


class Fault(Exception):
    """A broken rule: its label in the specification, and what was found."""

    def __init__(self, label: str, detail: str) -> None:
        super().__init__(label, detail)
        self.label = label
        self.code = CODES[label]
        self.exit_class = CLASS_OF_CODE[self.code]
        self.detail = detail


def worst(exit_classes: Iterable[int]) -> int:
    """Returns the verdict of several exit classes: the first one in section 11's order, or 0 for none."""
    found = set(exit_classes)
    if TRUST_FILE_EXIT in found:
        return TRUST_FILE_EXIT
    return next(one for one in EXIT_ORDER if one in found or one == 0)


def printable(value: object) -> str:
    """Returns text with everything except printable ASCII escaped, so that no bundle can control a terminal.

    The backslash is not escaped, so a second call changes nothing.
    """
    if isinstance(value, (bytes, bytearray)):
        value = bytes(value).decode("latin-1")
    out = []
    for character in str(value):
        code = ord(character)
        if 0x20 <= code <= 0x7E:
            out.append(character)
        else:
            out.append("\\x%02x" % code if code < 0x100 else "\\u{%x}" % code)
    text = "".join(out)
    return text if len(text) <= 200 else text[:200] + "..."
