"""`verify --state`: a verdict that was printed is in the state, whatever happens before and after it.

The state is read here byte by byte, as section 11.2 of Spec/capture-bundle.md describes it.
"""
import functools
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import tarfile

from bench import NOBODY
from checks import PATIENCE, Failed, Skipped, every, expect
from concurrent_runs import together
from injection import prefix, report, since, sweep, trace
from real_disks import mounted, tmpfs
from records import counter_in

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


class Scene:
    """One way to verify: a single bundle, or several in one run."""

    def __init__(self, bench, count):
        self.rig = bench.rig()
        self.bundles = [self.rig.bundle(f"{index}.bundle") for index in range(count)]
        self.count = count

    def fresh(self, name):
        """Returns a state folder of this name that does not exist."""
        folder = self.rig.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def arguments(self, folder):
        return ["verify", "--json", "--state", folder, *(["--jobs", "1"] if self.count > 1 else []), *self.bundles]

    def calls(self):
        folder = self.fresh("trace-state")
        found = since(trace(self.rig, *self.arguments(folder)), str(folder))
        if self.count > 1:
            # strace counts the calls of each thread. Only the thread that prints makes these calls.
            found = [call for call in found if call.name in ("flock", "pwrite64", "fdatasync", "fsync")]
        expect(any(call.name == "pwrite64" for call in found), "nothing was written into the state")
        return found


def kill(scene, call):
    folder = scene.fresh(f"killed-{call.name}-{call.number}")
    result = scene.rig.run(*scene.arguments(folder), prefix=prefix(call, "signal=KILL"))
    # How many of several bundles share a sync depends on the threads, so a later call may not occur in this run.
    is_over = len(scene.bundles) > 1 and result.code == 0
    problems = [] if result.code in (-9, 137) or is_over else [f"was not killed: exit {result.code}"]
    try:
        known = records(folder)
        for bundle in scene.bundles:
            expected = record_of(bundle)
            if str(bundle) in verified(result.out):
                expect(expected.items() <= known.items(), f"{bundle.name} was verified but is not in the state")
            for counter, digest in expected.items():
                expect(known.get(counter, digest) == digest, f"counter {counter} has a wrong record")
        scene.rig.run(*scene.arguments(folder)).must(0, about="after the kill")
        whole = functools.reduce(lambda all_, bundle: all_ | record_of(bundle), scene.bundles, {})
        expect(records(folder) == whole, "the state after the next run is not complete")
    except Failed as reason:
        problems.append(str(reason))
    return [f"killed at {call}: {text}" for text in problems]


def survives_kills(count, bench):
    scene = Scene(bench, count)
    report(sweep(scene.calls(), functools.partial(kill, scene)))


FAULTS = {"pwrite64": ("ENOSPC", "EIO"), "fdatasync": ("EIO", "ENOSPC"), "fsync": ("EIO",), "flock": ("ENOLCK",),
          "pread64": ("EIO",)}


def fail(scene, item):
    call, error = item
    folder = scene.fresh(f"failed-{call.name}-{call.number}-{error}")
    result = scene.rig.run(*scene.arguments(folder), prefix=prefix(call, f"error={error}"))
    problems = []
    try:
        result.must(74).naming(folder)
        expect(not verified(result.out), "a verdict was printed")
        expect(not records(folder), "a bundle without a verdict stays recorded")
        scene.rig.run(*scene.arguments(folder), "--require", "fresh").must(0, about="the next run")
    except Failed as reason:
        problems.append(str(reason))
    return [f"{error} at {call}: {text}" for text in problems]


def survives_failures(bench):
    """If a call fails, no verdict is printed, and the state is as it was."""
    scene = Scene(bench, 1)
    report(sweep([(call, error) for call in scene.calls() for error in FAULTS.get(call.name, ())],
                 functools.partial(fail, scene)))


