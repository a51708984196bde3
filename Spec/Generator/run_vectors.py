#!/usr/bin/env python3
"""Runs every vector of Spec/Vectors through verify.py, from a file and from a pipe, and compares with its header."""

import io
import json
import os
import sys
import tempfile
import threading

import vector
import verify


def from_pipe(data, run):
    """Calls run with a pipe's reading end that another thread feeds."""
    read_end, write_end = os.pipe()

    def feed():
        try:
            with open(write_end, "wb") as file:
                file.write(data)
        except BrokenPipeError:
            pass  # a verifier may stop reading at the first fault of the container

    thread = threading.Thread(target=feed)
    thread.start()
    with open(read_end, "rb") as file:
        result = run(file)
    thread.join()
    return result


def report(arguments, stdin):
    """(exit code, report without the file's name, what stood on standard error) of one run of verify.py."""
    stdout, stderr = io.StringIO(), io.StringIO()
    code = verify.main(arguments, stdin, stdout, stderr)
    lines = stdout.getvalue().splitlines()
    found = json.loads(lines[0]) if len(lines) == 1 else {}
    found.pop("file", None)
    return code, found, stderr.getvalue()


def problem(one, folder):
    """What is wrong with the verifier's answer to a vector; None if nothing is."""
    bundle, trust = os.path.join(folder, "bundle"), os.path.join(folder, "trust")
    for path, data in ((bundle, one.bundle), (trust, one.trust_file)):
        with open(path, "wb") as file:
            file.write(data)
    options = ["--json", "--trust", trust] + one.arguments
    seekable = report([bundle] + options, None)
    piped = from_pipe(one.bundle, lambda file: report(["-"] + options, file))
    if seekable != piped:
        return "a file gives %s, a pipe %s" % (seekable, piped)
    code, found, error = seekable
    if (code, found.get("exit_code"), found.get("faults")) != (one.exit_code, one.exit_code, one.codes):
        return "expected %d %s, found %d %s %s" % (one.exit_code, one.codes, code, found.get("faults"), error)
    return None


def main():
    vectors, problems = vector.load()
    with tempfile.TemporaryDirectory() as folder:
        for one in vectors:
            found = problem(one, folder)
            if found:
                problems.append("%s: %s" % (one.name, found))
    for line in problems:
        print(line)
    total = len(vectors) + sum(1 for line in problems if line.split(":")[0] not in {one.name for one in vectors})
    print("%d passed, %d failed" % (total - len(problems), len(problems)))
    return 1 if problems or not vectors else 0


if __name__ == "__main__":
    sys.exit(main())
