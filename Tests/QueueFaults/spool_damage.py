"""Files of the spool are missing, cut or changed.

Under a hash the tool sends and returns only the pushed bytes; damage is set aside and reported, and a push repairs it.
OnlyCopyTests, PushTests and the transcript of repairs show a single damage; here it has many forms.
"""
import json
import os

from Kit.outcomes import every, expect
from Kit.invariants import check_says, gives, holds
from Kit.queues import few


def filled(bench):
    rig = bench.rig()
    rig.push(*bench.stock[:3])
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
    """get refuses a damaged file, check sets it aside, and a push replaces it; the damaged bytes are kept, also
    those of a second damage."""
    def judge(_, change):
        rig, bundle = filled(bench)
        change(rig.spool_file(bundle), bundle.data)
        spoilt = rig.spool_file(bundle).read_bytes()
        result = rig.run("get", bundle.id, "-o", rig.out / "got.bundle").must(1, 2, about="get")
        expect(bundle.id in result.text or bundle.sha256 in result.text, f"get names nothing: {result.text!r}")
        expect(not list(rig.out.iterdir()), f"a refused get leaves {os.listdir(rig.out)}")
        result = rig.run("get", bundle.id, "-o", "-").must(1, 2, 66, about="get to a pipe")
        expect(not result.out, "get gives damaged bytes to a pipe")
        found = check_says(rig, 1, 74)
        expect(any(finding.get("id") == bundle.id for finding in found), f"check finds {found}")
        rows = rig.rows()
        expect(rows[bundle.id]["holding"] == "quarantined" and rows[bundle.id]["state"] == "quarantined",
               f"is {rows[bundle.id]['holding']}, {rows[bundle.id]['state']}")
        holds(rig, bench.stock[0], bench.stock[2], rows=rows)
        again = rig.run("push", bundle.path, "--json").must(0, about="push again")
        expect(json.loads(again.out)["outcome"] == "restored", f"push again says {again.out!r}")
        rows = rig.rows()
        expect(rows[bundle.id]["state"] == "pending" and len(rows) == 3, f"is {rows[bundle.id]['state']} after it")
        gives(rig, bundle)
        overwrite(rig.spool_file(bundle), bytes(600))
        rig.push(bundle)
        kept = sorted(path.read_bytes() for path in (rig.queue / "quarantine").iterdir())
        expect(kept == sorted((spoilt, bytes(600))), f"{len(kept)} damaged files are kept")
        gives(rig, bundle)
        rig.spool_file(bundle).unlink()  # gone, although quarantine/ has damaged bytes of it
        check_says(rig, 74)

    every(few(CHANGES, 2), judge)


def full_of_damage(bench):
    """Damaged bundles that fill `limit` alone are named with the way out; pushing them again is not refused."""
    rig, damaged, other = bench.rig(), bench.stock[:3], bench.stock[3]
    rig.push(*damaged)
    for bundle in damaged:
        overwrite(rig.spool_file(bundle), flipped(bundle.data))
    rig.run("check", "--read-data").must(1, about="check")
    total = sum(len(bundle.data) for bundle in damaged)
    rig.run("config", "limit", str(total)).must(0, about="config limit")
    concern = next(one for one in json.loads(rig.run("status", "--json").must(0).out)["concerns"] if one["code"] == "quota.limit")
    expect("in quarantine" in concern["message"] and str(rig.queue / "quarantine") in concern["next"], f"status: {concern}")
    result = rig.run("push", other.path).must(12, about="push of another one")
    result.naming("quarantine/", "push").naming(str(rig.queue / "quarantine"), "push")
    expect("capqueue run" not in result.text, f"the advice is to send: {result.text!r}")
    # Nothing of the limit: the disk has no room for it.
    rig.run("config", "free-floor", "1000TB").must(0, about="config free-floor")
    rig.run("push", damaged[0].path).must(12, about="push below free-floor").naming("free-floor", "push")
    rig.run("config", "free-floor", "none").must(0, about="config free-floor")
    rig.push(damaged[0])
    rig.push(*damaged[1:])
    holds(rig, *damaged)
    rig.run("push", other.path).must(12, about="push when all are whole")
    status = json.loads(rig.run("status", "--json").must(0).out)
    expect(status["quota"]["used_bytes"] == total, f"{status['quota']} of {total} bytes")


def damaged_again(bench):
    """What was damaged twice, or cut to nothing, or is above a limit that was lowered since, is pushed again all the same."""
    rig, bundles = bench.rig(), bench.stock[:2]
    rig.push(*bundles)
    rig.run("config", "limit", str(sum(len(bundle.data) for bundle in bundles))).must(0, about="config limit")
    for damage in flipped, lambda data: data[:1]:
        for bundle in bundles:
            overwrite(rig.spool_file(bundle), damage(bundle.data))
        rig.run("check", "--read-data").must(1, about="check")
        rig.push(*bundles)
        holds(rig, *bundles)
    rig.run("push", bench.stock[3].path).must(12, about="push of another one")
    overwrite(rig.spool_file(bundles[0]), flipped(bundles[0].data))
    rig.run("check", "--read-data").must(1, about="check")
    rig.run("config", "limit", str(len(bundles[0].data))).must(0, about="a lower limit")
    rig.push(bundles[0])
    holds(rig, *bundles)


TESTS = [
    ("damaged bundles are pushed again whatever fills the limit", damaged_again),
    ("changed bytes are refused, set aside and kept; a push repairs", changed),
    ("damaged bundles fill the limit: named, and pushing them again is not refused", full_of_damage),
]
