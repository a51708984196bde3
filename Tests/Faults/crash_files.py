"""`key new`, `key recover`, `trust add` and `trust revoke` are killed at each of their system calls.

A key without its state would sign with counters that were used before, so it must never exist; a trust file is the old
one or the new one.
"""
import functools
import shutil

from checks import Failed, expect
from injection import prefix, report, since, sweep, trace, without_unnamed_files


def sweep_over(bench, make, arguments, look, start, named):
    """Kills `arguments(rig)` at each call from the first that names `start`; `look(rig)` checks the result."""
    rig = make()
    calls = trace(rig, *arguments(rig))
    extra = ()
    if named:
        extra = without_unnamed_files(calls)
        rig = make()
        calls = trace(rig, *arguments(rig), extra=extra)

    def trial(call):
        rig = make()
        killed = rig.run(*arguments(rig), prefix=prefix(call, "signal=KILL", extra))
        try:
            expect(killed.code in (-9, 137), f"was not killed: exit {killed.code}")
            look(rig)
        except Failed as reason:
            return [f"killed at {call}: {reason}"]
        return []

    report(sweep(since(calls, start), trial))


def interrupted(bench):
    """Makes the files that a `key new` leaves if it is killed before the key itself has its name."""
    rig = bench.rig(empty=True)
    rig.keys.mkdir(parents=True)
    for end in (".pub", ".state", ".lock"):
        shutil.copy(f"{bench.template.key}{end}", f"{rig.key}{end}")
    return rig


def key_new(make, named, bench):
    def look(rig):
        if (rig.keys / "device.key").exists():
            rig.state("a key is there")
            rig.run("key", "show").must(0, about="key show of the key that is there")
        else:
            rig.run("key", "show").must(78, about="key show without a key")
            rig.run("key", "new").must(0, about="key new again")
        expect((rig.keys / "device.key").stat().st_mode & 0o777 == 0o600, "the key's mode is not 600")
        rig.run("trust", "add", "rig", rig.key + ".pub").must(0, about="trust add")
        rig.verify(rig.bundle(), about="a bundle of the key that is there")
        left = [name for name in rig.strays() if "capbundle/.device.key" in name]
        expect(not left, f"leaves a secret in {left}")

    sweep_over(bench, lambda: make(bench), lambda rig: ["key", "new"], look, "capbundle/device.key", named)


def key_recover(named, bench):
    def look(rig):
        old = rig.state("after the kill")
        expect(old in (0, 500), f"the counter is {old}, expected 0 or 500")
        rig.verify(rig.bundle())
        expect(rig.state() == old + 1, "the counter does not continue")

    sweep_over(bench, bench.rig, lambda rig: ["key", "recover", "--counter", "500"], look, "device.key.lock", named)


def trust_file(arguments, named, bench):
    """The trust file is the old or the new one, complete; then the same command leads to the new one."""
    other = bench.rig(empty=True)
    other.run("key", "new").must(0, about="key new")

    def words(rig):
        return ["trust", *(other.key + ".pub" if word == "KEY" else word for word in arguments)]

    def listed(rig):
        return rig.run("trust", "list").must(0, about="trust list").out

    plain = bench.rig()
    old = listed(plain)
    plain.run(*words(plain)).must(0, about="trust")
    new = listed(plain)
    expect(old != new, "the command changes nothing")

    def look(rig):
        found = listed(rig)
        expect(found in (old, new), f"neither the old nor the new trust file: {found!r}")
        if found == old:
            rig.run(*words(rig)).must(0, about="the same command again")
            expect(listed(rig) == new, "the same command again does not lead to the new file")

    sweep_over(bench, bench.rig, words, look, "trusted_devices", named)


WAYS = {"": False, ", without O_TMPFILE": True}
COMMANDS = {
    "key new: a kill leaves no key, or a whole one with its state":
        functools.partial(key_new, lambda bench: bench.rig(empty=True)),
    "key new after a killed one: a kill leaves no key, or a whole one": functools.partial(key_new, interrupted),
    "key recover: a kill leaves the old counter or the new one": key_recover,
    "trust add: a kill leaves the old file or the new one": functools.partial(trust_file, ["add", "other", "KEY"]),
    "trust revoke: a kill leaves the old file or the new one": functools.partial(trust_file, ["revoke", "rig"]),
}
TESTS = [(title + way, functools.partial(function, named)) for title, function in COMMANDS.items()
         for way, named in WAYS.items()]
