#!/bin/sh
# python-xmp-toolkit 2.1.0 with Exempi 2.6.3 (Debian 12): get_property_datetime and set_property_datetime, against
#   get_property, which gives the text, and Python's datetime.fromisoformat.
# Expected: the date that stands in the XMP, as the doc string says: "datetime.datetime instance".
# Seen: every nanosecond of a fraction counts as a millisecond: .5 s becomes 5 days, 18 hours, 53 minutes and
#   20 seconds, .007 s almost two hours. The zone is added where it must be taken off (issue 48 of the project says so
#   since 2016; it is closed, this version still does it). set_property_datetime drops the fraction and writes UTC
#   without a zone, which XMP readers take as local time. No error.
# Output:
#   2026-01-02T03:04:05Z: right
#   2026-01-02T03:04:05.5Z: 2026-01-07 21:57:25+00:00
#   2026-01-02T03:04:05.007Z: 2026-01-02 05:00:45+00:00
#   2026-01-02T03:04:05+05:30: 2026-01-02 08:34:05+00:00
#   2026-01-02T03:04:05.500+05:30: 2026-01-08 03:27:25+00:00
#   written: 2026-01-02 03:04:05.500000+05:30 as 2026-01-01T21:34:05
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T"
apt-get -qq -o APT::Sandbox::User=root download libexempi8=2.6.3-1
dpkg -x libexempi8_*.deb x
python3 -m venv v
v/bin/pip install -q python-xmp-toolkit==2.1.0 pytz==2026.6
v/bin/python - <<'P'
import ctypes.util, datetime, glob, sys

(lib,) = glob.glob("x/usr/lib/*/libexempi.so.8")
find = ctypes.util.find_library
ctypes.util.find_library = lambda name: "./" + lib if "exempi" in name else find(name)
from libxmp import XMPMeta, consts

got = {}
for text in ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.5Z", "2026-01-02T03:04:05.007Z",
             "2026-01-02T03:04:05+05:30", "2026-01-02T03:04:05.500+05:30"):
    m = XMPMeta()
    m.parse_from_str(f"""<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:CreateDate="{text}"/>
</rdf:RDF></x:xmpmeta>""")
    assert m.get_property(consts.XMP_NS_XMP, "CreateDate") == text
    date = m.get_property_datetime(consts.XMP_NS_XMP, "CreateDate")
    right = datetime.datetime.fromisoformat(text)  # Python 3.11 reads all of these
    got[text] = "right" if date == right else str(date)
    print(f"{text}: {got[text]}")
date = datetime.datetime.fromisoformat("2026-01-02T03:04:05.500+05:30")
m = XMPMeta()
m.set_property_datetime(consts.XMP_NS_XMP, "CreateDate", date)
got["written"] = m.get_property(consts.XMP_NS_XMP, "CreateDate")
del m
print(f"written: {date} as {got['written']}")
want = {"2026-01-02T03:04:05Z": "right", "2026-01-02T03:04:05.5Z": "2026-01-07 21:57:25+00:00",
        "2026-01-02T03:04:05.007Z": "2026-01-02 05:00:45+00:00",
        "2026-01-02T03:04:05+05:30": "2026-01-02 08:34:05+00:00",
        "2026-01-02T03:04:05.500+05:30": "2026-01-08 03:27:25+00:00", "written": "2026-01-01T21:34:05"}
if got != want:
    print("changed:", {k: (got.get(k), w) for k, w in want.items() if got.get(k) != w})
    sys.exit(1)
P
echo "as described"
