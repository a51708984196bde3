"""rfc8785: another implementation of RFC 8785 finds manifest and metadata canonical.

metadata.json keeps the characters of its numbers, so the tests use only numbers that RFC 8785 prints unchanged.
"""
import json

import rfc8785

from Judges.bench import SAMPLE, expect
from Judges.bodies import raw_folder

# The order by UTF-16 code units differs from the order of code points: there U+1F600 is d83d de00, before U+FB33. Names
# and control characters are from the example in RFC 8785 section 3.2.3.
ODD_MEMBERS = {
    "\ufb33": "Hebrew letter", "\U0001f600": "smile", "\u20ac": "Euro", "\r": "return", "1": "one", "\x80": "control",
    "\u00f6": "o with dots", "</script>": "tag", "numbers": [0, -1, 7, 4.5, 0.001, 1e21, 9007199254740991, -0.25],
    "text": "\u20ac$\x0f\nA'B\"\\\\\"/\u2028\x7f\b\t\f\x1f",
    "empty": {"": "", "a": [], "b": {}}, "": [None, True, False],
    "zz": {"b": {"d": 1, "c": 2}, "a": [{"y": 1, "x": 2}]},
}


def manifest(bench):
    for name, options in (("plain", ()), ("omitted", ("--location", "omit")), ("no-depth", ("--no-depth",))):
        data = bench.pack(name, SAMPLE, *options).manifest
        expect(rfc8785.dumps(json.loads(data)) == data, f"rfc8785 writes another manifest.json for {name}")


def metadata(bench):
    raw = raw_folder(bench, "raw-odd")
    fields = json.loads((raw / "metadata.json").read_text())
    fields.update(ODD_MEMBERS)
    fields["camera"]["focal_length_px"] = 790  # the sample's 790.0 is kept as it is; RFC 8785 would shorten it to 790
    backwards = dict(reversed(sorted(fields.items())))
    (raw / "metadata.json").write_text(json.dumps(backwards, indent=3, ensure_ascii=True))
    fields.pop("location")
    data = bench.pack("odd", raw).entries["metadata.json"]
    expect(data == rfc8785.dumps(fields), "metadata.json differs from what rfc8785 writes")


TESTS = [
    ("rfc8785 writes the same manifest.json", manifest),
    ("rfc8785 writes the same metadata.json from odd names, escapes and numbers", metadata),
]
