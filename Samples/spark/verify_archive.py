#!/usr/bin/env python3
"""Verifies an archive of bundles with Spark, and counts the bundles of each verdict, device and fault.

    find /archive -name '*.bundle' -print0 >names
    spark-submit Samples/spark/verify_archive.py names summary.json --trust trusted_devices

Each partition is one capbundle process that reads its names from standard input and prints a line of JSON for each
bundle. The bundles themselves do not pass through Spark. Every worker needs capbundle, the trust file and the archive
at the same paths.
"""
import argparse
import collections
import json
import operator
import subprocess
import tempfile

from pyspark.sql import SparkSession

FINISHED = {0, 1, 2, 3, 4, 66, 74}  # a verdict, or a file that could not be read, which the report mentions


def verify(names, capbundle, options):
    """Yields the reports on some files, in their order. Raises an error if capbundle did not process all of them, so
    that Spark tries the partition again and no report is missing from the summary."""
    names = list(names)
    if not names:
        return
    with tempfile.TemporaryFile() as listed:
        listed.write(b"".join(name + b"\0" for name in names))
        listed.seek(0)
        # Spark runs a partition on each core, so each process verifies one bundle at a time.
        command = [capbundle, "verify", "--json", "--from0", "--jobs", "1", *options]
        with subprocess.Popen(command, stdin=listed, stdout=subprocess.PIPE) as tool:
            count = 0
            for line in tool.stdout:
                count += 1
                yield json.loads(line)
    if tool.returncode not in FINISHED or count != len(names):
        raise RuntimeError(f"capbundle: exit {tool.returncode} after {count} of {len(names)} files")


def findings(report):
    """Returns the keys that a report is counted under."""
    if "error" in report:
        return [("verdict", "unreadable"), ("fault", report["error"]["code"])]
    verdict, device = report["verdict"], report.get("device", {})
    found = [("verdict", verdict)] + [("fault", code) for code in sorted({fault["code"] for fault in report["faults"]})]
    # A bundle only claims its key id: the device is trusted only if the verdict is "verified".
    return found + [("device", device["key_id"], verdict)] if device else found


def summary(counts):
    devices = collections.defaultdict(dict)
    for (kind, name, *verdict), count in counts:
        if kind == "device":
            devices[name][verdict[0]] = count
    return {"bundles": sum(count for key, count in counts if key[0] == "verdict"),
            "verdicts": {key[1]: count for key, count in counts if key[0] == "verdict"},
            "faults": {key[1]: count for key, count in counts if key[0] == "fault"},
            "devices": devices}


def main():
    parser = argparse.ArgumentParser(description="Verifies an archive of bundles with Spark.")
    parser.add_argument("names", help="a file with the bundles' names, each ended by NUL (find -print0)")
    parser.add_argument("summary", help="the JSON file to write")
    parser.add_argument("--trust", help="the trust file, under its name on the workers")
    parser.add_argument("--capbundle", default="capbundle", help="the tool, under its name on the workers")
    parser.add_argument("--partition", type=int, default=1000, metavar="N", help="bundles a process (default: 1000)")
    arguments = parser.parse_args()
    with open(arguments.names, "rb") as file:
        names = [name for name in file.read().split(b"\0") if name]
    options = ["--trust", arguments.trust] if arguments.trust else []
    tool, partitions = arguments.capbundle, max(1, -(-len(names) // arguments.partition))
    session = SparkSession.builder.appName("verify archive").getOrCreate()
    reports = session.sparkContext.parallelize(names, partitions).mapPartitions(lambda some: verify(some, tool, options))
    counts = reports.flatMap(findings).map(lambda found: (found, 1)).reduceByKey(operator.add, 8).collect()
    session.stop()
    with open(arguments.summary, "w") as file:
        json.dump(summary(counts), file, indent=2, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main()
