"""Many runs at once: no counter or link is used twice, one run gets a name, and a trust file loses no line."""
import fcntl
import os
import subprocess

from Faults.chains import Chain
from Faults.crash_commands import Scene
from Kit.outcomes import PATIENCE, every, expect
from Kit.records import counter_in, links_in
from Kit.rigs import write_raw


def together(rig, runs):
    """Starts all commands at once; returns (exit code, stderr) of each."""
    started = [subprocess.Popen(rig.argv(*words), env=rig.env, cwd=rig.out, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for words in runs]
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


def one_name(bench):
    """Of runs for one name one gets it, and the others are refused; with --force all succeed, with the same bytes."""
    keyless, rig = bench.rig(empty=True), Scene(bench, "multipart").rig()
    key = bench.rig(empty=True)
    key.run("key", "new").must(0)
    cases = {"pack": (rig, ["pack", "../raw", "-o", "x.bundle"], rig.out / "x.bundle"),
             "multipart": (rig, ["multipart", "../x.bundle", "-o", "one"], rig.out / "one"),
             "from-body": (rig, ["from-body", "../x.body", "-o", "one.bundle", "-q"], rig.out / "one.bundle"),
             "extract": (rig, ["extract", "../x.bundle", "photo.jpg", "-o", "."], rig.out / "photo.jpg"),
             "key new": (keyless, ["key", "new"], None),
             "trust add": (key, ["trust", "add", "rig", key.key + ".pub"], None)}

    def judge(name, case):
        rig, words, path = case
        codes = sorted(code for code, _ in together(rig, [words] * 3))
        expect(codes == [0, 73, 73], f"exit codes {codes}")
        if path:
            data = path.read_bytes()
            all_zero(together(rig, [[*words, "--force"]] * 3), "--force")
            expect(name == "pack" or path.read_bytes() == data, "--force: other bytes")
            expect(name != "pack" or rig.run("verify", path).code == 0, "--force: the bundle is not whole")

    every(cases, judge)
    expect(not list(rig.out.glob(".*")), f"leaves {list(rig.out.glob('.*'))}")
    expect(len(key.trust.read_text().splitlines()) == 1, key.trust.read_text())
    keyless.run("trust", "add", "rig", keyless.key + ".pub").must(0)
    keyless.verify(keyless.bundle())
    expect(not keyless.strays(), f"leaves {keyless.strays()}")


def one_link(bench):
    """Of runs for one name, one gets it and a link. Runs with another capture fail; the same capture is packed."""
    for is_same in (False, True):
        rig = bench.rig()
        raws = [write_raw(rig.folder / f"raws/{index}", device_model=f"Rig {index}") for index in range(4)]
        ends = together(rig, [["pack", rig.raw if is_same else raw, "-o", rig.out / "x.bundle", "--chain"]
                              for raw in raws])
        expect(sorted(code for code, _ in ends) == [0] + [0 if is_same else 73] * 3, f"{ends}")
        expect(Chain(rig).state()["seq"] == 1, "a refused run got a link")
        Chain(rig).judge()


def one_chain(bench):
    """Runs at once, to files and in batches, give one chain without a gap, and counters rise with it."""
    rig = bench.rig()
    raws = [write_raw(rig.folder / f"raws/{index}", device_model=f"Rig {index}") for index in range(4)]
    runs = [["pack", raws[index % 4], "-o", rig.out / f"{index}.bundle", "--chain"] for index in range(8)]
    for index in range(2):
        (rig.out / f"batch{index}").mkdir()
        runs.append(["pack", *raws, "--out-dir", rig.out / f"batch{index}", "--chain", "--jobs", "3"])
        runs.append(["pack", *raws, "--out-dir", rig.out / f"plain{index}", "--jobs", "3"])
    all_zero(together(rig, runs), "packs at once")
    chain = Chain(rig)
    chain.links |= {link for folder in rig.out.glob("batch*") for link in links_in(folder).values()}
    chain.judge()
    expect(len(chain.links) == 16, f"{len(chain.links)} links, expected 16")
    bundles = list(rig.out.glob("**/*.bundle"))
    rig.verify(*bundles)
    counters = {counter_in(path.read_bytes()) for path in bundles}
    expect(len(counters) == len(bundles) == 24, f"{len(counters)} counters for {len(bundles)} bundles")


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
    ("runs for one name at once: one wins", one_name),
    ("packs to one name at once with --chain: one link", one_link),
    ("packs and batches at once: one chain", one_chain),
    ("trust add and revoke at once: no line is lost", all_lines),
    ("verify beside trust add and revoke", readers_beside_writers),
    ("packs wait for a held lock and never replace it", waits_for_the_lock),
]