def syncs_in_order(bench):
    """After a power cut, each verdict that was printed has its record on the disk."""
    scene = Scene(bench, 1)
    folder = scene.fresh("state")
    calls = since(trace(scene.rig, *scene.arguments(folder), extra=("-y",)), str(folder))
    key = next(iter(record for record in folder.iterdir() if record.name != "lock"))
    step = 0
    for name, word, what in (("mkdir", folder.name, "making of the folder"),
                             ("fsync", f"{folder.parent}>", "fsync of the folder's parent"),
                             ("flock", "lock>, LOCK_EX", "locking"), ("openat", key.name, "opening of the key's file"),
                             ("fsync", f"{folder}>", "fsync of the folder"), ("pwrite64", key.name, "the record"),
                             ("fdatasync", key.name, "fdatasync of the record"),
                             ("write", "captured_at", "the verdict")):
        step = next((index + 1 for index in range(step, len(calls))
                     if calls[index].name.startswith(name) and word in calls[index].text), None)
        if step is None:
            raise Failed(f"{what} is missing or in the wrong place")


def one_accepts(bench):
    """Of many processes that verify one bundle at once, one finds it fresh."""
    rig = bench.rig()
    bundle = rig.bundle()
    state = rig.folder / "state"
    codes = sorted(code for code, _ in together(rig, [["verify", "--state", state, "--require", "fresh", bundle]] * 12))
    expect(codes == [0] + [4] * 11, f"exit codes {codes}")
    expect(records(state) == record_of(bundle), "the state has another record")


def copied_key(bench):
    """A key is copied with its state, and both copies sign. Of the two bundles one is accepted, in any order."""
    rig = bench.rig()
    shutil.copytree(rig.keys, rig.folder / "copy")
    bundles = [rig.bundle("one.bundle"), rig.out / "two.bundle"]
    rig.pack(bundles[1], "--no-depth", "--key", rig.folder / "copy/device.key").must(0)
    for turn in range(6):
        state = rig.folder / f"state{turn}"
        codes = sorted(code for code, _ in together(rig, [["verify", "--state", state, one] for one in bundles]))
        expect(codes == [0, 4], f"exit codes {codes}")
        expect(records(state) in [record_of(one) for one in bundles], "the state has another record")
        result = rig.run("verify", "--state", state, *bundles).must(4)
        expect(result.out.count(b"counter.reused") == 1, result.out.decode())


