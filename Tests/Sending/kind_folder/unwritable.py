"""folder: a drop folder in which this user cannot make files."""
import os

from Kit.disks import READ_ONLY, mounted
from Kit.injection import at_path
from Kit.outcomes import expect
from Kit.rigs import NOBODY


def waits(rig, bundle, row, held, about, *words):
    expect((row.state, row.attempts) == ("pending", 0), f"{about}: is {row.state} after {row.attempts} attempts: {row.error_message}")
    expect(held.blocked_reason == "local" and all(word in held.blocked_message for word in words),
           f"{about}: blocked as {held.blocked_reason}: {held.blocked_message!r}")


def read_only(bench):
    """A mount that is read-only for this process blocks the destination, uses no attempt, and says so to `status --check`. The
    main process of a systemd unit names what the unit has to list. The next run that can write sends."""
    rig, bundle = bench.rig(), bench.stock[0]
    folder = rig.folder / "drop"
    folder.mkdir()
    rig.run("dest", "add", "drop", "--kind", "folder", "--path", folder).must(0)
    rig.push(bundle)
    as_unit = ["sh", "-c", 'export SYSTEMD_EXEC_PID=$$; exec "$@"', "sh"]
    with mounted(rig, folder, READ_ONLY) as place:
        for prefix, names in ((), False), (as_unit, True):
            place.run("run", "--once", prefix=prefix).must(15, about="run")
            row, held = rig.delivery(bundle), rig.destination("drop")
            waits(rig, bundle, row, held, "read-only", str(folder), "read-only file system")
            expect(("ReadWritePaths" in held.blocked_message) == names, f"as unit {names}: {held.blocked_message!r}")
            said = rig.run("status", "--check").must(15, about="status --check").out.decode()
            expect(held.blocked_message in said and "capqueue resume --dest drop" in said, f"status --check says {said!r}")
        expect("read-only" in place.run("dest", "test", "drop").must(15, 78, about="dest test").text, "dest test is content")
    rig.run("run", "--once").must(0, about="run on a writable folder")
    expect((folder / f"{bundle.id}.bundle").read_bytes() == bundle.data, "other bytes are there")


def forbidden(bench):
    """A folder of another user: the same, whether its marker can be read or not."""
    is_root = os.geteuid() == 0
    without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"] if is_root else []
    for mode in (0o755, 0o700) if is_root else (0o555, 0o000):
        rig, bundle = bench.rig(), bench.stock[0]
        folder = rig.folder / "drop"
        folder.mkdir()
        rig.run("dest", "add", "drop", "--kind", "folder", "--path", folder).must(0)
        rig.push(bundle)
        folder.chmod(mode)
        if is_root:
            os.chown(folder, NOBODY, NOBODY)
        rig.run("run", "--once", prefix=without).must(15, about=f"run, {mode:o}")
        waits(rig, bundle, rig.delivery(bundle), rig.destination("drop"), f"{mode:o}", "permission denied")
        folder.chmod(0o777)
        rig.run("run", "--once", prefix=without).must(0, about=f"run, {mode:o}, with the right to write")


def failing_disk(bench):
    """A folder whose disk fails: the messages have the system's words, and no advice on permissions."""
    rig = bench.rig()
    folder = rig.folder / "drop"
    folder.mkdir()
    rig.run("dest", "add", "drop", "--kind", "folder", "--path", folder).must(0)
    rig.push(bench.stock[0])
    for path, calls, code, verb in ((folder / ".capqueue-destination", ("openat",), 15, "read"),
                                    (folder, ("?access", "faccessat", "?faccessat2"), 78, "written")):
        fails = at_path(path, *calls)
        result = rig.run("dest", "test", "drop", prefix=fails).must(code, about=verb)
        expect(f"{folder} cannot be {verb}: input/output error" in result.text, f"dest test says {result.text!r}")
        expect("let this user" not in result.text, f"dest test advises {result.text!r}")
    rig.run("run", "--once", prefix=fails).must(15, about="run")
    said = rig.run("status", "--check").must(15, about="status --check").out.decode()
    expect("input/output error" in said and "dmesg" in said and "capqueue resume --dest drop" in said, f"says {said!r}")


TESTS = [
    ("a folder on a mount that is read-only for this process", read_only),
    ("a folder of another user", forbidden),
    ("a folder whose disk fails", failing_disk),
]
