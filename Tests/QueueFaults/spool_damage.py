"""Files of the spool, or files that a reference names, are missing, cut, changed or swapped.

Under a hash the tool sends and returns only the pushed bytes; damage is set aside and reported, and a push repairs it.
"""
import json
import os

from checks import every, expect
from invariants import check_says, clean, gives, holds, only_strays, words_for_people


def filled(bench):
    rig = bench.rig()
    rig.push(*bench.stock[:4])
    return rig, bench.stock[1]


def flipped(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1:]


def overwrite(path, data):
    """Changes bytes in the same file and restores its times."""
    there = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(there.st_atime_ns, there.st_mtime_ns))


CHANGES = {"a bit is changed, same size and time": lambda path, data: overwrite(path, flipped(data)),
           "cut short": lambda path, data: overwrite(path, data[:-512]),
           "empty": lambda path, data: overwrite(path, b""),
           "longer": lambda path, data: overwrite(path, data + bytes(512)),
           "zeros": lambda path, data: overwrite(path, bytes(len(data)))}


def changed(bench):
    """get refuses a damaged file, check sets it aside, and a push replaces it; the damaged bytes are kept."""
    def judge(name, change):
        rig, bundle = filled(bench)
        change(rig.spool_file(bundle), bundle.data)
        spoilt = rig.spool_file(bundle).read_bytes()
        target = rig.out / "got.bundle"
        result = rig.run("get", bundle.id, "-o", target).must(1, 2, about="get")
        expect(bundle.id in result.text or bundle.sha256 in result.text, f"get names nothing: {result.text!r}")
        expect(not list(rig.out.iterdir()), f"a refused get leaves {os.listdir(rig.out)}")
        result = rig.run("get", bundle.id, "-o", "-").must(1, 2, 66, about="get to a pipe")
        expect(not result.out, "get gives damaged bytes to a pipe")
        found = check_says(rig, 1, 74)
        expect(any(finding.get("id") == bundle.id for finding in found), f"check finds {found}")
        rows = rig.rows()
        expect(rows[bundle.id]["holding"] == "quarantined" and rows[bundle.id]["state"] == "quarantined",
               f"is {rows[bundle.id]['holding']}, {rows[bundle.id]['state']}")
        holds(rig, bench.stock[0], *bench.stock[2:4], rows=rows)
        kept = [path for path in (rig.queue / "quarantine").iterdir() if path.read_bytes() == spoilt]
        expect(len(kept) == 1, f"{len(kept)} files in quarantine have the damaged bytes")
        rig.run("get", bundle.id, "-o", "-").must(1, 66, about="get of a quarantined capture")
        again = rig.run("push", bundle.path, "--json").must(0, about="push again")
        expect(json.loads(again.out)["outcome"] == "restored", f"push again says {again.out!r}")
        rows = rig.rows()
        expect(rows[bundle.id]["state"] == "pending", f"is {rows[bundle.id]['state']} after it was pushed again")
        expect(len(rows) == 4, f"{len(rows)} captures after it was pushed again")
        gives(rig, bundle)
        expect(kept[0].read_bytes() == spoilt, "the damaged bytes are gone")

    every(CHANGES, judge)


def twice(bench):
    """After damage, repair and other damage each damaged file is kept under its own name."""
    rig, bundle = filled(bench)
    for data in (flipped(bundle.data), bytes(len(bundle.data))):
        overwrite(rig.spool_file(bundle), data)
        check_says(rig, 1)
        rig.push(bundle)
    kept = sorted(path.read_bytes() for path in (rig.queue / "quarantine").iterdir())
    expect(kept == sorted((flipped(bundle.data), bytes(len(bundle.data)))), f"{len(kept)} damaged files are kept")
    gives(rig, bundle)


def never_sent(bench):
    """A damaged bundle does not arrive, and the others do."""
    rig, bundle = filled(bench)
    (rig.out / "disk").mkdir()
    rig.run("dest", "add", "disk", "--kind", "folder", "--path", rig.out / "disk").must(0, about="dest add")
    overwrite(rig.spool_file(bundle), flipped(bundle.data))
    rig.run("run").must(14, 15, about="run")
    arrived = {path.name for path in (rig.out / "disk").glob("*.bundle")}
    expect(arrived == {f"{other.id}.bundle" for other in bench.stock[:4] if other is not bundle}, f"arrived: {arrived}")
    expect(not [path for path in (rig.out / "disk").iterdir() if path.name.startswith(".") and
                path.name != ".capqueue-destination"], "a partial file is left at the destination")
    expect(rig.rows()[bundle.id]["state"] == "quarantined", f"the damaged one is {rig.rows()[bundle.id]['state']}")


def file_gone(bench):
    rig, bundle = filled(bench)
    rig.spool_file(bundle).unlink()
    words_for_people(rig.run("get", bundle.id, "-o", rig.out / "x").must(66, 74, about="get"))
    found = check_says(rig, 74)
    expect(any(finding.get("id") == bundle.id for finding in found), f"check finds {found}")
    row = rig.rows()[bundle.id]
    expect(row["holding"] == "missing" and row["state"] == "quarantined", f"is {row['holding']}, {row['state']}")
    rig.run("prune", "--older-than", "0s").must(0, about="prune")
    again = rig.run("push", bundle.path, "--json").must(0, about="push again")
    expect(json.loads(again.out)["outcome"] == "restored", f"push again says {again.out!r}")
    rows = clean(rig)
    expect(rows[bundle.id]["state"] == "pending" and len(rows) == 4, f"is {rows[bundle.id]['state']}")
    gives(rig, *bench.stock[:4])


