"""What must be true of a queue whatever happened to it (Spec/queue.md section 1)."""
import hashlib
import json
import re

from Kit.outcomes import expect
from Kit.queues import KNOWN, ids

# No message shows internals: SQL, SQLite's own messages, stacks. (`[a-z]+ ... in` would match prose.)
INNER = re.compile(r"\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|PRAGMA|SQLITE_\w+|SQLite error|GRDB|DatabaseError"
                   r"|database is locked|database disk image|Fatal error|Swift/|at 0x)")


def words_for_people(result, lines=4, about="a message", tool="capqueue"):
    """Checks that standard error has few lines, each with the tool's name, and shows no internals."""
    text = result.text
    expect(not INNER.search(text), f"{about}: shows the inside: {text[:300]!r}")
    expect(len(text.splitlines()) <= lines, f"{about}: a storm of messages: {text[:300]!r}")
    for line in text.splitlines():
        expect(line.startswith((f"{tool}: ", "Error: ", "Usage: ")), f"{about}: a line without a name: {line!r}")
    return result


def refused(result, *codes, about=""):
    """Checks that the command failed with a message, and printed no id."""
    result.must(*codes, about=about)
    expect(result.text.startswith("capqueue: error: "), f"{about}: no error message: {result.text[:200]!r}")
    expect(not result.out, f"{about}: prints {result.out[:100]!r}")
    return words_for_people(result, about=about)


def holds(rig, *bundles, rows=None, about=""):
    """Checks that the queue has these captures with exactly their bytes."""
    rows = rig.rows(about=about) if rows is None else rows
    for bundle in bundles:
        row = rows.get(bundle.id)
        expect(row is not None, f"{about}: {bundle.id} is not listed")
        expect(row["sha256"] == bundle.sha256, f"{about}: {bundle.id} is listed with another hash")
        if row["holding"] == "reference":
            expect(bundle.path.exists() or row.get("path"), f"{about}: a reference without a path")
            continue
        expect(row["holding"] == "spool", f"{about}: {bundle.id} is {row['holding']}")
        path = rig.spool_file(bundle)
        expect(path.exists(), f"{about}: a row without its bytes: {bundle.id}")
        expect(path.read_bytes() == bundle.data, f"{about}: other bytes under the hash of {bundle.id}")


def gives(rig, *bundles, about=""):
    """Checks that `get` returns exactly the pushed bytes."""
    for bundle in bundles:
        out = rig.run("get", bundle.id, "-o", "-").must(0, about=f"{about}: get").out
        expect(out == bundle.data, f"{about}: get gives other bytes for {bundle.id}")


def rows_have_bytes(rig, about=""):
    """Checks that each row whose holding is `spool` has a complete file and a sidecar, and no two rows have one file."""
    rows = rig.rows(about=about)
    for row in rows.values():
        if row["holding"] == "spool":
            path = rig.queue / "spool" / row["sha256"][:2] / f"{row['sha256']}.bundle"
            expect(path.exists(), f"{about}: a row without its bytes: {row['id']}")
            expect(hashlib.sha256(path.read_bytes()).hexdigest() == row["sha256"], f"{about}: {path.name} is not whole")
            sidecar = json.loads(path.with_suffix(".json").read_bytes())
            expect(sidecar["sha256"] == row["sha256"] and sidecar["id"] == row["id"], f"{about}: another's sidecar")
    hashes = [row["sha256"] for row in rows.values()]
    expect(len(set(hashes)) == len(hashes), f"{about}: something is held twice")
    return rows


def findings(result):
    """Returns the findings of `check --json`, without its summary."""
    lines = [json.loads(line) for line in result.out.splitlines()]
    return [line for line in lines if line["kind"] != "summary"]


def check_says(rig, *codes, options=("--read-data",), about="check"):
    result = rig.run("check", *options, "--json").must(*codes, about=about)
    words_for_people(result, lines=20, about=about)
    return findings(result)


def only_strays(rig, about="check"):
    """Returns the files without rows that `check` finds, except in incoming/; it must find nothing else."""
    found = check_says(rig, 0, 15, about=about)
    strays = [finding for finding in found if "stray" in finding["kind"]]
    for finding in found:
        is_left_over = finding["kind"] == "leftover" and f"{rig.queue}/incoming/" in finding["path"]
        expect(finding in strays or is_left_over, f"{about}: finds {finding}")
    return strays


def clean(rig, about="at the end"):
    """Checks that `check --read-data` finds nothing, nothing is left over, and rows and spool agree."""
    found = check_says(rig, 0, about=about)
    # A killed change of the settings leaves a file that check reports and removes at once.
    open_ones = [finding for finding in found if not (finding["kind"] == "leftover" and finding["repaired"])]
    expect(not open_ones, f"{about}: check finds {found} and answers 0")
    nothing_left_over(rig, about)
    rows = rows_have_bytes(rig, about)
    held = {f"{row['sha256']}.bundle" for row in rows.values() if row["holding"] == "spool"}
    spooled = {path.name for path in rig.queue.glob("spool/*/*.bundle")}
    expect(spooled == held, f"{about}: the spool holds {len(spooled)} bundles, the rows say {len(held)}")
    used = sum(path.stat().st_size for path in rig.queue.glob("spool/*/*.bundle"))
    (counted,), = rig.query("SELECT bytes FROM usage")
    expect(counted == used, f"{about}: {counted} bytes are counted, the spool holds {used}")
    kept = rig.query("SELECT * FROM delivery_totals WHERE deliveries <> 0 ORDER BY 1, 2")
    counted = rig.query("SELECT coalesce(destination, 0), deliveries.state, count(*), sum(bytes) FROM deliveries "
                        "JOIN captures ON seq = capture GROUP BY 1, 2 ORDER BY 1, 2")
    expect(kept == counted, f"{about}: the totals of deliveries are {kept}, the rows have {counted}")
    return rows


def nothing_left_over(rig, about=""):
    """Checks that there is no temporary name, no file in `incoming`, and no sidecar without a bundle or a reference."""
    odd = [name for name in rig.names() if not KNOWN.fullmatch(name)]
    expect(not odd, f"{about}: leaves {odd}")


def pushes(rig, *bundles, options=(), about="pushed again"):
    """Checks that a push of these bundles, stored or not, succeeds and prints their ids."""
    result = rig.run("push", *options, *(bundle.path for bundle in bundles)).must(0, about=about)
    expect(ids(result) == [bundle.id for bundle in bundles], f"{about}: prints {result.out[:200]!r}")
    return result
