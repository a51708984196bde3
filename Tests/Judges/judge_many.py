"""Many files at a time: the results do not depend on how the files are named, and every file gets its own result.

json, jsonschema and tarfile check the output, and so do runs with each file alone.
"""
import json
import os
import random
import shutil

from bench import SAMPLE, Bundle, expect
from judge_schema import SCHEMAS, documents, validator

# The worst of several exit codes wins (Spec/command-line.md section 2).
ORDER = [70, 74, 73, 77, 78, 66, 65, 2, 1, 3, 4]
ODD = ["new\nline", 'quo"te', "apo'strophe", "--leading", "-", "back\\slash", " space ", "caf\u00e9", "\x1b[31mred",
       "%s", "\u202eright", "tab\t"]
KINDS = ("good", "good", "altered", "garbage", "missing", "unknown")


def _verify(bench, *words, **how):
    return bench.capbundle("verify", *words, "--trust", bench.trust, expected=None, **how)


def _worst(codes):
    return next((code for code in ORDER if code in codes), 0)


def files(bench):
    """Makes 60 files of all kinds, in a mixed order that is always the same."""
    folder = bench.folder / "many"
    if not folder.exists():
        folder.mkdir()
        stranger = bench.folder / "unknown.bundle"
        bench.capbundle("pack", SAMPLE, "-o", stranger, "--key", bench.stranger)
        bundle = bench.pack()
        contents = {"good": bundle.data, "altered": bundle.spoilt("photo.jpg", 1234), "garbage": b"no bundle\n" * 300,
                    "unknown": stranger.read_bytes()}
        for number in range(60):
            kind = KINDS[number % len(KINDS)]
            if kind != "missing":
                (folder / f"{number:02} {kind}").write_bytes(contents[kind])
    names = [f"many/{number:02} {KINDS[number % len(KINDS)]}" for number in range(60)]
    random.Random(60).shuffle(names)
    return names


def any_number_of_jobs(bench):
    for options in ((), ("--json",), ("--quiet",)):
        seen = {(result.returncode, result.stdout, result.stderr) for jobs in (None, 1, 2, 3, 8, 64)
                for result in [_verify(bench, *files(bench), *options, *(["--jobs", jobs] if jobs else []))]}
        expect(len(seen) == 1, f"{options}: {len(seen)} different answers")
        code, out, _ = seen.pop()
        expect(code == _worst({0, 1, 2, 66, 3}) and bool(out) == ("--quiet" not in options), f"{options}: exit {code}")
    for jobs in ("0", "-1", "1025", "x", ""):
        code = _verify(bench, "many/00 good", f"--jobs={jobs}").returncode
        expect(code == 64, f"--jobs={jobs}: exit {code}")


def by_standard_input(bench):
    names = files(bench)
    for options in ((), ("--json",), ("--jobs", 3)):
        given = _verify(bench, *names, *options)
        for text in ("\0".join(names) + "\0", "\0\0" + "\0\0\0".join(names) + "\0"):
            piped = _verify(bench, "--from0", *options, input=text.encode())
            expect((piped.returncode, piped.stdout) == (given.returncode, given.stdout), f"{options}: other answers")
    cut = _verify(bench, "--from0", input="\0".join(names).encode())
    expect(cut.returncode == 66 and b"does not end with NUL" in cut.stderr, "a name that is cut off")
    found = bench.run("sh", "-c", 'find many -type f -print0 | sort -z | "$0" verify --from0 --json --trust "$1"',
                      bench.binary, bench.trust, expected=None)
    expect(found.returncode == _worst({0, 1, 2, 3}) and len(found.stdout.splitlines()) == 50, "find -print0: others")
    expect(_verify(bench, "--from0", *names[:1], input=b"").returncode == 64, "names and --from0 together")
    for nothing in (b"", b"\0", b"\0\0\0"):
        result = _verify(bench, "--from0", input=nothing)
        expect(result.returncode == 64 and not result.stdout, f"no name at all: exit {result.returncode}")
        result = _pack(bench, "--from0", "--out-dir", "never-made", input=nothing)
        expect(result.returncode == 64 and not (bench.folder / "never-made").exists(), "pack: no name at all")


