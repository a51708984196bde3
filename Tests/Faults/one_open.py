"""A bundle is opened once and read once, so what happens to the file meanwhile cannot separate verdict and content.

The tool is stopped after its first read of the bundle. Then the file is replaced or overwritten, and the tool goes on.
"""
import functools
import json
import os
import re
import signal
import subprocess
import time

from bench import PHOTO, write_raw
from checks import Failed, PATIENCE, Result, every, expect
from tracing import calls_in, require_strace, separate, strace

COMMANDS = {
    "verify": ["verify", "--json"],
    "show": ["show", "--json"],
    "extract": ["extract", "-o", "opened"],
    "multipart": ["multipart", "-o", "body"],
    "report": ["report", "-o", "page.html"],
}


def bundles(bench):
    """Returns a rig with two sound bundles of one length that are larger than a read."""
    rig = bench.rig()
    for name, filler in (("one", b"\x12\x34"), ("two", b"\x56\x78")):
        raw = write_raw(rig.folder / f"raw-{name}", PHOTO[:-2] + filler * 200_000 + PHOTO[-2:])
        rig.pack(rig.out / f"{name}.bundle", raw=raw).must(0)
    one, two = (rig.out / f"{name}.bundle" for name in ("one", "two"))
    expect(one.stat().st_size == two.stat().st_size and one.read_bytes() != two.read_bytes(), "the bundles are unfit")
    return rig, one, two


def reads(rig, words, path):
    """Returns how often the file is opened, and the number of the first call of read that reads it."""
    log = rig.folder / "trace"
    rig.run(*words, path, prefix=strace("-e", "trace=openat,read", log=log)).must(0)
    calls = calls_in(log)
    opened = [index for index, (_, name, text) in enumerate(calls) if name == "openat" and f'"{path}"' in text]
    expect(opened, "strace did not see the file")
    number = re.search(r"= (\d+)", calls[opened[0]][2])[1]
    first = next(index for index in range(opened[0], len(calls))
                 if calls[index][1] == "read" and calls[index][2].startswith(f"{number},"))
    return len(opened), sum(1 for call in calls[:first + 1] if call[1] == "read")


def clear(rig):
    for name in ("body", "page.html"):
        (rig.out / name).unlink(missing_ok=True)
    for path in sorted((rig.out / "opened").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def meanwhile(rig, words, path, change):
    """Runs the tool, and calls `change` after its first read of the file; returns the Result."""
    clear(rig)
    _, number = reads(rig, words, path)
    clear(rig)
    log = rig.folder / "stopped"
    log.unlink(missing_ok=True)
    prefix = strace("-e", "trace=read", "-e", f"inject=read:signal=SIGSTOP:when={number}", log=log)
    with subprocess.Popen([*map(os.fspath, prefix), *rig.argv(*words, path)], env=rig.env, cwd=rig.out,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as tool:
        try:
            stopped = wait_for_stop(log)
            change()
            os.kill(stopped, signal.SIGCONT)
            out, err = tool.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired as reason:
            raise Failed(f"the stopped tool does not end: {reason}") from None
        finally:
            if tool.poll() is None:
                os.killpg(tool.pid, signal.SIGKILL)
    return Result(tool.returncode, out, separate(err)[0])


def wait_for_stop(log):
    """Returns the process that strace has stopped."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        text = log.read_text(errors="replace") if log.exists() else ""
        if found := re.search(r"^(\d+) +--- stopped by SIGSTOP", text, re.MULTILINE):
            return int(found[1])
        time.sleep(0.01)
    raise Failed("strace did not stop the tool")


def opened_once(bench):
    require_strace()
    rig, one, _ = bundles(bench)

    def judge(_, words):
        clear(rig)
        count, _ = reads(rig, words, one)
        expect(count == 1, f"opens the bundle {count} times")

    every(COMMANDS, judge)


def renamed(bench):
    """Another bundle takes the name: every result is about the first one."""
    require_strace()
    rig, one, two = bundles(bench)
    first, second = one.read_bytes(), two.read_bytes()
    known = json.loads(rig.run("verify", "--json", one).must(0).out)["bundle"]["manifest_sha256"]

    def judge(name, words):
        one.write_bytes(first)
        two.write_bytes(second)
        result = meanwhile(rig, words, one, lambda: os.replace(two, one)).must(0)
        if name in ("verify", "show"):
            expect(json.loads(result.out)["bundle"]["manifest_sha256"] == known, "the report is about the other bundle")
        elif name == "extract":
            expect((rig.out / "opened/photo.jpg").read_bytes() in first, "the photo of the second bundle was written")
        elif name == "multipart":
            rig.run("from-body", "body", "-o", "again.bundle").must(0)
            expect((rig.out / "again.bundle").read_bytes() == first, "the body holds the second bundle")
            (rig.out / "again.bundle").unlink()

    every(COMMANDS, judge)


def overwritten(change, codes, bench):
    """The file itself changes: the verdict is about the bytes that were read, and nothing unverified is written."""
    require_strace()
    rig, one, two = bundles(bench)
    first, second = one.read_bytes(), two.read_bytes()

    def judge(name, words):
        one.write_bytes(first)
        result = meanwhile(rig, words, one, lambda: change(one, second))
        if name in ("verify", "extract", "multipart"):
            result.must(*codes)
        strays = [path for path in (rig.out / "opened").rglob("*") if path.is_file()] + list(rig.out.glob("body"))
        expect(not strays, f"leaves {strays}")

    every(COMMANDS, judge)


def write_over(path, data):
    with open(path, "r+b") as file:
        file.write(data)


TESTS = [
    ("each command opens a bundle once", opened_once),
    ("another bundle takes the name while the first is read", renamed),
    ("a bundle is overwritten while it is read", functools.partial(overwritten, write_over, (1, 2, 66))),
    ("a bundle is cut while it is read", functools.partial(
        overwritten, lambda path, data: os.truncate(path, len(data) // 2), (2, 66))),
]
