#!/bin/sh
# resync 2.0.1, the Python client and library for ResourceSync (ANSI/NISO Z39.99, used to copy archives), reads
#   the lastmod of sitemaps. Dates are in the W3C format, whose note says that 1994-11-05T08:15:30-05:00
#   "corresponds to the same instant" as 1994-11-05T13:15:30Z.
# Expected: both are the same time, as Python's datetime.fromisoformat says.
# Seen: the zone is added where it must be taken off: the first becomes 03:15:30Z, ten hours too early, and is
#   written like this into every list made from it. Of two lists with one and the same resource,
#   compare() says that it was updated. No error. The client gives this time to the copied file. The
#   project's own tests ask for this ("2012-01-01T02:00:00.00-02:00" must equal "2012-01-01T00:00:00Z").
# Output:
#   1994-11-05T13:15:30Z: 1994-11-05T13:15:30Z, right
#   1994-11-05T08:15:30-05:00: 1994-11-05T03:15:30Z, -10 h
#   2026-01-02T03:04:05+02:00: 2026-01-02T05:04:05Z, +4 h
#   2026-01-02T03:04:05.050+05:30: 2026-01-02T08:34:05.050000Z, +11 h
#   the two of 1994: same 0, updated 1
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q resync==2.0.1
cd "$T"
"$T/v/bin/python" -W ignore - <<'P'
import datetime, sys
from resync.resource_list import ResourceList

def read(date):
    with open("list.xml", "w") as f:
        f.write(f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">
<rs:md capability="resourcelist" at="2026-01-03T00:00:00Z"/>
<url><loc>http://example.com/photo.jpg</loc><lastmod>{date}</lastmod><rs:md length="3"/></url></urlset>""")
    r = ResourceList()
    r.read("list.xml")
    return r
got = {}
for date in ("1994-11-05T13:15:30Z", "1994-11-05T08:15:30-05:00", "2026-01-02T03:04:05+02:00",
             "2026-01-02T03:04:05.050+05:30"):
    r = read(date)
    xml = r.as_xml()
    written = xml[xml.index("<lastmod>") + 9:xml.index("</lastmod>")]
    true = datetime.datetime.fromisoformat(date.replace("Z", "+00:00")).timestamp()
    hours = (list(r)[0].timestamp - true) / 3600
    got[date] = (written, f"{hours:+.0f} h" if hours else "right")
    print(f"{date}: " + ", ".join(got[date]))
same, updated, deleted, created = read("1994-11-05T13:15:30Z").compare(read("1994-11-05T08:15:30-05:00"))
got["compare"] = (len(same), len(updated))
print("the two of 1994: same {}, updated {}".format(*got["compare"]))
want = {"1994-11-05T13:15:30Z": ("1994-11-05T13:15:30Z", "right"),
        "1994-11-05T08:15:30-05:00": ("1994-11-05T03:15:30Z", "-10 h"),
        "2026-01-02T03:04:05+02:00": ("2026-01-02T05:04:05Z", "+4 h"),
        "2026-01-02T03:04:05.050+05:30": ("2026-01-02T08:34:05.050000Z", "+11 h"), "compare": (0, 1)}
if got != want:
    print("changed:", {k: (got.get(k), w) for k, w in want.items() if got.get(k) != w})
    sys.exit(1)
P
echo "as described"
