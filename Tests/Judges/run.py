#!/usr/bin/env python3
"""Runs judges that nobody of this project wrote on a built capbundle: run.py BINARY [--shared FOLDER] [--only WORD]

Our own tests can share an error with our own code; a server library, three tars, an RFC 8785 implementation, gzip,
numpy and openssl cannot. requirements.txt says what to install. Prints a line for each judge and a closing
line; exit 0 only if none failed.
"""
import argparse
import importlib
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
from bench import ROOT, SAMPLE, Bench, Failed, Skipped  # noqa: E402  (after the line above, so that it holds for bench)

MODULES = ["judge_pyattest", "judge_tar", "judge_rfc8785", "judge_depth", "judge_by_hand", "judge_keys", "judge_schema",
           "judge_generator", "judge_captures"]


def judge(title, function, bench):
    """"ok", "FAIL" or "skip", after printing the judge's line."""
    try:
        function(bench)
    except Skipped as reason:
        word, detail = "skip", f" because {reason}"
    except Failed as reason:
        word, detail = "FAIL", f": {reason}"
    except Exception as error:  # a judge that breaks is no reason not to hear the others
        # The type alone: the text of an error may quote contents of a capture.
        word, detail = "FAIL", f": the judge broke: {type(error).__name__} at {_place(error)}"
    else:
        word, detail = "ok", ""
    print(f"{word:<4} {title}{detail}", flush=True)
    return word


def _place(error):
    step = error.__traceback__
    while step.tb_next and "Judges" in step.tb_next.tb_frame.f_code.co_filename:
        step = step.tb_next
    return f"{pathlib.Path(step.tb_frame.f_code.co_filename).name}:{step.tb_lineno}"


def main():
    parser = argparse.ArgumentParser(description="Runs independent judges on a capbundle binary.")
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared", help="where captures/ may be")
    parser.add_argument("--only", default="", metavar="WORD", help="judges whose module or title has this word")
    options = parser.parse_args()
    if not options.binary.is_file() or not (SAMPLE / "photo.jpg").is_file():
        parser.error(f"no such file: {options.binary if not options.binary.is_file() else SAMPLE / 'photo.jpg'}")
    judges = []
    for name in MODULES:
        try:
            judges += [(name, title, function) for title, function in importlib.import_module(name).JUDGES]
        except ImportError as error:
            sys.exit(f"{name} needs {error.name}: pip install -r Tests/Judges/requirements.txt")
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    with tempfile.TemporaryDirectory() as folder:
        try:
            bench = Bench(options.binary, pathlib.Path(folder), options.shared.resolve())
        except Failed as reason:
            print(f"FAIL a key and a trust file are made: {reason}\n0 passed, 1 failed, 0 skipped")
            return 1
        for name, title, function in judges:
            if options.only in f"{name} {title}":
                counts[judge(title, function, bench)] += 1
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] or not counts["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
