"""Many files at a time: every file gets its own result, whatever its name is and however many threads there are."""
import os
import random

from Judges.bench import SAMPLE, expect
from Judges.judge_schema import documents

ODD = ["new\nline", 'quo"te', "apo'strophe", "--leading", "-", "back\\slash", " space ", "caf\u00e9", "\x1b[31mred",
       "%s", "\u202eright", "tab\t"]


def _verify(bench, *words, code=None, **how):
    return bench.capbundle("verify", *words, "--trust", bench.trust, code=code, **how)


def files(bench):
    """Makes 60 files of all kinds, in a mixed order that is always the same."""
    folder, bundle = bench.scratch("many"), bench.pack()
    contents = {"good": bundle.data, "altered": bundle.spoilt("photo.jpg", 1234), "garbage": b"no bundle\n" * 300,
                "unknown": bench.pack("unknown", SAMPLE, "--key", bench.stranger).data, "missing": None}
    kinds = ["good", *contents]
    names = [f"{number:02} {kinds[number % len(kinds)]}" for number in range(60)]
    for name in names:
        if "missing" not in name:
            (folder / name).write_bytes(contents[name.split()[1]])
    random.Random(60).shuffle(names)
    return [f"many/{name}" for name in names]


def fail_fast(bench):
    names = files(bench)
    codes = [report["exit_code"] for report in documents(_verify(bench, *names, "--json", "--jobs", 8).out)]
    expected = {"good": 0, "altered": 1, "garbage": 2, "unknown": 3, "missing": 66}
    expect(codes == [expected[name.split()[1]] for name in names], "a file has the result of another")
    first = next(place for place, code in enumerate(codes) if code)
    good = [name for name in names if name.endswith("good")]
    for jobs in (1, 2, 8):
        result = _verify(bench, *names, "--fail-fast", "--json", "--jobs", jobs, code=codes[first])
        expect(len(documents(result.out)) == first + 1, f"{jobs} jobs: continues after number {first}")
        _verify(bench, *good, "--fail-fast", "--jobs", jobs, code=0)
        sure = _verify(bench, *good, "many/none", *good, "--fail-fast", "--json", "--jobs", jobs, code=66)
        expect(len(documents(sure.out)) == len(good) + 1, "a missing file stops nothing")


def odd_names(bench):
    folder, data = bench.scratch("odd"), bench.pack().data
    for name in [*ODD, os.fsdecode(b"not-utf8-\xff")]:
        (folder / name).write_bytes(data)
    text = "\0".join(ODD).encode() + b"\0not-utf8-\xff\0"
    result = _verify(bench, "--from0", "--json", input=text, cwd=folder, code=66)
    reports = documents(result.out)
    expect([report["file"] for report in reports[:len(ODD)]] == ODD, "other names came back")
    expect([report["exit_code"] for report in reports] == [0] * len(ODD) + [66], "not every odd name can be opened")
    words = ["verify", "--json", "--trust", bench.trust, "--", *(name for name in ODD if name != "-")]
    given = bench.capbundle(*words, cwd=folder)
    same = [report for report in reports[:-1] if report["file"] != "-"]
    expect(documents(given.out) == same, "arguments give others")
    shown = _verify(bench, "--from0", input=text, cwd=folder)
    for stream in (shown.out, shown.err):
        is_clean = all(letter == "\n" or letter.isprintable() for letter in stream.decode())
        expect(is_clean, "a control character is printed")
    expect(len(shown.out.decode().splitlines()) == len(ODD) + 1, "a name with a line feed makes two lines")
    piped = bench.run("sh", "-c", 'find . -type f -print0 | sort -z | "$0" verify --from0 --json --trust "$1"',
                      bench.binary, bench.trust, cwd=folder, code=66)
    expect(len(piped.out.splitlines()) == len(ODD) + 1, "find -print0: others")


TESTS = [
    ("verify of 60 files: each has its own result; --fail-fast stops at the first failure with any number of jobs",
     fail_fast),
    ("verify --from0: line feeds, quotes, leading dashes, escapes, invalid UTF-8; find -print0", odd_names),
]
