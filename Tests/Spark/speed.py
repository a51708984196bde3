"""The throughput of fetching and verifying at the same time, beside that of the slower of the two alone."""
import json
import os
import statistics
import subprocess
import time

from Kit.outcomes import ROOT, expect, long

from Spark.archive import rows
from Spark.store import COUNT, STORED, stored


@long
def throughput(archive):
    """Prints the ratio; with --measure it must be at least 0.7."""
    turns = 3 if archive.measures else 1
    env, folder = stored(archive)
    archive.listing(STORED, **env)
    words = [archive.binary, "verify", "--json", "--from0", "--trust", archive.trust]
    verifying = [verify_alone(archive, folder, words) for _ in range(turns)]
    job = archive.start(ROOT / "Tests/Spark/turns.py", "list.parquet", archive.folder / "turns", str(turns), *words,
                        "--jobs", "1", **env)
    done = archive.ended(job).must(0, about="turns.py")
    times = json.loads(done.out.splitlines()[-1])
    expect(all(one["bundles"] == [COUNT, COUNT] for one in times), f"{times}")
    expect(len(rows(archive.folder / f"turns/reports{turns - 1}")) == COUNT, "reports are missing")
    verifying += [verify_alone(archive, folder, words) for _ in range(turns)]
    verifying = statistics.median(verifying)
    ratios = [max(one["fetch"], verifying) / one["both"] for one in times]
    fetching, both = (statistics.median(one[name] for one in times) for name in ("fetch", "both"))
    print(f"{COUNT} bundles: fetching {fetching:.1f} s, verify of local files {verifying:.1f} s, both {both:.1f} s: throughput "
          f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) of the slower one's")
    expect(not archive.measures or statistics.median(ratios) >= 0.7, f"{ratios}")


def verify_alone(archive, folder, words):
    names = b"".join(os.fsencode(path) + b"\0" for path in archive.found(folder))
    began = time.monotonic()
    subprocess.run(words, input=names, stdout=subprocess.DEVNULL, env=archive.env)
    return time.monotonic() - began


TESTS = [("verifying while fetching", throughput)]