def each_as_alone(bench):
    schema = validator(SCHEMAS["verify"])
    result = _verify(bench, *files(bench), "--json", "--jobs", 8)
    lines = result.stdout.decode().splitlines()
    expect(len(lines) == 60, f"{len(lines)} lines for 60 files")
    for name, line in zip(files(bench), lines):
        alone = _verify(bench, name, "--json")
        expect(alone.stdout.decode() == line + "\n", f"{name}: another report than alone")
        report = json.loads(line)
        expect(report["file"] == name and report["exit_code"] == alone.returncode, f"{name}: another file or exit code")
        for error in schema.iter_errors(report):
            expect(False, f"{name}: {error.json_path}: {error.validator} of the schema is broken")
    text = _verify(bench, *files(bench)).stdout.decode().splitlines()
    shown = [name for name in files(bench) if "missing" not in name]
    expect(len(text) == len(shown) + 1, f"{len(text)} lines of text for {len(shown)} files that can be read")
    for name, line in zip(shown, text):
        expect(line.startswith(f"{name}: "), f"no line for {name}, or not in its place")


def fail_fast(bench):
    names = files(bench)
    codes = [_verify(bench, name).returncode for name in names]
    first = next(place for place, code in enumerate(codes) if code)
    for jobs in (1, 2, 8):
        result = _verify(bench, *names, "--fail-fast", "--json", "--jobs", jobs)
        expect(len(documents(result.stdout)) == first + 1, f"{jobs} jobs: continues after number {first}")
        expect(result.returncode == codes[first], f"{jobs} jobs: exit {result.returncode}, not {codes[first]}")
        good = [name for name in names if name.endswith("good")]
        expect(_verify(bench, *good, "--fail-fast", "--jobs", jobs).returncode == 0, "nothing failed, and it stops")
        sure = _verify(bench, *good, "many/none", *good, "--fail-fast", "--json", "--jobs", jobs)
        expect(len(documents(sure.stdout)) == len(good) + 1 and sure.returncode == 66, "a missing file stops nothing")


def odd_names(bench):
    folder, data = bench.scratch("odd"), bench.pack().data
    for name in ODD:
        (folder / name).write_bytes(data)
    text = "\0".join(ODD).encode() + b"\0not-utf8-\xff\0"
    (folder / os.fsdecode(b"not-utf8-\xff")).write_bytes(data)
    result = _verify(bench, "--from0", "--json", input=text, cwd=folder)
    reports = documents(result.stdout)
    expect([report["file"] for report in reports[:len(ODD)]] == ODD, "other names came back")
    expect([report["exit_code"] for report in reports] == [0] * len(ODD) + [66], "not every odd name can be opened")
    expect(result.returncode == 66 and len(reports) == len(ODD) + 1, f"a name that is not UTF-8: {result.returncode}")
    shown = _verify(bench, "--from0", input=text, cwd=folder)
    for stream in (shown.stdout, shown.stderr):
        text_ = stream.decode()
        expect(all(letter == "\n" or letter.isprintable() for letter in text_), "a control character is printed")
    expect(len(shown.stdout.decode().splitlines()) == len(ODD) + 1, "a name with a line feed makes two lines")


def _raws(bench, *names):
    folder = bench.scratch("raws")
    for name in names:
        shutil.copytree(SAMPLE, folder / name)
    return [folder / name for name in names]


def _counter(bench, path):
    return json.loads(bench.capbundle("show", path, "--json").stdout)["device"]["counter"]


def _state(bench):
    return json.loads(bench.capbundle("key", "show", "--json").stdout)["counter"]


def _pack(bench, *words, **how):
    return bench.capbundle("pack", *words, expected=None, **how)


