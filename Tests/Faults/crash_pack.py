"""`pack` is killed at each of its system calls from the key on.

It promises that a bundle is complete or missing, no counter is used twice, the key stays usable, and no file is left
behind. Linux can replace a file only if the new one gets another name first, so a kill just before `rename` leaves that
name: a hidden file beside a bundle is then allowed. Beside the key it contains a secret, so the next run must remove
it.
"""
import functools
import re

from checks import Failed
from injection import prefix, report, since, sweep, trace, without_unnamed_files
from records import counter_in

MODES = {"a new bundle": (), "a bundle that replaces another": ("--force",), "a bundle in a pipe": ("pipe",),
         "a new bundle without O_TMPFILE": ("named",),
         "a bundle that replaces another, without O_TMPFILE": ("named", "--force")}


class Scene:
    """One way to pack, and a rig for each trial."""

    def __init__(self, bench, words):
        self.bench = bench
        self.named, self.piped = "named" in words, "pipe" in words
        self.options = [word for word in words if word.startswith("--")]
        self.hidden = r"\.x\.bundle\.\w+\.tmp" if self.named or self.options else "nothing"

    def rig(self):
        rig = self.bench.rig()
        rig.bundle("before.bundle")
        if self.options:
            rig.bundle("x.bundle")
        return rig

    def arguments(self, rig):
        return ["pack", rig.raw, "-o", "-" if self.piped else rig.out / "x.bundle", *self.options]

    def run(self, rig, **how):
        if not self.piped:
            return rig.run(*self.arguments(rig), **how)
        with open(rig.out / "x.bundle", "wb") as sink:
            return rig.run(*self.arguments(rig), stdout=sink, **how)

    def calls(self):
        rig = self.rig()
        calls = trace(rig, *self.arguments(rig))
        self.extra = without_unnamed_files(calls) if self.named else ()
        if self.named:
            rig = self.rig()
            calls = trace(rig, *self.arguments(rig), extra=self.extra)
            if any("O_TMPFILE" in call.text for call in calls):
                raise Failed("O_TMPFILE is used although /proc/self/fd is missing")
        return since(calls, "device.key")


def trial(scene, call):
    """Kills at `call`; returns (kind, text) of each broken promise."""
    rig = scene.rig()
    seen = {rig.out / name: (rig.out / name).read_bytes() for name in ("before.bundle", "x.bundle")
            if (rig.out / name).exists()}
    target = rig.out / "x.bundle"
    killed = scene.run(rig, prefix=prefix(call, "signal=KILL", scene.extra))
    problems = [] if killed.code in (-9, 137) else [("kill", f"was not killed: exit {killed.code}")]
    left = [name for name in rig.strays() if "/" not in name and not re.fullmatch(scene.hidden, name)]
    counters = [counter_in(data) for data in seen.values()]
    try:
        data = target.read_bytes() if target.exists() else None
        if data is not None and data != seen.get(target):
            counters.append(counter_in(data))
            if not scene.piped:
                rig.verify(target, about="the target is there and not whole")
        if data is None and target in seen:
            problems.append(("target", "the old bundle is gone"))
        rig.state("after the kill")
        again = rig.bundle("again.bundle")
        rig.verify(again, about="the next bundle")
        last = counter_in(again.read_bytes())
        if last <= max(counter or 0 for counter in counters):
            problems.append(("counter", f"{last} comes after {counters}"))
        if last != rig.state():
            problems.append(("counter", f"the state says {rig.state()}, the last bundle has {last}"))
    except Failed as reason:
        problems.append(("whole", str(reason)))
    left += [name for name in rig.strays() if "/" in name]
    if left:
        problems.append(("stray", f"leaves {', '.join(left)}"))
    return [(kind, f"killed at {call}: {text}") for kind, text in problems]


@functools.cache
def crashes(bench, words):
    """Returns all broken promises of one way to pack; two tests use them."""
    scene = Scene(bench, words)
    return sweep(scene.calls(), functools.partial(trial, scene))


def keeps_promises(words, bench):
    report([text for kind, text in crashes(bench, words) if kind != "stray"])


def leaves_nothing(words, bench):
    report([text for kind, text in crashes(bench, words) if kind == "stray"])


def syncs_in_order(bench):
    """After a power cut the counter is on disk before any byte of the bundle, and the bytes before the name."""
    rig = bench.rig()
    calls = since(trace(rig, "pack", rig.raw, "-o", rig.out / "x.bundle", extra=("-y",)), "device.key")

    def after(start, name, word, what):
        for index in range(start, len(calls)):
            if calls[index].name.startswith(name) and word in calls[index].text:
                return index + 1
        raise Failed(f"{what} is missing or in the wrong place")

    step = after(0, "write", "capture-bundle-key-state", "write of the new counter")
    step = after(step, "fsync", str(rig.keys), "fsync of the state")
    step = after(step, "rename", 'device.key.state"', "rename of the state")
    step = after(step, "fsync", f"{rig.keys}>", "fsync of the key's folder")
    step = after(step, "write", "mimetype", "write of the bundle after the counter is on disk")
    step = after(step, "fsync", str(rig.out), "fsync of the bundle")
    step = after(step, "link", "x.bundle", "naming of the bundle")
    after(step, "fsync", f"{rig.out}>", "fsync of the bundle's folder")


TESTS = [("after a power cut the counter precedes the bundle, and bytes precede names", syncs_in_order)]
for mode, mode_words in MODES.items():
    TESTS += [(f"{mode}: a kill at any system call breaks nothing", functools.partial(keeps_promises, mode_words)),
              (f"{mode}: a kill at any system call leaves no stray", functools.partial(leaves_nothing, mode_words))]
