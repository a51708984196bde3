"""Compares the Swift tool with the second implementation on mutants: run.py BINARY [--cases N] [--first N] [--only N]

Both judge the same bundles and upload bodies, with the same trust files and options. The Swift tool reads bundles from
files, many in a process and with several jobs, or from a pipe. A disagreement in the exit code, in the set of codes, or
in the facts of a readable bundle is a failure: its line has the number of the case, and the files of the case are kept.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import tempfile
import time
import traceback

from Differential import judges
from Differential.mutants import GROUP, Case, Group
from capbundle.format.faults import CODES

_WORDS = {0: "verified", 1: "altered", 2: "malformed", 3: "unknown device", 4: "unacceptable", 78: "trust file refused"}


def judge_group(work):
    """Judges the cases of one group; returns [(case, exit code, codes, disagreement or None)]."""
    binary, number, wanted = work
    with tempfile.TemporaryDirectory(prefix="differential-") as folder:
        swift = judges.Swift(binary, folder)
        cases = [Case(one) for one in range(number * GROUP, (number + 1) * GROUP) if one in wanted]
        together = [case for case in cases if not (case.is_body or case.is_alone or case.is_piped)]
        found = dict(zip(together, swift.group(together, Group(number).jobs) if together else ()))
        return [_compare(case, found.get(case) or swift.one(case)) for case in cases]


def _compare(case, swift):
    python, problem = judges.in_python(case), None
    if judges.differ(case, swift, python):
        problem = f"{case.named()}: Swift {swift}, Python {python}"
        if swift.codes == python.codes:
            problem += f"; Swift {swift.facts}, Python {python.facts}"
    return case, python.exit_code, python.codes, problem


def judge_safely(work):
    try:
        return judge_group(work)
    except Exception as error:  # a crash of either judge is a finding too
        first = work[1] * GROUP
        problem = f"not judged, nor are the next {GROUP - 1}: {error!r}\n{traceback.format_exc()}"
        return [(Case(first), None, [], problem)]


def keep(folder, case):
    """Writes the files of a case, with which it can be judged again."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{case.number}.{'body' if case.is_body else 'bundle'}").write_bytes(case.data)
    (folder / f"{case.number}.trust").write_bytes(case.trust)
    (folder / f"{case.number}.options").write_text(" ".join(case.options) + "\n")


def options_of():
    parser = argparse.ArgumentParser(description="Differential test of the two implementations.")
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=20000, metavar="N", help="how many cases")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first case")
    parser.add_argument("--only", type=int, metavar="N", help="one case")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path(".build/differential"), metavar="FOLDER",
                        help="where the files of disagreements go")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="how many processes")
    options = parser.parse_args()
    if not options.binary.is_file():
        parser.error(f"no such file: {options.binary}")
    return options


def main():
    options = options_of()
    first, count = (options.first, options.cases) if options.only is None else (options.only, 1)
    wanted, start = range(first, first + count), time.monotonic()
    work = [(str(options.binary.resolve()), number, wanted)
            for number in range(first // GROUP, (first + count - 1) // GROUP + 1)]
    classes, kinds, codes, problems = collections.Counter(), collections.Counter(), set(), 0
    # This pool raises an error if one of its processes is killed; multiprocessing.Pool would wait for ever.
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for case, exit_code, found, problem in (one for results in pool.map(judge_safely, work) for one in results):
            classes[exit_code] += 1
            kinds.update(bodies=case.is_body, piped=case.is_piped, exif=case.has_exif)
            codes.update(found)
            if problem:
                problems += 1
                print(f"FAIL Differential: case {case.number}: {problem}", flush=True)
                keep(options.keep, case)
    shown = ", ".join(f"{classes[one]} {_WORDS.get(one, 'not judged')}" for one in sorted(classes, key=str))
    counts = f"{kinds['bodies']} bodies, {kinds['piped']} piped, {kinds['exif']} with EXIF"
    print(f"{classes.total()} cases from number {first} on ({counts}): {shown}")
    never = ", ".join(sorted(set(CODES.values()) - codes)) or "none"
    print(f"{len(codes)} different codes in {time.monotonic() - start:.0f} s; never: {never}")
    print(f"{classes.total() - problems} passed, {problems} failed" + (f", kept in {options.keep}" if problems else ""))
    return 1 if problems or not classes else 0
