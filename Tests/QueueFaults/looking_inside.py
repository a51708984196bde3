"""Looking into the database with SQLite's own program, as Samples/operations.md says, and what check says about SQLite."""
import json
import re
import subprocess

from Kit.outcomes import expect
from Kit.tracing import require_strace, strace
from QueueFaults.checkpoints import CALLS, open_elsewhere, writes

FIXED = ((3, 44, 6), (3, 50, 7))  # older branches that have the fix of 3.51.3
PROGRAM = ["sqlite3", "-readonly"]


def looked(rig, statement="SELECT count(*) FROM captures", prefix=()):
    return subprocess.run([*prefix, *PROGRAM, rig.queue / "queue.sqlite", statement], capture_output=True, check=False,
                          text=True)


def count(rig, expected, about):
    """Looks into the database, and checks that neither it nor its log is changed."""
    files = [rig.queue / f"queue.sqlite{end}" for end in ("", "-wal")]
    before = [path.read_bytes() if path.exists() else b"" for path in files]
    log = rig.folder / "trace"
    done = looked(rig, prefix=strace("-y", "-e", CALLS, log=log))
    expect(done.stdout.strip() == str(expected), f"{about}: sqlite3 prints {done.stdout!r} {done.stderr!r}")
    expect(not writes(log, rig.queue), f"{about}: sqlite3 -readonly writes {writes(log, rig.queue)}")
    expect([path.read_bytes() for path in files] == before, f"{about}: sqlite3 -readonly changes the database or its log")


def readonly(bench):
    require_strace()
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    expect(not (rig.queue / "queue.sqlite-wal").exists(), "a queue at rest has a log")
    count(rig, 2, "a queue at rest")
    # It leaves an empty log, which the next command removes.
    rig.push(bench.stock[2])
    expect(rig.names() == [name for name in rig.names() if not name.endswith(("-wal", "-shm"))], "a log was left")
    with open_elsewhere(rig):
        rig.push(bench.stock[3])
        count(rig, 4, "a queue in use")
        killed = bench.rig().like(rig)
    count(killed, 4, "a queue whose processes were killed")
    for statement in ("PRAGMA wal_checkpoint(TRUNCATE)", "DELETE FROM captures"):
        done = looked(killed, statement)
        expect(done.returncode and done.stderr, f"sqlite3 -readonly does {statement}")
    count(killed, 4, "after the refusals")


def beside_a_run(bench):
    rig = bench.rig()
    rig.to_folder()
    process = rig.begin("run", "--watch")
    try:
        for number in range(3):
            rig.push(bench.stock[number])
            expect(looked(rig).stdout == f"{number + 1}\n", "sqlite3 -readonly beside a run does not see a push")
        rig.run("wait", "--all", "--timeout", "20s").must(0, about="wait")
    finally:
        process.terminate()
        out, _ = process.communicate(timeout=20)
    expect(out.count(b"completed") == 3, f"the run prints {out!r}")
    rig.run("check", "--read-data").must(0, about="check")


def version_of_sqlite(bench):
    """check names the version of SQLite, and says what follows if it has the race."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    said = rig.run("check", "--json").must(0)
    version = json.loads(said.out.splitlines()[-1])["sqlite"]
    expect(re.fullmatch(r"3\.\d+\.\d+", version), f"check says {version!r}")
    numbers = tuple(map(int, version.split(".")))
    is_fixed = numbers >= (3, 51, 3) or any(numbers >= fix and numbers[:2] == fix[:2] for fix in FIXED)
    for result in (said, rig.run("check", "--read-data").must(0)):
        note = f"capqueue: note: SQLite {version} has a bug that 3.51.3 fixed"
        expect((note in result.text) != is_fixed, f"with SQLite {version}, check says {result.text!r}")
        if not is_fixed:
            command = result.text.rstrip().rpartition(": ")[2]
            expect(command == f"sqlite3 -readonly {rig.queue}/queue.sqlite", f"check names {command!r}")


TESTS = [
    ("sqlite3 -readonly reads a queue at rest, in use and after a kill, and changes nothing", readonly),
    ("sqlite3 -readonly beside a run", beside_a_run),
    ("check names SQLite's version, and says if it has the race of log and checkpoint", version_of_sqlite),
]
