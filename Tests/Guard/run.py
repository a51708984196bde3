"""Makes the faults of faults.toml in a copy of this repository, one at a time, and runs `make test FIRST=1` after each.

usage: Tests/run.py Guard [--only WORD] [--all]

The copy is in .build-guard, and has the files that git tracks, with uncommitted changes. For each fault the program
prints the first failure, and at the end the number of faults that were found. Exit code 0 means that at least nine
tenths of the chosen faults were found. With --all it runs `make test-all`.
"""
import argparse
import json
import shutil
import subprocess
import time
import tomllib

from Kit import processes
from Kit.outcomes import ROOT

COPY = ROOT / ".build-guard"
ENOUGH = 0.9


def copied():
    """Copies what git tracks, so that a build of the copy needs to compile only what has changed."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    for name in (one.decode() for one in names if one):
        source, target = ROOT / name, COPY / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.unlink(missing_ok=True)
            target.symlink_to(source.readlink())
        elif source.is_file() and not (target.is_file() and target.read_bytes() == source.read_bytes()):
            shutil.copy(source, target)


def found_by(is_all):
    """Runs the tests in the copy; returns the first failure, or None if everything passed."""
    shutil.rmtree(COPY / ".build/results", ignore_errors=True)
    command = ["make", "test-all" if is_all else "test", "FIRST=1"]
    with subprocess.Popen(command, cwd=COPY, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, start_new_session=True) as run:
        try:
            lines = run.communicate()[0].splitlines()
        except BaseException:
            processes.end(run)
            raise
    failed = [line for line in lines if line.startswith(("-- FAIL", "   FAIL"))]
    if any(line.startswith("-- FAIL build:") for line in failed):
        raise SystemExit("the fault does not compile:\n" + "\n".join(lines[-40:]))
    if run.returncode and not failed:
        raise SystemExit("make ended before its first stage:\n" + "\n".join(lines[-40:]))
    return None if run.returncode == 0 else " ".join(line.strip() for line in failed[:2])


def tried(fault, is_all):
    file = COPY / fault["file"]
    whole = file.read_text()
    if whole.count(fault["old"]) != 1:
        return "the fault does not fit the code any more: its text must occur once"
    file.write_text(whole.replace(fault["old"], fault["new"]))
    try:
        return found_by(is_all)
    finally:
        file.write_text(whole)


def main():
    parser = argparse.ArgumentParser(prog="Tests/run.py Guard", description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", metavar="WORD", help="faults whose name or file has this word")
    parser.add_argument("--all", action="store_true", help="look for them with `make test-all`")
    options = parser.parse_args()
    faults = tomllib.loads((ROOT / "Tests/Guard/faults.toml").read_text())["fault"]
    faults = [fault for fault in faults if options.only in f"{fault['name']} {fault['file']}"]
    copied()
    if problem := found_by(options.all):
        raise SystemExit(f"without a fault the tests fail already: {problem}")
    missed, results = [], {}
    for fault in faults:
        began = time.monotonic()
        results[fault["name"]] = problem = tried(fault, options.all)
        missed += [] if problem else [fault["name"]]
        print(f"{'found ' if problem else 'MISSED'} {fault['name']}, {time.monotonic() - began:.0f} s: {problem or fault['breaks']}",
              flush=True)
        (COPY / ".build/guard.json").write_text(json.dumps(results, indent=1))
    print(f"{len(faults) - len(missed)} passed, {len(missed)} failed")
    return 0 if faults and len(missed) <= (1 - ENOUGH) * len(faults) else 1
