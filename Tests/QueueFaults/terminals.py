"""Terminals of 60 to 120 columns show every column of a table. Sizes are rounded on terminals and exact in pipes."""
import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time

from checks import expect

LONG = "office-network-storage-of-the-north-wing"
URL = "https://office.example/incoming/captures/of/the/north/wing/{sha256}"


def shown(rig, columns, *words, env=None):
    """What a command prints on a terminal, from both streams."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([str(rig.bench.capqueue), *map(str, words)], stdin=slave, stdout=slave, stderr=slave,
                               start_new_session=True, cwd=rig.out, env=rig.env | {"TERM": "xterm"} | (env or {}))
    os.close(slave)
    text, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([master], [], [], 0.1)[0]:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
    process.wait()
    os.close(master)
    return text.decode().replace("\r\n", "\n")


def filled(bench):
    rig = bench.rig()
    (rig.out / "disk").mkdir()
    rig.run("dest", "add", LONG, "--kind", "folder", "--path", rig.out / "disk").must(0)
    rig.run("dest", "add", "api", "--kind", "put", "--url", URL).must(0)
    rig.run("push", bench.stock[0].path, "--session", "monday").must(0)
    return rig


def no_column_vanishes(bench):
    """Each line fits and shows all columns: long words lose their middle."""
    rig = filled(bench)
    bundle = bench.stock[0]
    for columns in (60, 80, 120):
        lines = shown(rig, columns, "list").splitlines()
        expect(len(lines) == 2 and all(len(line) <= columns for line in lines), f"{columns}: {lines}")
        for word in ("ID", "STATE", "PUSHED", "SIZE", "TR", "TO"):
            expect(word in lines[0], f"{columns}: {word} is missing: {lines[0]}")
        row = lines[1].split()
        expect(row[0] == bundle.id[:8] and row[1] == "pending", f"{columns}: {row}")
        expect(row[-2][:2] == LONG[:2] and row[-1][:2] == "mo", f"{columns}: where it goes is missing: {row}")
        rows = shown(rig, columns, "dest", "list").splitlines()
        expect(len(rows) == 2 and all(len(line) <= columns for line in rows), f"{columns}: {rows}")
        for word in ("default", "folder", LONG[:5], LONG[-5:]):
            expect(word in rows[0], f"{columns}: {word} is missing: {rows[0]}")
        expect("put" in rows[1] and "https" in rows[1] and "256}" in rows[1], f"{columns}: {rows[1]}")


def states_can_be_told_apart(bench):
    """The longest state loses its middle at 60 columns and is whole at 80."""
    rig = filled(bench)
    with rig.database() as database:
        for table in ("captures", "deliveries"):
            database.execute(f"UPDATE {table} SET state = 'permanently_failed'")
    expect("perman…ailed" in shown(rig, 60, "list"), shown(rig, 60, "list"))
    expect("permanently_failed" in shown(rig, 80, "list"), shown(rig, 80, "list"))


def columns_of_the_environment(bench):
    """`COLUMNS` overrides the width of the terminal, as in other tools."""
    rig = filled(bench)
    lines = shown(rig, 120, "list", env={"COLUMNS": "60"}).splitlines()
    expect(all(len(line) <= 60 for line in lines), f"{lines}")


def sizes_for_people_only(bench):
    """A terminal gets rounded sizes; a pipe gets whole numbers without separators."""
    rig = filled(bench)
    rig.run("push", *(bundle.path for bundle in bench.stock[1:])).must(0)
    text = shown(rig, 100, "status")
    expect(re.search(r"\d\.\d [kMGT]B free", text), f"no size for people: {text}")
    expect(not re.search(r"\d bytes", text), f"bytes for people: {text}")
    expect(re.search(r" \d+\.\d kB ", shown(rig, 100, "list")), "list has no size")
    piped = rig.run("status").must(0).out.decode()
    expect(re.search(r"disk +\d{7,} bytes free", piped), f"no whole number: {piped}")
    expect(not re.search(r"\d,\d{3}", piped) and "kB" not in piped, f"a number for people: {piped}")
    row = rig.run("list", "--limit", "1").must(0).out.decode()
    expect(f" {len(bench.stock[-1].data)} " in row or re.search(r" \d{4,} ", row), f"no whole number: {row}")
    noted = rig.run("prune", "--dry-run").must(0).err.decode()
    expect("0 bytes" in noted, f"says {noted}")


TESTS = [
    ("at 60 columns list and dest list show every column", no_column_vanishes),
    ("at 60 columns states can be told apart", states_can_be_told_apart),
    ("COLUMNS overrides the width of the terminal", columns_of_the_environment),
    ("sizes are rounded on a terminal and whole numbers in a pipe", sizes_for_people_only),
]
