#!/usr/bin/env python3
"""Lists the bundles below a folder or an S3 prefix with Spark, as Parquet with the columns `url` and `size`.

    spark-submit list_archive.py s3://archive/2026 list.parquet

Spark lists the folders directly below the first one side by side. Links are not followed. A folder that cannot be read ends
the job, because its bundles would be missing in the list.
"""
import argparse
import os

import fsspec
from pyspark.sql import SparkSession


def name_of(files, path):
    """Returns the URL of a file, or the path of a local one. Bytes that are not UTF-8 become \\x.., which no file has."""
    name = path if "file" in files.protocol else files.unstrip_protocol(path)
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def bundles(files, found):
    return [(name_of(files, one["name"]), one["size"]) for one in found
            if one["type"] == "file" and one["name"].endswith(".bundle")]


def main():
    parser = argparse.ArgumentParser(description="Lists the bundles of an archive.")
    parser.add_argument("archive", help="a folder that every worker sees, or the URL of one, such as s3://bucket/prefix")
    parser.add_argument("list", help="the Parquet to write")
    arguments = parser.parse_args()
    files, root = fsspec.core.url_to_fs(arguments.archive)
    if not files.isdir(root):
        parser.error(f"{arguments.archive} is not a folder, or cannot be read")
    found = files.ls(root, detail=True)
    folders = [one["name"] for one in found if one["type"] == "directory"]
    strict = {"on_error": "raise"} if "file" in files.protocol else {}  # other stores always raise errors
    spark = SparkSession.builder.appName("list archive").getOrCreate()
    inside = spark.sparkContext.parallelize(folders, max(1, len(folders))).flatMap(
        lambda folder: bundles(files, files.find(folder, detail=True, **strict).values()))
    rows = inside.union(spark.sparkContext.parallelize(bundles(files, found)))
    spark.createDataFrame(rows, "url string, size long").write.parquet(arguments.list)


if __name__ == "__main__":
    main()
