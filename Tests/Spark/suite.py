"""The samples for large archives: Spark and GNU parallel. `.ci/environment Spark` makes the Python that runs them."""
import contextlib
import shutil
import sys

from Spark.archive import PROGRAMS as SCRIPTS
from Spark.archive import SAMPLES, Archive

PROGRAMS = ("capbundle",)
FLAGS = {"measure": "fail if verifying while fetching has less than 0.7 of the throughput of the slower of the two alone"}
sys.path.append(str(SAMPLES))


@contextlib.contextmanager
def bench(options, folder):
    archive = Archive(options.capbundle, folder)
    archive.measures = options.measure
    try:
        yield archive
    finally:  # a local cluster leaves the folders of its workers beside its programs
        for left in SCRIPTS.parent.glob("lib/python*/site-packages/pyspark/work"):
            shutil.rmtree(left)
