"""Under which locks the database is written.

Before version 3.51.3, SQLite can damage a database if one process writes the log back into it (a checkpoint) while
another one commits and starts the log anew (https://sqlite.org/wal.html#walresetbug). So each write of the database file
must happen under `queue.lock`, under which all commits happen, or under SQLite's exclusive lock, which no other
connection can share.
"""
import collections
import contextlib
import re
import sqlite3
import subprocess
import sys

from Kit.outcomes import expect, long
from Kit.tracing import calls_in, require_strace, strace

CALLS = "trace=flock,fcntl,pwrite64,pwritev,write,ftruncate,close"
# SQLite's locks are on bytes of the database file: 510 bytes from here on are its shared and exclusive locks.
EXCLUSIVE = re.compile(r".*F_SETLK, \{l_type=F_(\w+), .*l_start=1073741826, l_len=510\}\) += 0")
ANY = re.compile(r".*F_SETLK, \{l_type=F_UNLCK, .*l_start=0, l_len=0\}\) += 0")


def writes(log, folder):
    """Counts the writes below `folder` in a trace, by file and by the lock that their thread held."""
    counts, turns, exclusive = collections.Counter(), set(), set()
    for thread, call, text in calls_in(log):
        file = re.match(rf"\d+<{re.escape(str(folder))}/(?:.*/)?(queue\.[\w.-]+)", text)
        if not file:
            continue
        if file[1] == "queue.lock":
            if call == "flock" and text.endswith("= 0") and "LOCK_EX" in text:
                turns.add(thread)
            elif call == "close" or call == "flock" and "LOCK_UN" in text:
                turns.discard(thread)
        elif call == "fcntl" and file[1] == "queue.sqlite":
            if lock := EXCLUSIVE.match(text):
                (exclusive.add if lock[1] == "WRLCK" else exclusive.discard)(thread)
            elif ANY.match(text):
                exclusive.discard(thread)
        elif call in ("pwrite64", "pwritev", "write", "ftruncate") and file[1] in ("queue.sqlite", "queue.sqlite-wal"):
            lock = "turn" if thread in turns else "exclusive" if thread in exclusive else "none"
            counts[file[1], lock] += 1
    return counts


def traced(rig, argv, about):
    """Runs a command under strace, and returns its writes."""
    log = rig.folder / "trace"
    result = rig.run(*argv, prefix=strace("-y", "-e", CALLS, log=log))
    expect(result.code in (0, 15), f"{about}: exit {result.code}: {result.text[:300]!r}")
    return writes(log, rig.home)


def judged(rig, commands):
    """Runs commands, and checks under which locks they write; returns all their writes."""
    require_strace()
    total = collections.Counter()
    for words in commands:
        counts = traced(rig, words, " ".join(map(str, words)))
        expect(not counts["queue.sqlite", "none"], f"{words[0]} writes the database under no lock: {dict(counts)}")
        total += counts
    return total


@contextlib.contextmanager
def open_elsewhere(rig):
    """Keeps the database open, so that no command is the last one to close it, and the log is not emptied then."""
    with contextlib.closing(sqlite3.connect(rig.queue / "queue.sqlite", isolation_level=None)) as database:
        database.execute("SELECT count(*) FROM captures").fetchall()
        yield database


def everyday(bench):
    """A commit, a close, and a checkpoint because the log has more than 1,000 pages."""
    rig = bench.rig()
    total = judged(rig, [["push", bench.stock[0].path]])
    expect(total["queue.sqlite", "exclusive"], f"the last close does not write the log back: {dict(total)}")
    with open_elsewhere(rig) as database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        for number in range(1000):  # pages of the log; then SQLite writes it back with the next commit
            database.execute("INSERT OR REPLACE INTO settings VALUES ('test', ?)", (number,))
        total = judged(rig, [["status"], ["hold", "--all"]])
        expect(total["queue.sqlite", "turn"], f"the commit does not write the log back: {dict(total)}")
        expect(not total["queue.sqlite-wal", "none"], f"a commit outside of the turn: {dict(total)}")


def all_commands(bench):
    rig, copy = bench.rig(), bench.folder / "checkpoints-backup"
    disk = rig.out / "disk"
    disk.mkdir()
    judged(rig, [["init"], ["dest", "add", "disk", "--kind", "folder", "--path", disk]])
    with open_elsewhere(rig):
        judged(rig, [["push", bundle.path] for bundle in bench.stock[:20]])
        judged(rig, [["run", "--until-empty"], ["hold", "--all"], ["prune", "--older-than", "0s"]])
    judged(rig, [
        ["push", *(bundle.path for bundle in bench.stock[20:])], ["run", "--once"], ["list"], ["status"],
        ["check", "--read-data"], ["report", "-o", rig.out / "r.html"], ["config", "retention", "9d"],
        ["prune", "--older-than", "0s"], ["backup", copy], ["backup", copy], ["list", "--queue", copy],
        ["check", "--queue", copy], ["restore", "--queue", copy], ["run", "--once", "--queue", copy],
        ["salvage", "--force"], ["release", "--all"], ["adopt", bench.folder / "stock"], ["session", "list"],
        ["dest", "rename", "disk", "other"], ["dest", "retire", "other"], ["prune", "--cancelled"], ["resume"]])


def another_program(bench):
    """What the other tests look for is found where another program writes the log back."""
    require_strace()
    rig = bench.rig()
    rig.push(bench.stock[0])
    script = rig.folder / "program.py"
    script.write_text("import sqlite3, sys\n"
                      "one, two = (sqlite3.connect(sys.argv[1], isolation_level=None) for _ in range(2))\n"
                      "one.execute('SELECT count(*) FROM captures').fetchall()\n"
                      "two.execute(\"INSERT INTO settings VALUES ('test', '')\")\n"
                      "two.execute('PRAGMA wal_checkpoint')\n")
    log = rig.folder / "trace"
    subprocess.run([*strace("-y", "-e", CALLS, log=log), sys.executable, script, rig.queue / "queue.sqlite"], check=True)
    expect(writes(log, rig.home)["queue.sqlite", "none"], "a checkpoint under no lock is not seen")


TESTS = [
    ("push, close and a full log: the database is written under a lock that excludes commits", everyday),
    ("a checkpoint of another program would be seen", another_program),
    ("every command writes the database under a lock that excludes commits", long(all_commands)),
]
