"""Names and texts that try to control a terminal, the command line, SQL or a path."""
import json
import os

from checks import every, expect
from hostile_names import EVIL, steers
from invariants import INNER, clean, gives, words_for_people
from queues import ids

SQL = ["'; DROP TABLE captures; --", '" OR 1=1 --', "%", "__%__", "*", "a%", "\\",
       "x' UNION SELECT sha256 FROM captures"]
PATHS = ["../x", "..", ".", "/etc/passwd", "a/../../x", "-", "--", "-rf", "~"]


def harmless(result, about):
    for name, data in (("standard output", result.out), ("standard error", result.err)):
        expect(not steers(data), f"{about}: {steers(data)} on {name}: {data[:200]!r}")
    text = result.text.replace("SELECT sha256", "")  # our own text contains this
    expect(not INNER.search(text), f"{about}: shows the inside: {text[:200]!r}")
    return result


def file_names(bench):
    """Bundles with such names are pushed, their names are printed harmlessly, and they are stored under their hash."""
    def judge(kind, name):
        rig = bench.rig()
        path = rig.out / f"{name}.bundle"
        path.write_bytes(bench.stock[0].data)
        for options in ((), ("--json",), ("--reference",)):
            result = harmless(rig.run("push", *options, path).must(0, about="push"), "push")
            if not options:
                expect(ids(result) == [bench.stock[0].id], f"prints {result.out!r}")
        path.write_bytes(bench.stock[0].data[:-700])
        for options in ((), ("--json",)):
            harmless(rig.run("push", *options, path).must(2, about="push of a cut one"), "push of a cut one")
        path.unlink()
        harmless(rig.run("push", path).must(66, about="push of nothing"), "push of nothing")
        path.write_bytes(bench.stock[1].data)
        rig.run("push", "--reference", path).must(0, about="push --reference")
        for words in (["list"], ["show", bench.stock[1].id], ["history", bench.stock[1].id], ["check"],
                      ["export", "--manifest", "-", "--format", "sha256sum"]):
            harmless(rig.run(*words).must(0, about=words[0]), words[0])
        row = json.loads(rig.run("show", "--json", bench.stock[1].id).must(0).out)
        expect(row.get("path") == str(path), f"the path is {row.get('path')!r}")
        gives(rig, bench.stock[1])
        target = rig.out / f"{name}.got"
        rig.run("get", bench.stock[0].id, "-o", target).must(0, about="get")
        harmless(rig.run("get", bench.stock[0].id, "-o", target).must(73, about="get onto a file"), "get onto a file")
        spool = [file for file in rig.names() if steers(file.encode())]
        expect(not spool, f"a name went into the queue: {spool}")

    every(EVIL, judge)


def not_unicode(bench):
    """File names are bytes on Linux: one that is not UTF-8 is used as it is or refused, never replaced by another."""
    rig = bench.rig()
    name = os.fsencode(rig.out) + b"/x\xff\xfe.bundle"
    with open(name, "wb") as file:
        file.write(bench.stock[0].data)
    with open(os.fsencode(rig.out) + "/x\ufffd\ufffd.bundle".encode(), "wb") as file:
        file.write(bench.stock[1].data)
    for options in ((), ("--move",), ("--reference",)):
        result = words_for_people(rig.run("push", *options, os.fsdecode(name)))
        result.must(0, 64, 66, about=f"push {' '.join(options)}")
        expect(result.code or ids(result) == [bench.stock[0].id], f"another file is read: {result.out!r}")
        expect(result.code == 0 or os.path.lexists(name), "a refused push takes its source away")
        if not os.path.lexists(name):
            break
    result = rig.run("push", "--from0", stdin=_pipe(name + b"\0" + os.fsencode(bench.stock[2].path) + b"\0"))
    result.must(0, 64, 66, about="push --from0")
    expect(bench.stock[2].id in ids(result), "the good name of --from0 is not pushed")
    expect(bench.stock[1].id not in rig.rows(), "another file was read")
    clean(rig)


def _pipe(data):
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    return open(reader, "rb")


def names_from_a_pipe(bench):
    """--from0: newlines and dashes may be in names; a last name without NUL is an error, and so is an empty list."""
    rig = bench.rig()
    for name, bundle in (("a\nb.bundle", bench.stock[0]), ("-", bench.stock[1]), ("--move", bench.stock[2])):
        (rig.out / name).write_bytes(bundle.data)
    result = rig.run("push", "--from0", stdin=_pipe(b"a\nb.bundle\0-\0--move\0")).must(0, about="--from0")
    expect(ids(result) == [bundle.id for bundle in bench.stock[:3]], f"prints {result.out!r}")
    rig.run("push", "--from0", stdin=_pipe(b"")).must(64, about="--from0 without a name")
    # A part of a name can be the name of another file.
    (rig.out / "x.bun").write_bytes(bench.stock[4].data)
    result = rig.run("push", "--from0", stdin=_pipe(b"a\nb.bundle\0x.bun")).must(64, 66, about="--from0, cut")
    expect(bench.stock[4].id not in rig.rows(), "a name that was cut off is pushed")
    clean(rig)


