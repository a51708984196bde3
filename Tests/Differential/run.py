#!/usr/bin/env python3
"""Compares the Swift tool with the second implementation on mutants: run.py BINARY [--cases N] [--first N] [--only N]

Both judge the same bundles and upload bodies, with the same trust files and options. The Swift tool reads bundles from
files, many in a process and with several jobs, or from a pipe. A disagreement in the exit code, in the set of codes, or
in the facts of a readable bundle is printed with the number of the case, and its files are kept. The exit code is then
1.
"""
import argparse
import multiprocessing
import os
import pathlib
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
_HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(_HERE.parents[1] / "Spec" / "Generator"))
import judges  # noqa: E402  (the lines above make these modules importable)
from bundle.faults import CODES  # noqa: E402
from mutants import GROUP, Case, Group  # noqa: E402

_WORDS = {0: "verified", 1: "altered", 2: "malformed", 3: "unknown device", 4: "unacceptable", 78: "trust file refused"}


def judge_group(work):
    """Judges the cases of one group; returns [(case number, exit code, code, how, disagreement or None)]."""
    binary, number, wanted = work
    with tempfile.TemporaryDirectory(prefix="differential-") as folder:
        swift = judges.Swift(binary, folder)
        cases = [Case(one) for one in range(number * GROUP, (number + 1) * GROUP) if one in wanted]
        together = [case for case in cases if not (case.is_body or case.is_alone or case.is_piped)]
        found = {}
        if together:
            for case, result in zip(together, swift.group(together, Group(number).jobs)):
                found[case.number] = result
        return [_compare(case, found.get(case.number) or swift.one(case)) for case in cases]


def _compare(case, swift):
    python = judges.in_python(case)
    problem = None
    if judges.differ(case, swift, python):
        problem = "case %d (%s%s): Swift %s, Python %s" % (case.number, case.named(),
                                                           ", piped" if case.is_piped else "", swift, python)
        if swift.codes == python.codes:
            problem += "; Swift %s, Python %s" % (swift.facts, python.facts)
    return case.number, python.exit_code, python.codes, case.is_body, case.is_piped, problem


def judge_safely(work):
    try:
        return judge_group(work)
    except Exception:  # a crash of either judge is a finding too
        return [(work[1] * GROUP, None, [], False, False,
                 "cases from %d: %s" % (work[1] * GROUP, traceback.format_exc()))]


def keep(folder, number):
    """Writes the files of a case, with which it can be judged again."""
    case = Case(number)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ("%d.%s" % (number, "body" if case.is_body else "bundle"))).write_bytes(case.data)
    (folder / ("%d.trust" % number)).write_bytes(case.trust)
    options = ["--allow-withheld"] * case.allow_withheld + (["--require " +
                                                             ",".join(case.require)] if case.require else [])
    (folder / ("%d.options" % number)).write_text(" ".join(options) + "\n")


def main():
    parser = argparse.ArgumentParser(description="Differential test of the two implementations.")
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=20000, metavar="N", help="how many cases")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first case")
    parser.add_argument("--only", type=int, metavar="N", help="one case")
    parser.add_argument("--keep",
                        type=pathlib.Path,
                        default=pathlib.Path(".build/differential"),
                        metavar="FOLDER",
                        help="where the files of disagreements go")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="how many processes")
    options = parser.parse_args()
    if not options.binary.is_file():
        parser.error("no such file: %s" % options.binary)
    first, count = (options.only, 1) if options.only is not None else (options.first, options.cases)
    wanted = range(first, first + count)
    groups = range(first // GROUP, (first + count - 1) // GROUP + 1)
    work = [(str(options.binary.resolve()), number, wanted) for number in groups]
    start, problems, classes, codes, total, bodies, piped = time.monotonic(), 0, {}, set(), 0, 0, 0
    with multiprocessing.Pool(options.jobs) as pool:
        for results in pool.imap(judge_safely, work):
            for number, exit_code, found, is_body, is_piped, problem in results:
                total += 1
                bodies += is_body
                piped += is_piped
                classes[exit_code] = classes.get(exit_code, 0) + 1
                codes.update(found)
                if problem:
                    problems += 1
                    print(problem, flush=True)
                    keep(options.keep, number)
    shown = ", ".join("%d %s" % (classes[one], _WORDS.get(one, "not judged")) for one in sorted(classes, key=str))
    print("%d cases from number %d on (%d bodies, %d piped): %s" % (total, first, bodies, piped, shown))
    never = sorted(set(CODES.values()) - codes)
    print("%d different codes in %.0f s; never: %s" %
          (len(codes), time.monotonic() - start, ", ".join(never) or "none"))
    print("%d disagreements%s" % (problems, ", kept in %s" % options.keep if problems else ""))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
