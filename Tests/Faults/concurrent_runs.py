"""Many runs at once: no counter is used twice, one run gets a name, and a trust file loses no line."""
import fcntl
import os
import subprocess

from checks import PATIENCE, expect
from records import counter_in


def together(rig, runs):
    """Starts all commands at once; returns (exit code, stderr) of each."""
    started = [subprocess.Popen(rig.argv(*words), env=rig.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE) for words in runs]
    try:
        return [(tool.wait(PATIENCE), tool.stderr.read().decode("utf-8", "replace")) for tool in started]
    finally:
        for tool in started:
            tool.kill()
            tool.wait()
            tool.stderr.close()


def all_zero(ends, about):
    bad = [end for end in ends if end[0] != 0]
    expect(not bad, f"{about}: {len(bad)} failed, the first with {bad[0] if bad else ''}")


def distinct_counters(bench):
    rig = bench.rig()
    for turn in range(2):
        paths = [rig.out / f"{turn}-{index}.bundle" for index in range(16)]
        all_zero(together(rig, [["pack", rig.raw, "-o", path] for path in paths]), "16 packs")
        rig.verify(*paths)
    counters = sorted(counter_in(path.read_bytes()) for path in rig.out.iterdir())
    expect(counters == list(range(1, 33)), f"counters of 32 packs: {counters}")
    expect(rig.state() == 32 and not rig.strays(), f"state {rig.state()}, leaves {rig.strays()}")


def counters_go_up_in_time(bench):
    """Runs follow each other, through other names of the key and with failures between them."""
    rig = bench.rig()
    link = rig.folder / "other"
    link.symlink_to(rig.keys)
    last = 0
    for index in range(6):
        path = rig.out / f"{index}.bundle"
        if index % 2:
            rig.run("pack", rig.raw, "-o", path, "--key", link / "device.key").must(0)
        else:
            rig.run("pack", rig.raw, "-o", path, cwd=rig.keys, env={"CAPBUNDLE_KEY": "device.key"}).must(0)
        rig.pack(path).must(73)
        counter = counter_in(path.read_bytes())
        expect(counter > last, f"{counter} comes after {last}")
        last = counter


def one_winner(bench):
    for options in ((), ("--force",)):
        rig = bench.rig()
        target = rig.out / "x.bundle"
        for _ in range(5):
            ends = together(rig, [["pack", rig.raw, "-o", target, *options]] * 4)
            codes = sorted(code for code, _ in ends)
            expect(codes == ([0, 0, 0, 0] if options else [0, 73, 73, 73]), f"exit codes {codes} with {options}")
            rig.verify(target)
            expect(not rig.strays(), f"leaves {rig.strays()}")
            target.unlink()


def one_key(bench):
    """Several `key new` at once make one key, with its own state and public half."""
    rig = bench.rig(empty=True)
    codes = sorted(code for code, _ in together(rig, [["key", "new"]] * 4))
    expect(codes == [0, 73, 73, 73], f"exit codes {codes}")
    rig.run("trust", "add", "rig", rig.key + ".pub").must(0)
    rig.verify(rig.bundle())
    expect(not rig.strays(), f"leaves {rig.strays()}")


def all_lines(bench):
    rig = bench.rig()
    pems = []
    for index in range(8):
        key = rig.folder / f"key{index}"
        rig.run("key", "new", "--key", key).must(0)
        pems.append(f"{key}.pub")
    ends = together(rig, [["trust", "add", f"device-{index}", pem] for index, pem in enumerate(pems)]
                    + [["trust", "revoke", "rig"]])
    all_zero(ends, "trust add and revoke")
    listed = rig.run("trust", "list").must(0).out.decode()
    missing = [name for name in ["rig", *(f"device-{index}" for index in range(8))] if name not in listed]
    expect(not missing and "revoked" in listed, f"missing from the trust file: {missing}; {listed!r}")


def same_name(bench):
    """One key is added four times at once under one name, and the file has one line."""
    rig = bench.rig(empty=True)
    rig.run("key", "new").must(0)
    codes = sorted(code for code, _ in together(rig, [["trust", "add", "rig", rig.key + ".pub"]] * 4))
    expect(codes == [0, 73, 73, 73], f"exit codes {codes}")
    expect(len(rig.trust.read_text().splitlines()) == 1, rig.trust.read_text())


def readers_beside_writers(bench):
    """`verify` beside `trust revoke` and `trust add` sees the old file or the new one, never a part."""
    rig = bench.rig()
    bundle = rig.bundle()
    other = rig.folder / "key"
    rig.run("key", "new", "--key", other).must(0)
    runs = [["verify", bundle] for _ in range(12)]
    runs[3] = ["trust", "add", "other", f"{other}.pub"]
    runs[7] = ["trust", "revoke", "rig"]
    ends = together(rig, runs)
    wrong = [end for index, end in enumerate(ends) if end[0] not in ((0,) if index in (3, 7) else (0, 4))]
    expect(not wrong, f"{wrong[:2]}")


def waits_for_the_lock(bench):
    """A lock that another program has delays a command but does not make it fail; the lock's file is never replaced."""
    rig = bench.rig()
    rig.bundle()
    lock = rig.keys / "device.key.lock"
    inode = lock.stat().st_ino
    handle = os.open(lock, os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    tool = subprocess.Popen(rig.argv("pack", rig.raw, "-o", rig.out / "y.bundle"), env=rig.env,
                            stderr=subprocess.DEVNULL)
    try:
        tool.wait(0.4)
        waited = False
    except subprocess.TimeoutExpired:
        waited = True
    finally:
        os.close(handle)
    expect(waited, "did not wait for the lock")
    expect(tool.wait(20) == 0, f"exit {tool.returncode} after the lock is free")
    expect(lock.stat().st_ino == inode, "the lock file was replaced")


TESTS = [
    ("16 packs at once, twice: 32 counters", distinct_counters),
    ("counters increase, under every name of the key", counters_go_up_in_time),
    ("packs to one name at once: one wins", one_winner),
    ("key new four times at once: one key", one_key),
    ("trust add and revoke at once: no line is lost", all_lines),
    ("trust add of one name at once: one line", same_name),
    ("verify beside trust add and revoke", readers_beside_writers),
    ("packs wait for a held lock and never replace it", waits_for_the_lock),
]
