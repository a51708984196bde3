#!/usr/bin/env python3
"""Runs every vector of Spec/Vectors and compares the result with its header.

verify.py reads bundles and from_body.py upload bodies, both from a file and from a pipe; to_body.py makes the body of a
sound bundle again. bundle/request.py checks requests. chain.py judges chains.
"""

import hashlib
import io
import json
import os
import sys
import tempfile
import threading

import chain
import from_body
import to_body
import vector
import verify
from bundle import request
from capbundle.format import base64_strict


def from_pipe(data, run):
    """Calls run with the reading end of a pipe that another thread feeds."""
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


def report(program, arguments, stdin):
    """Returns (exit code, report without the file's name, standard error) of one run of a program."""
    stdout, stderr = io.StringIO(), io.StringIO()
    code = program.main(arguments, stdin, stdout, stderr)
    lines = stdout.getvalue().splitlines()
    found = json.loads(lines[0]) if len(lines) == 1 else {}
    found.pop("file", None)
    return code, found, stderr.getvalue()


def written(path, *data):
    """Returns the path after writing these contents into the file, or removing the file."""
    if os.path.exists(path):
        os.remove(path)
    for content in data:
        with open(path, "wb") as file:
            file.write(content)
    return path


def side_paths(one, folder):
    """Returns the paths of a vector's side files after writing them into the folder, in the order of the header."""
    return [written(os.path.join(folder, "side%d" % number), data) for number, data in enumerate(one.side_bytes())]


def content(path):
    """Returns the contents of a file, or None if there is none."""
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def problem(one, folder):
    """Returns what is wrong with the answer to a vector, or None."""
    if one.part == "request":
        return request_problem(one)
    if one.part == "chain":
        return chain_problem(one, folder)
    given = written(os.path.join(folder, "given"), one.data)
    options = ["--json", "--trust", written(os.path.join(folder, "trust"), one.trust_file)] + one.arguments
    program, output = verify, [written(os.path.join(folder, name)) for name in ("bundle", "piped", "again")]
    to_file = to_pipe = []
    if one.part == "state":
        return state_problem(one, given, options, folder)
    if one.part == "multipart":
        program, to_file, to_pipe = from_body, ["-o", output[0]], ["-o", output[1]]
    seekable = report(program, [given] + options + to_file, None)
    piped = from_pipe(one.data, lambda file: report(program, ["-"] + options + to_pipe, file))
    if seekable != piped or content(output[0]) != content(output[1]):
        return "a file gives %s, a pipe %s" % (seekable, piped)
    code, found, error = seekable
    if (code, found.get("exit_code"), found.get("faults")) != (one.exit_code, one.exit_code, one.codes):
        return "expected %d %s, found %d %s %s" % (one.exit_code, one.codes, code, found.get("faults"), error)
    return body_problem(one, *output) if one.part == "multipart" else None


def state_problem(one, given, options, folder):
    """Verifies the side files and then the bundle with a new state, each time from a file and from a pipe."""
    plain = options[:len(options) - len(one.arguments)]
    with tempfile.TemporaryDirectory(dir=folder) as states:
        from_file, to_pipe = (["--state", os.path.join(states, name)] for name in ("file", "pipe"))
        for side in side_paths(one, folder):
            for state in (from_file, to_pipe):
                report(verify, [side] + plain + state, None)
        seekable = report(verify, [given] + options + from_file, None)
        piped = from_pipe(one.data, lambda file: report(verify, ["-"] + options + to_pipe, file))
    if seekable != piped:
        return "a file gives %s, a pipe %s" % (seekable, piped)
    code, found, error = seekable
    if (code, found.get("exit_code"), found.get("faults")) != (one.exit_code, one.exit_code, one.codes):
        return "expected %d %s, found %d %s %s" % (one.exit_code, one.codes, code, found.get("faults"), error)
    return None


def body_problem(one, bundle, _, again):
    """Returns what is wrong with the rebuilt bundle, or with the body that is made from it."""
    data = content(bundle)
    found = None if data is None else hashlib.sha256(data).hexdigest()
    if found != one.bundle_sha256:
        return "the bundle has SHA-256 %s, expected %s" % (found, one.bundle_sha256)
    if found and (to_body.main([bundle, "-o", again], None, None, sys.stderr) or content(again) != one.data):
        return "the bundle's body is another one"
    return None


def chain_problem(one, folder):
    """Compares the results of chain.py for the bundle and its side files, in this order and in the reverse order."""
    files = [written(os.path.join(folder, "given"), one.data)] + side_paths(one, folder)
    options = ["--json", "--trust", written(os.path.join(folder, "trust"), one.trust_file)]
    for names in (files, files[::-1]):
        code, found, error = report(chain, names + options, None)
        if (code, found.get("exit_code"), found.get("faults")) != (one.exit_code, one.exit_code, one.codes):
            return "expected %d %s, found %d %s %s" % (one.exit_code, one.codes, code, found.get("faults"), error)
    return None


def request_problem(one):
    point, *headers = (one.values[key] for key in vector.REQUEST)
    found = [fault.code for fault in request.judge(base64_strict.decode(point), *headers, one.data)]
    expected = (one.exit_code, one.codes)
    return None if (1 if found else 0, found) == expected else "expected %s, found %s" % (expected, found)


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
