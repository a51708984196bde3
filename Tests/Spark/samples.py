"""An archive in folders: what Samples/spark and Samples/parallel.sh find in it."""
import collections
import os
import shutil

import pyarrow
from Kit.outcomes import ROOT, expect

from Spark.archive import agree, parts, rows

MISSING = 3


def folder(archive):
    """Each bundle has a row with the report of capbundle verify, and the rows add up to what the archive was made of."""
    archive.listing(archive.bundles)
    archive.verify("folder", "--part", "40", "--group", "15").must(0, about="verify_archive.py")
    found = rows(archive.folder / "folder")
    agree(found, {str(path): report for path, report in archive.judged(archive.found(archive.bundles)).items()})
    verdicts = collections.Counter(row["verdict"] for row in found.values())
    faults = collections.Counter(code for row in found.values() for code in row["faults"])
    devices = collections.Counter((row["key_id"], row["verdict"]) for row in found.values() if row["key_id"])
    wanted = (archive.verdicts, archive.faults, archive.devices)
    expect((verdicts, faults, devices) == wanted, f"{verdicts}, {faults}, {devices}, expected {wanted}")
    expect(not list((archive.folder / "scratch").iterdir()), "scratch was not emptied")


def list_with_paths(archive):
    """A Parquet file of others with paths: some twice, some of files that are missing, one not UTF-8, one empty."""
    odd = os.fsencode(archive.folder / "odd") + b"/\xff.bundle"
    os.mkdir(os.path.dirname(odd))
    shutil.copy(archive.found(archive.bundles / "kind0")[0], odd)
    archive.listing(archive.folder / "odd")
    listed = [row for part in parts(archive.folder / "list.parquet")
              for row in pyarrow.parquet.read_table(part)["url"].to_pylist()]
    sound = [str(path) for path in archive.found(archive.bundles / "kind1")]
    bad = [str(archive.folder / f"missing{number}") for number in range(MISSING)] + listed
    expect(listed == [os.fsdecode(odd).encode(errors="surrogateescape").decode(errors="backslashreplace")], f"{listed}")
    table = pyarrow.table({"path": [*sound, *sound[:7], None, *bad]})
    pyarrow.parquet.write_table(table, archive.folder / "paths.parquet")
    archive.verify("paths", listed="paths.parquet").must(0, about="verify_archive.py")
    found = rows(archive.folder / "paths")
    failed = {url: found.pop(url, {}).get("error") for url in bad}
    expect(all(error and error.startswith("FileNotFoundError: ") for error in failed.values()), f"{failed}")
    agree(found, {str(path): report for path, report in archive.judged(archive.found(archive.bundles / "kind1")).items()})


def broken_trust(archive):
    """A tool that cannot do its work must not look like an archive without bundles."""
    (archive.folder / "broken-trust").write_text("no line of a trust file\n")
    archive.listing(archive.bundles)
    done = archive.spark("verify_archive.py", "list.parquet", "broken", "scratch", "--", "--trust", "broken-trust")
    expect(done.code == 1 and b"RuntimeError: capbundle: exit 78 after 0 of" in done.out, f"exit {done.code}: {done.text}")
    expect(not rows(archive.folder / "broken"), "reports were written")


def no_folder(archive):
    done = archive.spark("list_archive.py", archive.folder / "nowhere", "nothing.parquet").must(2)
    expect(b"nowhere is not a folder" in done.out, f"{done.out}")


def parallel_counts(archive):
    done = archive.call(ROOT / "Samples/parallel.sh", archive.bundles, "--trust", archive.trust).must(0, about="parallel.sh")
    found = {name: int(count) for count, name in (line.split() for line in done.out.decode().splitlines())}
    expect(found == archive.verdicts | archive.faults, f"parallel.sh counts {found}")


def parallel_fails(archive):
    archive.call(ROOT / "Samples/parallel.sh", archive.bundles, "--trust", "missing").must(1).naming("0 reports")


TESTS = [("spark: a folder", folder), ("spark: a list with paths", list_with_paths),
         ("spark: a broken trust file fails the job", broken_trust), ("spark: a missing folder is named", no_folder),
         ("parallel: counts of verdicts and faults", parallel_counts),
         ("parallel: a missing trust file is named", parallel_fails)]