def gone_before_a_push(bench):
    """A push of a stored capture checks that its file is sound; no check is needed before."""
    def judge(name, spoil):
        rig, bundle = filled(bench)
        spoil(rig.spool_file(bundle))
        rig.push(bundle)
        gives(rig, bundle, about=name)
        rows = rig.rows()
        expect(rows[bundle.id]["holding"] == "spool" and len(rows) == 4, f"is {rows[bundle.id]['holding']}")

    every({"gone": lambda path: path.unlink(), "cut": lambda path: overwrite(path, path.read_bytes()[:-1])}, judge)


def whole_folder_gone(bench):
    rig, _ = filled(bench)
    for path in rig.queue.glob("spool/*/*"):
        path.unlink()
    for path in rig.queue.glob("spool/*"):
        path.rmdir()
    rig.run("list").must(0, about="list")
    found = check_says(rig, 74)
    expect({finding.get("id") for finding in found} >= {bundle.id for bundle in bench.stock[:4]},
           f"check finds {found}")
    rig.push(*bench.stock[:5])
    gives(rig, *bench.stock[:5])
    clean(rig)


def sidecar_gone(bench):
    """A bundle is whole without its sidecar; check reports the loss or makes the sidecar again."""
    rig, bundle = filled(bench)
    rig.spool_file(bundle, "json").unlink()
    gives(rig, bundle)
    words_for_people(rig.run("check").must(0, 15, 74, about="check"), lines=10)
    rig.run("check", "--repair").must(0, 15, 74, about="check --repair")
    clean(rig, "after check --repair")
    gives(rig, bundle)


def swapped(bench):
    """If two files have each other's names, neither is returned, and neither is lost."""
    rig, _ = filled(bench)
    one, two = bench.stock[0], bench.stock[1]
    rig.spool_file(one).write_bytes(two.data)
    rig.spool_file(two).write_bytes(one.data)
    for bundle in (one, two):
        result = rig.run("get", bundle.id, "-o", "-").must(1, 2, 66, about="get")
        expect(not result.out, "get gives the bytes of another capture")
    check_says(rig, 1)
    kept = sorted(path.read_bytes() for path in (rig.queue / "quarantine").iterdir())
    expect(kept == sorted((one.data, two.data)), "the swapped files are not both kept")
    rig.push(one, two)
    gives(rig, one, two)


def reference(change, holding, bench):
    """Users may change their own files; the queue never returns other bytes under the old hash."""
    rig = bench.rig()
    bundle = bench.stock[0]
    mine = rig.out / "mine.bundle"
    mine.write_bytes(bundle.data)
    result = rig.run("push", "--reference", mine).must(0, about="push --reference")
    expect(result.out.decode().split() == [bundle.id], f"prints {result.out!r}")
    expect(result.text, "push --reference does not say that the queue does not hold the bytes")
    expect(not list(rig.queue.glob("spool/*/*.bundle")), "a reference takes room in the spool")
    gives(rig, bundle)
    change(mine)
    there = mine.read_bytes() if mine.exists() else None
    result = rig.run("get", bundle.id, "-o", "-").must(1, 2, 66, about="get")
    expect(not result.out, "get gives other bytes under the old hash")
    check_says(rig, 1, 74)
    row = rig.rows()[bundle.id]
    expect(row["state"] == "quarantined" and row["holding"] in holding, f"is {row['holding']}, {row['state']}")
    expect((mine.read_bytes() if mine.exists() else None) == there, "the user's file was touched")
    rig.push(bundle)
    gives(rig, bundle)
    rows = rig.rows()
    expect(len(rows) == 1 and rows[bundle.id]["state"] == "pending", f"{len(rows)} captures")
    only_strays(rig, "at the end")


REFERENCES = {"is gone": (lambda path: path.unlink(), ("missing",)),
              "has one other bit, same size and time": (lambda path: overwrite(path, flipped(path.read_bytes())),
                                                         ("quarantined", "missing", "reference")),
              "is longer": (lambda path: overwrite(path, path.read_bytes() + b"x"),
                            ("quarantined", "missing", "reference"))}
TESTS = [
    ("changed bytes are refused, set aside and kept; a push repairs", changed),
    ("bytes damaged twice are kept twice", twice),
    ("damaged bytes are never sent", never_sent),
    ("a bundle's file is missing: get 66, check 74, a push repairs", file_gone),
    ("a push notices that a stored file is missing or cut", gone_before_a_push),
    ("the whole spool is missing", whole_folder_gone),
    ("a sidecar is missing", sidecar_gone),
    ("two files are swapped", swapped),
]
TESTS += [(f"a file pushed by reference {what}: it is never given, and never touched",
           lambda bench, case=case: reference(*case, bench)) for what, case in REFERENCES.items()]
