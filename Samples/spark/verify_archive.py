#!/usr/bin/env python3
"""Verifies the bundles of a list with Spark, and writes a row about each as Parquet. README.md says how to use it.

    spark-submit verify_archive.py list.parquet reports /var/tmp/scratch -- --trust trusted_devices

A task takes one part of the list and writes one Parquet file. It fetches a group of bundles while one capbundle process
verifies the group before.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import errno
import fcntl
import functools
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import fsspec
from pyspark.sql import SparkSession, functions

SCHEMA = ("url string, verdict string, faults array<string>, error string, bytes long, id string, captured_at string, "
          "key_id string, report string")
FINISHED = {0, 1, 2, 3, 4, 66, 74}  # a verdict, or a file that could not be read, which the report mentions
STREAMS = 16  # bundles that a task fetches at a time
OURS = "verify-archive-"  # the names of the folders that tasks make, and remove, begin so


@contextlib.contextmanager
def locked(folder, how=fcntl.LOCK_EX):
    """Holds the lock of a folder, which the kernel releases when the process is killed."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, how)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def scratch_folder(parent):
    """Makes a folder for this task, and first removes the folders of tasks that were killed: they are not locked."""
    os.makedirs(parent, mode=0o700, exist_ok=True)
    with contextlib.ExitStack() as ours:
        with locked(parent):
            for left in pathlib.Path(parent).glob(f"{OURS}*"):
                # Another task may be deleting its own at this moment.
                with contextlib.suppress(BlockingIOError, FileNotFoundError), locked(left, fcntl.LOCK_EX | fcntl.LOCK_NB):
                    shutil.rmtree(left)
            folder = tempfile.mkdtemp(prefix=OURS, dir=parent)
            ours.enter_context(locked(folder))
            ours.callback(shutil.rmtree, folder)
        yield folder


def fetch(url, path):
    """Returns the path of a bundle on this machine: that of its copy, or its own."""
    scheme = re.match("([a-z][a-z0-9+.-]*)://", url)
    if not scheme:
        return url
    fsspec.filesystem(scheme[1]).get_file(url, path)
    return path


def fetch_group(waiting, folder, limits):
    """Fetches waiting bundles until they are enough, by count or bytes. Returns their folder, and the URL, path and
    error of each."""
    group, sizes, numbers, folder = [], [], itertools.count(), tempfile.mkdtemp(dir=folder)

    def stream(_):
        while len(group) < limits.group and sum(sizes) < limits.group_bytes:
            try:
                url, size = waiting.popleft()
            except IndexError:
                return
            sizes.append(size or 0)
            path, error = f"{folder}/{next(numbers)}", None
            try:
                path = fetch(url, path)
                sizes.append(0 if size else os.path.getsize(path))
            except Exception as reason:  # each library has its own
                if getattr(reason, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
                    raise  # it is the fault of this machine
                error = f"{type(reason).__name__}: {reason}"
            group.append((url, path, error))

    with concurrent.futures.ThreadPoolExecutor(STREAMS) as pool:
        list(pool.map(stream, range(STREAMS)))
    return folder, group


def verify_group(folder, group, command):
    """Yields a row for each bundle. Raises an error if capbundle did not process all, so that Spark repeats the part."""
    yield from ((url, None, [], error, *[None] * 5) for url, _, error in group if error)
    fetched = [(url, path) for url, path, error in group if not error]
    if fetched:
        names = b"".join(path.encode() + b"\0" for _, path in fetched)
        tool = subprocess.run(command, input=names, stdout=subprocess.PIPE)
        lines = tool.stdout.splitlines()
        if tool.returncode not in FINISHED or len(lines) != len(fetched):
            raise RuntimeError(f"capbundle: exit {tool.returncode} after {len(lines)} of {len(fetched)} bundles")
        yield from (row(url, json.loads(line)) for (url, _), line in zip(fetched, lines))
    shutil.rmtree(folder)


def row(url, report):
    report["file"] = url
    bundle, error = report.get("bundle", {}), report.get("error")
    return (url, report.get("verdict"), sorted({fault["code"] for fault in report.get("faults", [])}),
            error and f"{error['code']}: {error['message']}", report.get("bytes"), bundle.get("id"),
            bundle.get("captured_at"), report.get("device", {}).get("key_id"),
            json.dumps(report, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def verify(part, limits, command):
    """Yields the rows about the bundles of one part."""
    waiting = collections.deque(part)
    with scratch_folder(limits.scratch) as folder, concurrent.futures.ThreadPoolExecutor(1) as ahead:
        begin = functools.partial(ahead.submit, fetch_group, waiting, folder, limits)
        try:
            fetching = begin()
            while (fetched := fetching.result())[1]:
                fetching = begin()
                yield from verify_group(*fetched, command)
        finally:
            waiting.clear()  # after an error, nothing more is fetched


def verify_list(spark, limits, command):
    """Writes the missing reports on the bundles of a list, and returns how many there are."""
    spark.createDataFrame([], SCHEMA).write.mode("ignore").parquet(limits.reports)
    listed = spark.read.parquet(limits.list)
    url = listed["url" if "url" in listed.columns else "path"].alias("url")
    size = (listed["size"] if "size" in listed.columns else functions.lit(None)).cast("long").alias("size")
    done = spark.read.schema(SCHEMA).parquet(limits.reports).select("url")
    todo = listed.select(url, size).where("url is not null").dropDuplicates(["url"]).join(done, "url", "left_anti")
    count, total = todo.agg(functions.count("*"), functions.coalesce(functions.sum("size"), functions.lit(0))).first()
    parts = max(-(-count // limits.part), -(-total // limits.part_bytes))
    if parts:
        rows = todo.repartition(parts, "url").rdd.mapPartitions(lambda part: verify(part, limits, command))
        spark.createDataFrame(rows, SCHEMA, verifySchema=False).write.mode("append").parquet(limits.reports)
    return count


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"is {number}, expected at least 1")
    return number


def main():
    parser = argparse.ArgumentParser(description="Verifies an archive of bundles with Spark.",
                                     epilog="Options of capbundle verify follow after --.")
    parser.add_argument("list", help="Parquet with a column url or path, and perhaps size")
    parser.add_argument("reports", help="the folder of Parquet files; bundles that have a row in it are left out")
    parser.add_argument("scratch", help="a folder on each worker's own disk")
    parser.add_argument("--capbundle", default="capbundle", help="the tool, under its name on the workers")
    parser.add_argument("--group", type=positive, default=1000, help="bundles that are fetched ahead (default: 1000)")
    parser.add_argument("--group-bytes", type=positive, default=256 << 20, help="or bytes (default: 256 MiB)")
    parser.add_argument("--part", type=positive, default=10_000, help="bundles of a task and file (default: 10000)")
    parser.add_argument("--part-bytes", type=positive, default=32 << 30, help="or bytes (default: 32 GiB)")
    end = (sys.argv + ["--"]).index("--")
    limits = parser.parse_args(sys.argv[1:end])
    limits.scratch = os.path.abspath(limits.scratch)
    # With version 2 the file of each task appears in `reports`, under its final name, when the task ends.
    spark = SparkSession.builder.appName("verify archive").config(
        "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version", "2").getOrCreate()
    # Spark runs a task on each core, so each process verifies one bundle at a time.
    command = [limits.capbundle, "verify", "--json", "--from0", "--jobs", "1", *sys.argv[end + 1:]]
    print(f"wrote reports on {verify_list(spark, limits, command)} bundles")


if __name__ == "__main__":
    main()
