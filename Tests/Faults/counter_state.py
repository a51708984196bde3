"""`verify --state`: a verdict that was printed is in the state, whatever happens before and after it.

The state is read here byte by byte, as section 11.2 of Spec/capture-bundle.md describes it.
"""
import functools
import hashlib
import json
import os
import subprocess
import tarfile
import threading

from Faults import failing_calls
from Faults.concurrent_runs import together
from Faults.failing_calls import fails, killed
from Faults.real_disks import limited
from Kit.injection import in_order, since, trace
from Kit.outcomes import PATIENCE, every, expect
from Kit.records import counter_in
from Kit.rigs import NOBODY

LAST = 2**32 - 1


def manifest_hash(bundle):
    with tarfile.open(bundle, "r:") as archive:
        return hashlib.sha256(archive.extractfile("manifest.json").read()).digest()


def records(folder):
    """Returns {counter: hash} of a state with at most one key, and fails if a file has another form."""
    found = {}
    for path in folder.iterdir() if folder.exists() else ():
        if path.name == "lock":
            continue
        expect(len(path.name) == 64, f"the state has the file {path.name}")
        data = path.read_bytes()
        expect(len(data) % 32 == 0, f"the file of the key has {len(data)} bytes")
        for start in range(0, len(data), 32):
            if data[start:start + 32] != bytes(32):
                found[start // 32] = data[start:start + 32]
    return found


def record_of(bundle):
    return {counter_in(bundle.read_bytes()): manifest_hash(bundle)}


def verified(out):
    """Returns the files with the verdict 0 in the lines of `verify --json`; a last line may be incomplete."""
    lines = [line for line in out.split(b"\n") if line.endswith(b"}")]
    return [one["file"] for one in map(json.loads, lines) if one["exit_code"] == 0]


class Scene(failing_calls.Scene):
    """One way to verify: a single bundle, or several in one run."""

    start = ("/seen",)

    def __init__(self, bench, count=1):
        self.count = count
        # How many of several bundles share a sync depends on the threads, so a later call may not occur in a run.
        self.may_end = count > 1
        super().__init__(bench)

    def make(self):
        rig = self.bench.rig()
        self.hashes = {}
        for index in range(self.count):
            self.hashes[f"{index}.bundle"] = record_of(rig.bundle(f"{index}.bundle"))
        self.whole = functools.reduce(dict.__or__, self.hashes.values())
        return rig

    def words(self, rig):
        return ["verify", "--json", "--state", rig.folder / "seen", *(["--jobs", "1"] if self.count > 1 else []),
                *self.hashes]

    def calls(self):
        found = super().calls()
        if self.count > 1:
            # strace counts the calls of each thread. Only the thread that prints makes these calls.
            found = [call for call in found if call.name in ("flock", "pwrite64", "fdatasync", "fsync")]
        expect(any(call.name == "pwrite64" for call in found), "nothing was written into the state")
        return found

    def judge(self, rig, ended, call, is_killed):
        folder = rig.folder / "seen"
        known, printed = records(folder), verified(ended.out)
        for name in printed:
            expect(self.hashes[name].items() <= known.items(), f"{name} was verified but is not in the state")
        expect(known.items() <= self.whole.items(), "the state has a wrong record")
        # A verdict that cannot be printed stays recorded.
        is_lost = ended.code > 0 and call.name != "write"
        if is_lost:
            expect(not printed and not known, "a verdict was printed, or a bundle without a verdict stays recorded")
        rig.run(*self.words(rig), *(["--require", "fresh"] if is_lost else [])).must(0, about="the next run")
        expect(records(folder) == self.whole, "the state after the next run is not complete")


def syncs_in_order(bench):
    """After a power cut, each verdict that was printed has its record on the disk."""
    rig = bench.rig()
    bundle, folder = rig.bundle(), rig.folder / "seen"
    calls = since(trace(rig, "verify", "--json", "--state", folder, bundle, extra=("-y",)), str(folder))
    key = next(record.name for record in folder.iterdir() if record.name != "lock")
    in_order(calls, ("mkdir", folder.name, "making of the folder"),
             ("fsync", f"{folder.parent}>", "fsync of the folder's parent"), ("flock", "lock>, LOCK_EX", "locking"),
             ("openat", key, "opening of the key's file"), ("fsync", f"{folder}>", "fsync of the folder"),
             ("pwrite64", key, "the record"), ("fdatasync", key, "fdatasync of the record"),
             ("write", "captured_at", "the verdict"))


def one_accepts(bench):
    """Of many processes that verify one bundle at once, one finds it fresh."""
    rig = bench.rig()
    bundle = rig.bundle()
    state = rig.folder / "state"
    codes = sorted(code for code, _ in together(rig, [["verify", "--state", state, "--require", "fresh", bundle]] * 12))
    expect(codes == [0] + [4] * 11, f"exit codes {codes}")
    expect(records(state) == record_of(bundle), "the state has another record")


def last_counter(bench):
    """The file of a key is sparse, so the last counter needs a few blocks."""
    rig = bench.rig()
    rig.run("key", "recover", "--counter", str(LAST - 1)).must(0)
    bundle = rig.bundle()
    state = rig.folder / "state"
    rig.run("verify", "--state", state, bundle).must(0)
    path = next(one for one in state.iterdir() if one.name != "lock")
    status = path.stat()
    expect(status.st_size == 32 << 32, f"the file has {status.st_size} bytes")
    expect(status.st_blocks * 512 <= 1 << 20, f"the file uses {status.st_blocks * 512} bytes of the disk")
    with open(path, "rb") as file:
        file.seek(32 * LAST)
        expect(file.read() == manifest_hash(bundle), "the record is wrong")
    rig.run("verify", "--state", state, "--require", "fresh", bundle).must(4)


def odd_locks(bench):
    """What lies where the lock belongs is neither followed nor read for ever; another user's state is refused."""
    def judge(_, make):
        rig = bench.rig()
        bundle = rig.bundle()
        state = rig.folder / "state"
        state.mkdir(0o700)
        make(state / "lock")
        result = rig.run("verify", "--state", state, bundle).must(77, 78).naming(state)
        expect(not result.out, "a verdict was printed")
        expect(not records(state), "the state was changed")

    cases = {"a FIFO": os.mkfifo, "a folder": os.mkdir,
             "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
             "mode 606": lambda path: (path.touch(), path.chmod(0o606))}
    if os.geteuid() == 0:
        cases["another user's lock"] = lambda path: (path.touch(0o600), os.chown(path, NOBODY, NOBODY))
        cases["another user's folder"] = lambda path: os.chown(path.parent, NOBODY, NOBODY)
    every(cases, judge)


def file_size_limit(bench):
    """A limit allows no record, or only a part of it: the part is taken back, and the file can be used again."""
    def judge(_, case):
        counter, size = case
        rig = bench.rig()
        rig.run("key", "recover", "--counter", str(counter)).must(0)
        bundle = rig.bundle()
        state = rig.folder / "state"
        result = rig.run("verify", "--state", state, bundle, **limited(size)).must(74)
        expect(not result.out and not records(state), "a verdict was printed, or a record stays")
        rig.run("verify", "--state", state, "--require", "fresh", bundle).must(0)

    every({"no record": (100_000, 100_000), "a part of it": (0, 40)}, judge)


def answers_at_once(bench):
    """A verdict does not wait for the next name, so a program can ask about one bundle after the other."""
    rig = bench.rig()
    bundles = [rig.bundle(f"{index}.bundle") for index in range(3)]
    with subprocess.Popen(rig.argv("verify", "--json", "--from0", "--state", rig.folder / "state"), env=rig.env,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
        watch = threading.Timer(PATIENCE, tool.kill)
        watch.start()
        try:
            for bundle in bundles:
                tool.stdin.write(bytes(bundle) + b"\0")
                tool.stdin.flush()
                line = tool.stdout.readline()
                expect(verified(line) == [str(bundle)], f"{line[:200]!r}")
                expect(record_of(bundle).items() <= records(rig.folder / "state").items(), "it is not in the state")
            tool.stdin.close()
            expect(tool.wait(PATIENCE) == 0, f"exit {tool.returncode}")
        finally:
            watch.cancel()
            tool.kill()


def fail_fast(bench):
    """With --fail-fast, no bundle after the one that ends the run is recorded."""
    rig = bench.rig()
    bundles = [rig.bundle(f"{index}.bundle") for index in range(8)]
    state = rig.folder / "state"
    bundles[2].write_bytes(bundles[2].read_bytes() + b"x")
    rig.run("verify", "--fail-fast", "--state", state, *bundles).must(2)
    expect(records(state) == record_of(bundles[0]) | record_of(bundles[1]), f"counters {sorted(records(state))}")


TESTS = [
    ("a kill at any system call: a printed verdict is in the state", functools.partial(killed, Scene)),
    ("a kill in a run over several bundles: printed verdicts are in the state",
     functools.partial(killed, functools.partial(Scene, count=5))),
    ("a failing call: no verdict, and the state is as it was", functools.partial(fails, Scene)),
    ("odd files and other users' files in the lock's place are refused", odd_locks),
    ("a limit on the size of files: no verdict, and a part of a record is taken back", file_size_limit),
    ("the record is synced before the verdict is printed", syncs_in_order),
    ("twelve runs at once: exactly one run accepts the bundle", one_accepts),
    ("the last counter uses few disk blocks", last_counter),
    ("a verdict does not wait for the next name", answers_at_once),
    ("--fail-fast records nothing after the bundle that ends the run", fail_fast),
]
