#!/usr/bin/env python3
"""Lets tools by other authors judge a built capbundle: run.py BINARY [--shared FOLDER] [--only WORD]

Our own tests may have the same error as our own code; a server library, three tar programs, an RFC 8785 implementation,
gzip, numpy and openssl do not. requirements.txt lists what to install. The program prints a line for each judge and a
closing line, and exits with 0 only if no judge failed.
"""
import argparse
import importlib
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "Outcomes"))
from bench import ROOT, SAMPLE, Bench  # noqa: E402  (the lines above make these modules importable)
from outcomes import Failed, Outcomes  # noqa: E402

MODULES = ["judge_pyattest", "judge_tar", "judge_rfc8785", "judge_depth", "judge_by_hand", "judge_keys", "judge_schema",
           "judge_generator", "judge_captures", "judge_parsers", "judge_request", "judge_server", "judge_extract",
           "judge_many", "judge_terminal", "judge_upload", "judge_look", "judge_realitycam",
           "judge_layouts"]


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
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory() as folder:
        try:
            bench = Bench(options.binary, pathlib.Path(folder), options.shared.resolve())
        except Failed as reason:
            outcomes.say("FAIL", f"a key and a trust file are made: {reason}")
            return outcomes.close()
        for name, title, function in judges:
            if options.only in f"{name} {title}":
                outcomes.run(title, function, bench)
    return outcomes.close()


if __name__ == "__main__":
    sys.exit(main())
