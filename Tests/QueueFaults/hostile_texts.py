"""Names and texts that try to control a terminal, the command line, SQL or a path."""
import json
import os

from Kit.outcomes import IS_LONG, every, expect
from Faults.hostile_names import EVIL, steers
from Kit.invariants import INNER, clean, gives, words_for_people
from Kit.queues import few, ids

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
    def judge(_, name):
        rig, (one, other) = bench.rig(), bench.stock[:2]
        path = rig.out / f"{name}.bundle"
        path.write_bytes(one.data)
        for options in ((), ("--json",)):
            result = harmless(rig.run("push", *options, path).must(0, about="push"), "push")
            expect(options or ids(result) == [one.id], f"prints {result.out!r}")
        path.write_bytes(one.data[:-700])
        harmless(rig.run("push", path).must(2, about="push of a cut one"), "push of a cut one")
        path.unlink()
        harmless(rig.run("push", path).must(66, about="push of nothing"), "push of nothing")
        path.write_bytes(other.data)
        rig.run("push", "--reference", path).must(0, about="push --reference")
        for words in (["show", other.id], ["check"], ["export", "--manifest", "-", "--format", "sha256sum"]):
            harmless(rig.run(*words).must(0, about=words[0]), words[0])
        row = json.loads(rig.run("show", "--json", other.id).must(0).out)
        expect(row.get("path") == str(path), f"the path is {row.get('path')!r}")
        gives(rig, other)
        target = rig.out / f"{name}.got"
        rig.run("get", one.id, "-o", target).must(0, about="get")
        harmless(rig.run("get", one.id, "-o", target).must(73, about="get onto a file"), "get onto a file")
        spool = [file for file in rig.names() if steers(file.encode())]
        expect(not spool, f"a name went into the queue: {spool}")

    every(few(EVIL, 2), judge)


def not_unicode(bench):
    """File names are bytes on Linux: one that is not UTF-8 is used as it is or refused, never replaced by another."""
    rig, (one, other, good) = bench.rig(), bench.stock[:3]
    name = os.fsencode(rig.out) + b"/x\xff\xfe.bundle"
    with open(name, "wb") as file:
        file.write(one.data)
    (rig.out / "x\ufffd\ufffd.bundle").write_bytes(other.data)
    names = name + b"\0" + os.fsencode(good.path) + b"\0"
    result = rig.run("push", "--from0", input=names).must(0, 64, 66, about="push --from0")
    expect(good.id in ids(result), "the good name of --from0 is not pushed")
    for options in ((), ("--reference",), ("--move",)):
        result = words_for_people(rig.run("push", *options, os.fsdecode(name)))
        result.must(0, 64, 66, about=f"push {' '.join(options)}")
        expect(result.code or ids(result) == [one.id], f"another file is read: {result.out!r}")
        expect(result.code == 0 or os.path.lexists(name), "a refused push takes its source away")
    expect(other.id not in clean(rig), "another file was read")


def odd_words(bench):
    """Dashes, newlines and ../ in names of files, also by --from0; a last name without NUL is an error."""
    rig = bench.rig()
    for name, bundle in zip(("a\nb.bundle", "-", "--move", "x.bun"), bench.stock):
        (rig.out / name).write_bytes(bundle.data)
    result = rig.run("push", "--from0", input=b"a\nb.bundle\0-\0--move\0").must(0, about="--from0")
    expect(ids(result) == [bundle.id for bundle in bench.stock[:3]], f"prints {result.out!r}")
    # A part of a name can be the name of another file.
    rig.run("push", "--from0", input=b"a\nb.bundle\0x.bun").must(64, 66, about="--from0, cut")
    expect(bench.stock[3].id not in rig.rows(), "a name that was cut off is pushed")
    expect(ids(rig.run("push", "--", "--move").must(0, about="push -- --move")) == [bench.stock[2].id], "another id")
    expect((rig.out / "--move").exists(), "--move was unlinked")
    rig.run("push", "-x.bundle").must(64, about="push -x.bundle")
    rig.run("get", bench.stock[0].id, "-o", "./-y").must(0, about="get -o ./-y")
    (rig.out / "a/b").mkdir(parents=True)
    again = rig.run("push", "../../-y", cwd=rig.out / "a/b").must(0, about="push ../../-y")
    expect(ids(again) == [bench.stock[0].id], "../: another id")
    clean(rig)


