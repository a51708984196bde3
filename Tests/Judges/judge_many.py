"""Many files at a time: every file gets its own result, whatever its name is."""
import os

from Judges.bench import expect
from Judges.judge_schema import documents

ODD = ["new\nline", 'quo"te', "apo'strophe", "--leading", "-", "back\\slash", " space ", "caf\u00e9", "\x1b[31mred",
       "%s", "\u202eright", "tab\t"]


def _verify(bench, *words, code=None, **how):
    return bench.capbundle("verify", *words, "--trust", bench.trust, code=code, **how)


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
    ("verify --from0: line feeds, quotes, leading dashes, escapes, invalid UTF-8; find -print0", odd_names),
]