def shuffled_archive(bench):
    """Several runs at once over one archive in different orders: no false alarm, and each bundle is fresh once."""
    rig = bench.rig()
    bundles = [rig.bundle(f"{index}.bundle") for index in range(60)]
    state, order = rig.folder / "state", random.Random(14)
    runs = []
    for jobs in ("1", "2", "8"):
        order.shuffle(bundles)
        runs.append(["verify", "--json", "--state", state, "--require", "fresh", "--jobs", jobs, *bundles])
    started = [subprocess.Popen(rig.argv(*words), env=rig.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
               for words in runs]
    outputs = [tool.communicate(timeout=PATIENCE)[0] for tool in started]
    fresh = [file for out in outputs for file in verified(out)]
    expect(sorted(fresh) == sorted(map(str, bundles)), f"{len(fresh)} verdicts 0 for {len(bundles)} bundles")
    expect(not any(b"counter.reused" in out for out in outputs), "counter.reused for a bundle whose counter was not reused")
    for out, words in zip(outputs, runs):
        files = [json.loads(line)["file"] for line in out.splitlines()]
        expect(files == [str(one) for one in words[8:]], "the verdicts are not in the order of the input")


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


def open_to_others(bench):
    def judge(_, change):
        rig = bench.rig()
        bundle = rig.bundle()
        state = rig.folder / "state"
        rig.run("verify", "--state", state, bundle).must(0)
        key = next(one for one in state.iterdir() if one.name != "lock")
        path = {"folder": state, "file": key, "lock": state / "lock"}[change[0]]
        before = records(state)
        change[1](path)
        result = rig.run("verify", "--state", state, bundle).must(77).naming(path)
        expect(not result.out, "a verdict was printed")
        expect(records(state) == before, "the state was changed")

    cases = {f"{name} with mode {mode:o}": (name, lambda path, mode=mode: path.chmod(mode))
             for name, modes in (("folder", (0o720, 0o702, 0o1777)), ("file", (0o620, 0o602)), ("lock", (0o606, 0o660))) for mode in modes}
    if os.geteuid() == 0:
        cases |= {f"{name} of another user": (name, lambda path: os.chown(path, NOBODY, NOBODY))
                  for name in ("folder", "file", "lock")}
    every(cases, judge)


def odd_places(bench):
    rig = bench.rig()
    bundle = rig.bundle()
    (rig.folder / "file").write_text("x")
    os.mkfifo(rig.folder / "fifo")
    (rig.folder / "dangling").symlink_to("nowhere")
    for name in ("file", "fifo", "dangling", "missing/below", "file/below"):
        result = rig.run("verify", "--state", rig.folder / name, bundle).must(73, about=name)
        result.naming(rig.folder / name, name)
        expect(not result.out, f"{name}: a verdict was printed")
    rig.run("verify", "--state", "", bundle).must(64, 73)
    rig.run("verify", "--require", "fresh", bundle).must(64)
    (rig.folder / "link").symlink_to("real")
    (rig.folder / "real").mkdir(0o700)
    rig.run("verify", "--state", rig.folder / "link", bundle).must(0)
    expect(records(rig.folder / "real") == record_of(bundle), "the state is not in the folder behind the link")


def odd_files(bench):
    """What lies where the key's file belongs is neither followed nor read for ever."""
    kinds = {"a FIFO": os.mkfifo, "a folder": os.mkdir,
             "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
             "a short record": lambda path: path.write_bytes(bytes(31))}

    def judge(_, make):
        rig = bench.rig()
        bundle = rig.bundle()
        state = rig.folder / "state"
        rig.run("verify", "--state", state, bundle).must(0)
        path = next(one for one in state.iterdir() if one.name != "lock")
        path.unlink()
        make(path)
        result = rig.run("verify", "--state", state, bundle).must(78).naming(path)
        expect(not result.out, "a verdict was printed")

    def judge_lock(_, make):
        rig = bench.rig()
        bundle = rig.bundle()
        state = rig.folder / "state"
        state.mkdir(0o700)
        make(state / "lock")
        result = rig.run("verify", "--state", state, bundle).must(78).naming(state / "lock")
        expect(not result.out, "a verdict was printed")

    every(kinds, judge)
    every({name: make for name, make in kinds.items() if name != "a short record"}, judge_lock)


def full_disk(bench):
    """If the record does not fit, no verdict is printed; with room again the bundle is fresh."""
    rig = bench.rig()
    bundle = rig.bundle()
    place = rig.folder / "small"
    fill = 'head -c 9999999 /dev/zero > "$place/filler" 2> /dev/null; true'
    result, left = mounted(rig, place, f'{tmpfs("size=64k,mode=700")} && {{ mkdir -m 700 "$place/state"; {fill}; }}',
                           "verify", "--state", place / "state", bundle)
    result.must(74).naming(place / "state")
    expect(not result.out, "a verdict was printed")
    expect("state" in left, f"the mount has {left}")


def file_size_limit(bench):
    rig = bench.rig()
    rig.run("key", "recover", "--counter", "100000").must(0)
    bundle = rig.bundle()
    state = rig.folder / "state"

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    result = rig.run("verify", "--state", state, bundle, restore_signals=False, preexec_fn=limit).must(74)
    expect(not result.out and not records(state), "a verdict was printed, or a record stays")
    rig.run("verify", "--state", state, "--require", "fresh", bundle).must(0)


def short_write(bench):
    """If only a part of a record fits, the part is taken back, and the file can be used again."""
    rig = bench.rig()
    bundle = rig.bundle()
    state = rig.folder / "state"

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (40, 40))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    result = rig.run("verify", "--state", state, bundle, restore_signals=False, preexec_fn=limit).must(74)
    expect(not result.out and not records(state), "a verdict was printed, or a record stays")
    rig.run("verify", "--state", state, "--require", "fresh", bundle).must(0)