def packs_in_order(bench):
    names = [f"capture {number}" for number in random.Random(7).sample(range(40), 24)]
    raws = _raws(bench, *names)
    schema = validator(SCHEMAS["pack"])
    for jobs in (1, 2, 8):
        out, start = bench.folder / f"packed{jobs}", _state(bench)
        result = _pack(bench, *raws, "--out-dir", out, "--jobs", jobs, "--json")
        expect(result.returncode == 0, f"{jobs} jobs: exit {result.returncode}: {result.stderr.decode()[:200]}")
        reports = documents(result.stdout)
        expect([report["raw"] for report in reports] == [str(raw) for raw in raws], "reports in another order")
        for report in reports:
            expect(schema.is_valid(report), f"{jobs} jobs: a report breaks the schema")
        paths = [out / f"{name}.bundle" for name in names]
        expect(sorted(out.iterdir()) == sorted(paths), "other files")
        expect([_counter(bench, path) for path in paths] == list(range(start + 1, start + 25)), "counters out of order")
        expect([report["counter"] for report in reports] == list(range(start + 1, start + 25)), "reports say others")
        expect(_verify(bench, *paths, "--quiet").returncode == 0, "not all of them verify")
        expect(Bundle(paths[3]).entries["photo.jpg"] == (SAMPLE / "photo.jpg").read_bytes(), "another photo")


def clashes(bench):
    raws = _raws(bench, "a/raw", "b/raw", "c/other")
    start, out = _state(bench), bench.folder / "never-made"
    for words in ([*raws], [raws[0], raws[0]], [raws[0], f"{raws[0]}/"], [raws[0], f"{raws[0]}/."]):
        result = _pack(bench, *words, "--out-dir", out)
        expect(result.returncode == 64, f"{words[-1]}: exit {result.returncode}")
        expect(not out.exists() and _state(bench) == start, "something was made, or a counter was used")
    out = bench.scratch("there")
    (out / "other.bundle").write_bytes(b"mine")
    result = _pack(bench, raws[0], raws[2], "--out-dir", out)
    expect(result.returncode == 73 and os.listdir(out) == ["other.bundle"], f"exit {result.returncode}, or it packs")
    expect(_state(bench) == start and (out / "other.bundle").read_bytes() == b"mine", "a counter was used")
    expect(_pack(bench, raws[0], raws[2], "--out-dir", out, "--force").returncode == 0, "--force does not replace")
    for words in (["-o", out / "x", "--out-dir", out], ["--out-dir", out, "--multipart", out / "x"],
                  ["--out-dir", out, "--dry-run"], ["-o", out / "x"]):
        code = _pack(bench, raws[0], raws[2], *words).returncode
        expect(code == 64, f"{words[0]} {words[-1]}: exit {code}")


def one_bad_capture(bench):
    names = ["one", "no photo", "three", "no metadata", "gone", "six"]
    raws = _raws(bench, *names)
    (raws[1] / "photo.jpg").write_bytes(b"GIF89a")
    (raws[3] / "metadata.json").write_bytes(b"{")
    shutil.rmtree(raws[4])
    alone = {raw: _pack(bench, raw, "-o", bench.folder / "never.bundle").returncode
             for raw in (raws[1], raws[3], raws[4])}
    expect(alone[raws[1]] == alone[raws[3]] == 65 and alone[raws[4]] in (65, 66), f"alone: {list(alone.values())}")
    for jobs in (1, 4):
        start, out = _state(bench), bench.folder / f"some{jobs}"
        result = _pack(bench, *raws, "--out-dir", out, "--json", "--jobs", jobs)
        reports = documents(result.stdout)
        expect(result.returncode == _worst(set(alone.values())), f"exit {result.returncode} of {alone.values()}")
        expect([report["raw"] for report in reports] == [str(raw) for raw in raws], "not a report for each, in order")
        expect([report["exit_code"] for report in reports] == [alone.get(raw, 0) for raw in raws], "other exit codes")
        made = {path.name: _counter(bench, path) for path in out.iterdir()}
        expect(made == {"one.bundle": start + 1, "three.bundle": start + 3, "six.bundle": start + 6}, f"made {made}")
        expect(_verify(bench, *out.iterdir(), "-q").returncode == 0, "not all of them verify")