def dashes(bench):
    rig = bench.rig()
    for name, bundle in (("-x.bundle", bench.stock[0]), ("--move", bench.stock[1])):
        (rig.out / name).write_bytes(bundle.data)
        expect(ids(rig.run("push", "--", name).must(0, about=f"push -- {name}")) == [bundle.id], "another id")
        expect((rig.out / name).exists(), f"{name} was unlinked")
    rig.run("push", "-x.bundle").must(64, about="push -x.bundle")
    expect(ids(rig.run("push", "./-x.bundle").must(0)) == [bench.stock[0].id], "./-x.bundle: another id")
    rig.run("get", bench.stock[0].id, "-o", "./-y").must(0, about="get -o ./-y")
    up = rig.out / "a/b"
    up.mkdir(parents=True)
    expect(ids(rig.run("push", "../../-x.bundle", cwd=up).must(0)) == [bench.stock[0].id], "../: another id")
    clean(rig)


def long_names(bench):
    rig = bench.rig()
    for name, bundle in (("n" * 255, bench.stock[0]), ("é" * 127, bench.stock[1]),
                         ("\U0001f4f7" * 63, bench.stock[2])):
        (rig.out / name).write_bytes(bundle.data)
        for options in ((), ("--reference",), ("--move",)):
            result = rig.run("push", *options, name).must(0, about=f"a name of {len(name.encode())} bytes")
            expect(ids(result) == [bundle.id], f"prints {result.out!r}")
    deep = rig.out
    while len(str(deep)) < 3500:
        deep /= "d" * 200
    deep.mkdir(parents=True)
    (deep / "x.bundle").write_bytes(bench.stock[3].data)
    rig.run("push", deep / "x.bundle").must(0, about="a path of 3,700 bytes")
    rig.run("list").must(0)
    clean(rig)


def words(bench):
    """Bad names, ids and numbers are refused with 64, 66 or 78, soon and harmlessly, and nothing is made."""
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    target = bench.stock[2].path
    evil = [*EVIL.values(), *SQL, *PATHS, "", " ", "\t", "x" * 65, "x" * 10_000, "é", "a b", "a\u00a0b"]
    (rig.out / "disk").mkdir()
    before = rig.names()
    cases = {f"{number}: {text[:20]!r}": text for number, text in enumerate(evil)}

    def judge(_, text):
        for command in ("show", "history", "hold", "cancel", "retry", "release"):
            if text in ("-", "--") or text.startswith("-"):
                continue
            harmless(rig.run(command, "--", text).must(64, 66, about=command), command)
        harmless(rig.run("get", "-o", "-", "--", text).must(64, 66, about="get"), "get")
        for line in (["push", f"--session={text}", target], ["session", "end", "--", text],
                     ["dest", "add", "--kind", "folder", "--path", rig.out / "disk", "--", text]):
            harmless(rig.run(*line).must(64, 66, about=" ".join(map(str, line[:2]))), line[0])
        for line in (["push", f"--dest={text}", target], ["dest", "remove", "--", text], ["dest", "show", "--", text],
                     ["dest", "default", "--", text]):
            harmless(rig.run(*line).must(64, 78, about=" ".join(map(str, line[:2]))), line[0])
        for line in (["push", f"--priority={text}", target], ["push", f"--not-before={text}", target],
                     ["list", f"--state={text}"], ["list", f"--limit={text}"], ["list", f"--after={text}"],
                     ["prune", f"--older-than={text}"], ["config", "retention", "--", text],
                     ["config", "--", text, "7d"], ["push", f"--warn-at={text}", target],
                     ["check", f"--read-data-subset={text}"]):
            harmless(rig.run(*line).must(64, 66, about=" ".join(map(str, line[:2]))), line[0])

    chosen = bench.chance("words").sample(sorted(cases), 10)
    every({name: cases[name] for name in chosen}, judge)
    expect(rig.names() == before, "something was made")
    expect(len(clean(rig)) == 2, "something was stored")


def numbers(bench):
    """Numbers at their limits and beyond them."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    for line in (["push", "--priority=11", "NEW"], ["push", "--priority=-11", "NEW"],
                 ["push", f"--priority={2**63}", "NEW"],
                 ["push", "--not-before=+99999999999999999999h", "NEW"],
                 ["push", "--not-before=2026-02-30T00:00:00Z", "NEW"],
                 ["prune", f"--older-than={2**64}s"], ["prune", f"--older-than={2**62}w"],
                 ["prune", "--older-than=-1d"],
                 ["config", "limit", f"{2**63}TB"], ["config", "retention", f"{2**63}d"], ["config", "warn-at", "-1"],
                 ["list", "--limit=-1"], ["list", f"--limit={2**64}"], ["check", "--read-data-subset=101%"]):
        result = rig.run(*(bench.stock[1].path if word == "NEW" else word for word in line))
        harmless(result.must(64, about=" ".join(line)), line[0])
    expect(len(clean(rig)) == 1, "something was stored or released")


TESTS = [
    ("bundles with hostile names", file_names),
    ("names that are not UTF-8", not_unicode),
    ("names from a pipe, each ended by NUL", names_from_a_pipe),
    ("names with a leading dash, and ../", dashes),
    ("the longest names and paths", long_names),
    ("hostile ids, sessions, destinations, values", words),
    ("numbers beyond their limits: 64", numbers),
]