def answers_at_once(bench):
    """A verdict does not wait for the next name, so a program can ask about one bundle after the other."""
    rig = bench.rig()
    bundles = [rig.bundle(f"{index}.bundle") for index in range(3)]
    with subprocess.Popen(rig.argv("verify", "--json", "--from0", "--state", rig.folder / "state"), env=rig.env,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
        watch = signal.signal(signal.SIGALRM, lambda *_: tool.kill())
        signal.alarm(60)
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
            signal.alarm(0)
            signal.signal(signal.SIGALRM, watch)
            tool.kill()


def fail_fast(bench):
    """With --fail-fast, no bundle after the one that ends the run is recorded."""
    rig = bench.rig()
    bundles = [rig.bundle(f"{index}.bundle") for index in range(8)]
    state = rig.folder / "state"
    bundles[2].write_bytes(bundles[2].read_bytes() + b"x")
    rig.run("verify", "--fail-fast", "--state", state, *bundles).must(2)
    expect(records(state) == record_of(bundles[0]) | record_of(bundles[1]), f"counters {sorted(records(state))}")


def mutes_change_nothing(bench):
    """--quiet, --json and a pipe remember what the text remembers."""
    rig = bench.rig()
    bundle = rig.bundle()
    for number, words in enumerate(((), ("-q",), ("--json",), ("-q", "--json"))):
        state = rig.folder / f"state{number}"
        rig.run("verify", *words, "--state", state, bundle).must(0)
        rig.run("verify", *words, "--state", state, "--require", "fresh", bundle).must(4)
        with open(bundle, "rb") as pipe:
            rig.run("verify", *words, "--state", state, "--require", "fresh", "-", stdin=pipe).must(4)
        expect(records(state) == record_of(bundle), f"{words}: the state has another record")


def unreadable_for_this_user(bench):
    if os.geteuid() != 0:
        raise Skipped("only root can be another user")
    rig = bench.rig()
    bundle = rig.bundle()
    state = rig.folder / "state"
    rig.run("verify", "--state", state, bundle).must(0)
    for folder in (rig.home, rig.home / ".config", rig.trust.parent):
        folder.chmod(0o755)
    rig.trust.chmod(0o644)
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    result = rig.run("verify", "--trust", rig.trust, "--state", state, bundle, **who).must(73, 77).naming(state)
    expect(not result.out, "a verdict was printed")


TESTS = [
    ("a kill at any system call: a printed verdict is in the state", functools.partial(survives_kills, 1)),
    ("a kill in a run over several bundles: printed verdicts are in the state", functools.partial(survives_kills, 5)),
    ("a failing call: no verdict, and the state is as it was", survives_failures),
    ("the record is synced before the verdict is printed", syncs_in_order),
    ("twelve runs at once: exactly one run accepts the bundle", one_accepts),
    ("a copied key: one of two bundles is accepted", copied_key),
    ("an archive in three orders at once: no false alarm", shuffled_archive),
    ("the last counter uses few disk blocks", last_counter),
    ("a state that others can change is refused", open_to_others),
    ("a state of another user is refused", unreadable_for_this_user),
    ("a place that is not a folder is refused", odd_places),
    ("a record that is not a regular file is refused", odd_files),
    ("a full disk: no verdict", full_disk),
    ("a limit on the size of files: no verdict", file_size_limit),
    ("a part of a record is taken back", short_write),
    ("a verdict does not wait for the next name", answers_at_once),
    ("--fail-fast records nothing after the bundle that ends the run", fail_fast),
    ("--quiet, --json and a pipe remember the same", mutes_change_nothing),
]
