"""Standard streams that are full or closed, or whose reader goes away."""
import functools
import os
import signal
import subprocess

from checks import Failed, PATIENCE, expect

READING = {"verify": ["verify", "BUNDLE"], "verify --json": ["verify", "--json", "BUNDLE"],
           "verify of two": ["verify", "BUNDLE", "BUNDLE"], "show": ["show", "BUNDLE"],
           "show --json": ["show", "--json", "BUNDLE"], "key show": ["key", "show"], "key public": ["key", "public"],
           "trust list": ["trust", "list"], "--help": ["--help"], "--version": ["--version"]}
NEW = {"pack -o -": ["pack", "RAW", "-o", "-"], "pack --json": ["pack", "RAW", "--json", "-o", "NEW"],
       "pack --dry-run --json": ["pack", "RAW", "--json", "--dry-run"]}


def words_of(rig, words):
    bundle = rig.out / "x.bundle"
    if "BUNDLE" in words and not bundle.exists():
        rig.bundle()
    names = {"BUNDLE": bundle, "RAW": rig.raw, "NEW": rig.out / "new.bundle"}
    return [names.get(word, word) for word in words]


def full(words, bench):
    """A full disk behind standard output must not look like success."""
    rig = bench.rig()
    with open("/dev/full", "wb") as sink:
        result = rig.run(*words_of(rig, words), stdout=sink).must(74)
    result.naming("standard output", "full")
    expect(len(result.text.splitlines()) <= 3, f"a storm of messages: {result.text[:300]!r}")


def quiet_needs_no_output(bench):
    rig = bench.rig()
    bundle = rig.bundle()
    with open("/dev/full", "wb") as sink:
        rig.run("verify", "-q", bundle, stdout=sink).must(0)
        rig.run("verify", bundle, stderr=sink).must(0, about="full standard error")
        rig.pack(rig.out / "new.bundle", stderr=sink).must(0, about="full standard error")
    rig.verify(rig.out / "new.bundle")


def reader_goes_away(bench):
    """`pack -o - | head -c 100` ends by SIGPIPE, or with 74 and one message if that signal is ignored."""
    rig = bench.rig()
    seen = []
    for words in (["pack", rig.raw, "-o", "-"], ["show", rig.bundle()], ["verify", rig.out / "x.bundle"], ["--help"]):
        for ignored in (False, True):
            reader, writer = os.pipe()
            os.close(reader)
            before = functools.partial(signal.signal, signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL)
            result = rig.run(*words, stdout=writer, restore_signals=False, preexec_fn=before)
            os.close(writer)
            result.must(74, *(() if ignored else (-signal.SIGPIPE,)), about=f"{words[0]}, SIGPIPE ignored: {ignored}")
            expect(len(result.text.splitlines()) <= 2, f"a storm of messages: {result.text[:300]!r}")
            seen.append(result.code)
    done = subprocess.run(["sh", "-c", '"$@" | head -c 100 > part', "sh", *rig.argv("pack", rig.raw, "-o", "-")],
                          env=rig.env, cwd=rig.out, capture_output=True, timeout=PATIENCE, check=False)
    expect(len((rig.out / "part").read_bytes()) == 100, "head got fewer than 100 bytes")
    expect(len(done.stderr.splitlines()) <= 2, f"a storm of messages: {done.stderr[:300]!r}")


def closed(rig, number, *words):
    """Runs with one standard stream closed, as `>&-` closes it."""
    how = {"close_fds": False, "preexec_fn": functools.partial(os.close, number), "stdin": None, "stdout": None,
           "stderr": None}
    with open(os.devnull, "r+b") as null:
        for other, name in enumerate(("stdin", "stdout", "stderr")):
            how[name] = null if other == number else subprocess.PIPE if other else null
        return rig.run(*words, **how)


def closed_stream(number, bench):
    """The first opened file gets the number of the closed stream; output must not be written into it."""
    rig = bench.rig()
    bundle = rig.bundle()
    data = bundle.read_bytes()
    for words in ([*READING.values(), *NEW.values(), ["pack", "RAW", "-o", "NEW2"], ["verify", "-"],
                   ["trust", "add", "other", "-"], ["trust", "revoke", "rig"], ["key", "recover", "--counter", "90"]]):
        words = [rig.out / "new2.bundle" if word == "NEW2" else word for word in words_of(rig, words)]
        result = closed(rig, number, *words)
        about = f"{' '.join(map(str, words[:2]))} without {('stdin', 'stdout', 'stderr')[number]}"
        result.must(0, 2, 66, 74, 78, about=about)
        rig.state(about)
        rig.run("trust", "list").must(0, about=f"trust list after {about}")
        expect(bundle.read_bytes() == data, f"{about}: the bundle that was read has changed")
        for path in rig.out.glob("new*.bundle"):
            expect(rig.run("verify", path).code in (0, 4), f"{about}: {path.name} is not whole")
        rig.run("key", "public").must(0, about=f"key public after {about}")
        expect(not rig.strays(), f"{about}: leaves {rig.strays()}")
    lone = bench.rig(empty=True)
    closed(lone, number, "key", "new").must(0, 74, about="key new")
    lone.state("key new")
    lone.bundle()


def interrupted_writer(bench):
    """One pipe delivers its bytes one by one, and another ends in the middle."""
    rig = bench.rig()
    data = rig.bundle().read_bytes()
    for cut, code in ((None, 0), (len(data) - 1, 2), (1500, 2), (0, 2)):
        tool = subprocess.Popen(rig.argv("verify", "-"), env=rig.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
        for start in range(0, len(data[:cut]), 97):
            tool.stdin.write(data[:cut][start:start + 97])
            tool.stdin.flush()
        try:
            out, _ = tool.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            tool.kill()
            raise Failed("hangs on a slow pipe") from None
        expect(tool.returncode == code,
               f"a pipe of {cut} bytes: exit {tool.returncode}, expected {code}: {out[:200]!r}")


TESTS = [(f"{title} > /dev/full: 74", functools.partial(full, words)) for title, words in (READING | NEW).items()]
TESTS += [
    ("verify -q and full standard error: no failure", quiet_needs_no_output),
    ("a reader that goes away: a quiet end", reader_goes_away),
    ("closed standard input", functools.partial(closed_stream, 0)),
    ("closed standard output: nothing is printed into a file", functools.partial(closed_stream, 1)),
    ("closed standard error: nothing is printed into a file", functools.partial(closed_stream, 2)),
    ("a slow pipe, and one that ends in the middle", interrupted_writer),
]
