"""Terminals of 60 to 120 columns show every column of a table. Sizes are rounded on terminals and exact in pipes."""
import re

from Kit.outcomes import expect
from Kit.terminals import played

LONG = "office-network-storage-of-the-north-wing"
URL = "https://office.example/incoming/captures/of/the/north/wing/{sha256}"


def shown(rig, columns, *words, env=None):
    """What a command prints on a terminal, from both streams."""
    return played(rig, *words, columns=columns, environment=env)[1].decode().replace("\r\n", "\n")


def filled(bench):
    rig = bench.rig()
    rig.to_folder(LONG)
    rig.run("dest", "add", "api", "--kind", "put", "--url", URL).must(0)
    rig.run("push", bench.stock[0].path, "--session", "monday").must(0)
    return rig


def no_column_vanishes(bench):
    """Each line fits and shows all columns: long words lose their middle. `COLUMNS` overrides the terminal's width."""
    rig = filled(bench)
    bundle = bench.stock[0]
    for columns, terminal, env in ((60, 120, {"COLUMNS": "60"}), (80, 80, {})):
        lines = shown(rig, terminal, "list", env=env).splitlines()
        expect(len(lines) == 2 and all(len(line) <= columns for line in lines), f"{columns}: {lines}")
        for word in ("ID", "STATE", "PUSHED", "SIZE", "TR", "TO"):
            expect(word in lines[0], f"{columns}: {word} is missing: {lines[0]}")
        row = lines[1].split()
        expect(row[0] == bundle.id[:8] and row[1] == "pending", f"{columns}: {row}")
        expect(row[-2][:2] == LONG[:2] and row[-1][:2] == "mo", f"{columns}: where it goes is missing: {row}")
        rows = shown(rig, terminal, "dest", "list", env=env).splitlines()
        expect(len(rows) == 2 and all(len(line) <= columns for line in rows), f"{columns}: {rows}")
        for word in ("default", "folder", LONG[:5], LONG[-5:]):
            expect(word in rows[0], f"{columns}: {word} is missing: {rows[0]}")
        expect("put" in rows[1] and "https" in rows[1] and "256}" in rows[1], f"{columns}: {rows[1]}")
    for table in ("captures", "deliveries"):
        rig.change(f"UPDATE {table} SET state = 'permanently_failed'")
    for columns, word in ((60, "perman…ailed"), (80, "permanently_failed")):
        expect(word in shown(rig, columns, "list"), shown(rig, columns, "list"))


def sizes_for_people_only(bench):
    """A terminal gets rounded sizes; a pipe gets whole numbers without separators."""
    rig = filled(bench)
    text = shown(rig, 100, "status")
    expect(re.search(r"\d\.\d [kMGT]B free", text), f"no size for people: {text}")
    expect(not re.search(r"\d bytes", text), f"bytes for people: {text}")
    expect(re.search(r" \d+\.\d kB ", shown(rig, 100, "list")), "list has no size")
    piped = rig.run("status").must(0).out.decode()
    expect(re.search(r"disk +\d{7,} bytes free", piped), f"no whole number: {piped}")
    expect(not re.search(r"\d,\d{3}", piped) and "kB" not in piped, f"a number for people: {piped}")
    row = rig.run("list").must(0).out.decode()
    expect(f" {len(bench.stock[0].data)} " in row, f"no whole number: {row}")


TESTS = [
    ("at 60 columns list and dest list show every column, and states can be told apart", no_column_vanishes),
    ("sizes are rounded on a terminal and whole numbers in a pipe", sizes_for_people_only),
]