def packs_fail_fast(bench):
    """--fail-fast stops the run; the report names every bundle made, as an unnamed one blocks the next run."""
    raws = _raws(bench, *"abcdefgh")
    (raws[1] / "photo.jpg").write_bytes(b"GIF89a")
    problems = []
    for jobs in (1, 2, 8):
        out = bench.scratch(f"fast{jobs}")
        result = _pack(bench, *raws, "--out-dir", out, "--fail-fast", "--json", "--jobs", jobs)
        reports = documents(result.stdout)
        expect(result.returncode == 65 and reports[1]["exit_code"] == 65, f"{jobs} jobs: exit {result.returncode}")
        told = {os.path.basename(report["output"]) for report in reports if report["exit_code"] == 0}
        made = set(os.listdir(out))
        if made != told:
            problems.append(f"{jobs} jobs: makes {sorted(made)}, reports {sorted(told)}")
        if jobs == 1 and made - {"a.bundle"}:
            problems.append(f"1 job: goes on to {sorted(made)} after b")
        if [report["exit_code"] for report in reports] != [0, 65]:
            problems.append(f"{jobs} jobs: tells of {[report['raw'][-1] for report in reports]}")
    expect(not problems, "; ".join(problems))



def packs_from_standard_input(bench):
    names = ["new\nline", 'quo"te', "--leading", "caf\u00e9"]
    raws = _raws(bench, *names)
    out = bench.folder / "from0"
    text = "\0".join(names).encode() + b"\0"
    result = _pack(bench, "--from0", "--out-dir", out, input=text, cwd=raws[0].parent)
    expect(result.returncode == 0, f"exit {result.returncode}: {result.stderr.decode()[:200]}")
    expect(sorted(os.listdir(out)) == sorted(f"{name}.bundle" for name in names), f"made {os.listdir(out)}")
    result = _pack(bench, "--from0", "--out-dir", out, "--json", "--force", input=text, cwd=raws[0].parent)
    expect([report["raw"] for report in documents(result.stdout)] == names, "other names came back")
    expect(_pack(bench, raws[0], "--from0", "--out-dir", out, input=text).returncode == 64, "names and --from0")
    inside = _pack(bench, ".", "--out-dir", bench.folder / "dot", cwd=raws[3])
    expect(inside.returncode == 0 and os.listdir(bench.folder / "dot") == ["caf\u00e9.bundle"], "`.` has another name")


def outputs_apart(bench):
    """Two outputs under one name are refused before anything is signed or replaced."""
    bundle, start = bench.pack(), _state(bench)
    out = bench.scratch("same")
    for force in ((), ("--force",)):
        for first, second in ((out / "x", out / "x"), (out / "x", f"{out}/./x")):
            for words in (["pack", SAMPLE, "-o", first, "--multipart", second],
                          ["pack", SAMPLE, "-o", out / "y", "--multipart", first, "--headers", second],
                          ["multipart", bundle.path, "-o", first, "--headers", second]):
                code = bench.capbundle(*words, *force, expected=None).returncode
                expect(code in (64, 73), f"{words[0]} {words[-2]} of one name, {force}: exit {code}")
                expect(not os.listdir(out), f"{words[0]} {words[-2]} of one name, {force}: leaves {os.listdir(out)}")
                expect(_state(bench) == start, f"{words[0]} {words[-2]} of one name, {force}: a counter was used")


JUDGES = [
    ("verify of 60 files: any number of jobs prints the same", any_number_of_jobs),
    ("verify --from0 prints the same as names given as arguments", by_standard_input),
    ("verify of 60 files: each report equals that of the file alone, and matches the schema", each_as_alone),
    ("verify --fail-fast stops at the first failure, with any number of jobs", fail_fast),
    ("verify --from0: line feeds, quotes, leading dashes, escapes, invalid UTF-8", odd_names),
    ("pack --out-dir: reports and counters in the order of the captures", packs_in_order),
    ("pack --out-dir: two bundles with one name are refused before any work", clashes),
    ("pack --out-dir: one bad capture does not stop the rest, the worst exit code wins", one_bad_capture),
    ("pack --fail-fast stops, and reports each bundle that it made", packs_fail_fast),
    ("pack --from0: odd names, and `.` by its own name", packs_from_standard_input),
    ("two outputs under one name are refused", outputs_apart),
]
