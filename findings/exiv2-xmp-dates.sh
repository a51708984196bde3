#!/bin/sh
# Exiv2 0.28.8 (pyexiv2 2.16.0) reads an XMP sidecar and makes EXIF of it. (By hand: Debian 12's exiv2 0.27.6 does the
#   same, also with "exiv2 -iX", which writes it into the photo.)
# Expected: photoshop:DateCreated becomes DateTimeOriginal and SubSecTimeOriginal, whose digits stand behind the
#   decimal point. XMP allows dates such as 1920 and 1920-05; EXIF does not, so they are left out, or become
#   the start of that time. GPSTimeStamp of EXIF is UTC.
# Seen: SubSecTimeOriginal is the number of nanoseconds without its leading zeros: .05 s is read as .5 s, .007 s as
#   .7 s, also by Exiv2 when it makes XMP of it again. A missing month or day counts as 0 and is carried: 1920 is
#   November 1919. In a GPS time with a fraction, 4 min 5 s becomes 245/60 min, and its zone is dropped.
#   (Known, Exiv2 issue 2083: other dates are converted to the zone of the machine.)
# Output:
#   2026-01-02T03:04:05.05: 2026:01:02 03:04:05, subsec 50000000, back in XMP 2026-01-02T03:04:05.50000000
#   2026-01-02T03:04:05.007: 2026:01:02 03:04:05, subsec 7000000, back in XMP 2026-01-02T03:04:05.7000000
#   1920: 1919:11:30 00:00:00, subsec None, back in XMP 1919-11-30T00:00:00
#   1920-05: 1920:04:30 00:00:00, subsec None, back in XMP 1920-04-30T00:00:00
#   GPS 2026-01-02T03:04:05.5+05:30: 2026:01:02, 3/1 245/60 500000000/1000000000
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q pyexiv2==2.16.0
cd "$T"
TZ=UTC "$T/v/bin/python" - <<'P'
import sys
import pyexiv2

S = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
xmlns:exif="http://ns.adobe.com/exif/1.0/" %s="%s"/></rdf:RDF></x:xmpmeta>"""
pyexiv2.set_log_level(4)
got = {}
def exif(name, date):
    with open("photo.xmp", "w") as f:
        f.write(S % (name, date))
    with pyexiv2.Image("photo.xmp") as i:
        return i.read_exif()
for date in ("2026-01-02T03:04:05.05", "2026-01-02T03:04:05.007", "1920", "1920-05"):
    e = exif("photoshop:DateCreated", date)
    got[date] = (e["Exif.Photo.DateTimeOriginal"], e.get("Exif.Photo.SubSecTimeOriginal"),
                 pyexiv2.convert_exif_to_xmp(e)["Xmp.photoshop.DateCreated"])
    print("{}: {}, subsec {}, back in XMP {}".format(date, *got[date]))
date = "2026-01-02T03:04:05.5+05:30"
e = exif("exif:GPSTimeStamp", date)
got[date] = (e["Exif.GPSInfo.GPSDateStamp"], e["Exif.GPSInfo.GPSTimeStamp"])
print(f"GPS {date}: " + ", ".join(got[date]))
want = {"2026-01-02T03:04:05.05": ("2026:01:02 03:04:05", "50000000", "2026-01-02T03:04:05.50000000"),
        "2026-01-02T03:04:05.007": ("2026:01:02 03:04:05", "7000000", "2026-01-02T03:04:05.7000000"),
        "1920": ("1919:11:30 00:00:00", None, "1919-11-30T00:00:00"),
        "1920-05": ("1920:04:30 00:00:00", None, "1920-04-30T00:00:00"),
        date: ("2026:01:02", "3/1 245/60 500000000/1000000000")}
if got != want:
    print("changed:", {k: (got.get(k), w) for k, w in want.items() if got.get(k) != w})
    sys.exit(1)
P
echo "as described"
