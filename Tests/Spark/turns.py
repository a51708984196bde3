"""A Spark job that fetches a list of bundles, and then verifies it as Samples/spark does, in turns. It prints the seconds
of each as JSON, without those in which Spark starts.

usage: spark-submit turns.py LIST FOLDER TURNS [capbundle's words...]
"""
import argparse
import collections
import json
import sys
import time

import verify_archive
from pyspark.sql import SparkSession


def fetch(part, limits):
    """Fetches a part as one group, so that it never waits for the end of another."""
    waiting = collections.deque(part)
    with verify_archive.scratch_folder(limits.scratch) as folder:
        yield len(verify_archive.fetch_group(waiting, folder, limits)[1])


def fetch_list(spark, limits):
    listed = spark.read.parquet(limits.list)
    parts = -(-listed.count() // limits.part)
    whole = argparse.Namespace(**vars(limits) | {"group": listed.count()})
    return listed.repartition(parts, "url").rdd.mapPartitions(lambda part: fetch(part, whole)).sum()


def main():
    listed, folder, turns, *command = sys.argv[1:]
    spark = SparkSession.builder.config("spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version", "2").getOrCreate()
    times = []
    for turn in range(int(turns)):  # the first turn, in which Python starts, begins with what should be fast
        limits = argparse.Namespace(list=listed, reports=f"{folder}/reports{turn}", scratch=f"{folder}/scratch", group=1000,
                                    group_bytes=256 << 20, part=2500, part_bytes=32 << 30)
        both = {"fetch": lambda: fetch_list(spark, limits), "both": lambda: verify_archive.verify_list(spark, limits, command)}
        took = {"bundles": []}
        for name, work in both.items() if turn % 2 else reversed(both.items()):
            began = time.monotonic()
            took["bundles"].append(work())
            took[name] = time.monotonic() - began
        times.append(took)
    print(json.dumps(times))


if __name__ == "__main__":
    main()