def long_names(bench):
    rig = bench.rig()
    for name, bundle in (("n" * 255, bench.stock[0]), ("\U0001f4f7" * 63, bench.stock[2])):
        (rig.out / name).write_bytes(bundle.data)
        for options in (("--reference",), ("--move",)):
            result = rig.run("push", *options, name).must(0, about=f"a name of {len(name.encode())} bytes")
            expect(ids(result) == [bundle.id], f"prints {result.out!r}")
    deep = rig.out
    while len(str(deep)) < 3500:
        deep /= "d" * 200
    deep.mkdir(parents=True)
    (deep / "x.bundle").write_bytes(bench.stock[3].data)
    rig.run("push", deep / "x.bundle").must(0, about="a path of 3,700 bytes")
    clean(rig)


def words(bench):
    """Bad names, ids and numbers are refused with 64, 66 or 78, soon and harmlessly, and nothing is made."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    target = bench.stock[2].path
    evil = [*EVIL.values(), *SQL, *PATHS, "", " ", "\t", "x" * 65, "x" * 10_000, "é", "a b", "a\u00a0b"]
    (rig.out / "disk").mkdir()
    before = rig.names()

    def refuses(line):
        harmless(rig.run(*line).must(64, 66, 78, about=" ".join(map(str, line[:2]))), line[0])

    def judge(_, text):
        lines = few([["hold", "--", text], ["get", "-o", "-", "--", text], ["push", f"--session={text}", target],
                     ["dest", "add", "--kind", "folder", "--path", rig.out / "disk", "--", text],
                     ["push", f"--dest={text}", target], ["dest", "remove", "--", text], ["list", f"--after={text}"],
                     ["config", "retention", "--", text], ["config", "--", text, "7d"],
                     ["push", f"--priority={text}", target], ["show", "--", text],
                     *([command, "--", text] for command in ("history", "cancel", "retry", "release")),
                     ["session", "end", "--", text], ["dest", "show", "--", text], ["dest", "default", "--", text],
                     ["push", f"--not-before={text}", target], ["list", f"--state={text}"], ["list", f"--limit={text}"],
                     ["prune", f"--older-than={text}"], ["push", f"--warn-at={text}", target],
                     ["check", f"--read-data-subset={text}"]], 10)
        for line in lines:
            if not (text.startswith("-") and line[0] in ("hold", "show", "history", "cancel", "retry", "release")):
                refuses(line)

    cases = {f"{number}: {text[:20]!r}": text for number, text in enumerate(evil)}
    chosen = bench.chance("words").sample(sorted(cases), 10 if IS_LONG else 2)
    every({name: cases[name] for name in chosen}, judge)
    for line in few([["push", f"--priority={2**63}", target], ["push", "--not-before=+99999999999999999999h", target],
                     ["prune", f"--older-than={2**62}w"], ["config", "limit", f"{2**63}TB"],
                     ["list", f"--limit={2**64}"], ["push", "--priority=-11", target],
                     ["push", "--not-before=2026-02-30T00:00:00Z", target],
                     ["prune", f"--older-than={2**64}s"], ["prune", "--older-than=-1d"],
                     ["config", "retention", f"{2**63}d"], ["config", "warn-at", "-1"], ["list", "--limit=-1"],
                     ["check", "--read-data-subset=101%"]], 5):
        refuses(line)
    expect(rig.names() == before, "something was made")
    expect(len(clean(rig)) == 1, "something was stored or released")


TESTS = [
    ("bundles with hostile names", file_names),
    ("names that are not UTF-8", not_unicode),
    ("names with dashes, newlines and ../, also from a pipe", odd_words),
    ("the longest names and paths", long_names),
    ("hostile ids, sessions, destinations, values", words),
]
