"""What prune, retry or a busy queue must not remove: the only copy of a capture, a receipt, a push.

RetentionPolicyTests shows what may be deleted, for each state, receipt and age; LifeTests, that prune asks it.
"""
import json

from Kit.rigs import PHOTO
from Kit.outcomes import PATIENCE, expect
from Kit.invariants import clean, gives, holds
from Kit.queues import few, ids, photo_of
from Kit.tracing import require_strace, separate, strace


def beside_slow_commands(bench):
    """Pushes that run while another command is delayed at each of its syncs and writes are all stored afterwards."""
    require_strace()
    slow = strace("-e", "trace=fsync,fdatasync,flock,unlink,unlinkat",
                  "-e", "inject=fsync,fdatasync,flock,unlink,unlinkat:delay_enter=30000")
    rig = bench.rig()
    rig.to_folder()
    rig.push(*bench.stock[:3])
    rig.uploaded(*bench.stock[:2], days=8)
    pushed, fresh = [bench.stock[2]], iter(bench.stock[10:])
    for words in few([["prune"], ["cancel", "--all"], ["check", "--repair"], ["run"], ["hold", "--all"],
                      ["release", "--all"], ["retry", "--all"], ["config", "retention", "8d"],
                      ["session", "end", "monday", "--incomplete"]], 2):
        rig.before = slow
        tool = rig.begin(*words)
        rig.before = []
        first = True
        while first or tool.poll() is None and len(pushed) < 45:
            first = False
            bundle = next(fresh)
            rig.push(bundle, options=("--session", "tuesday"))
            pushed.append(bundle)
        _, err = tool.communicate(timeout=PATIENCE)
        expect(tool.returncode in (0, 15, 66), f"{words[0]}: exit {tool.returncode}: {separate(err)[0][:200]!r}")
        holds(rig, *pushed, about=f"after {words[0]}")
    clean(rig)


def alike_is_not_the_same(bench):
    """One byte of the photo, one letter of the metadata, or another depth map makes a separate capture."""
    photo = PHOTO[:-2] + b"\x55" * 5000 + PHOTO[-2:]
    other = photo[:3000] + b"\x54" + photo[3001:]
    changes = few([(photo, (), {}), (other, (), {}), (photo, ("--no-depth",), {}), (photo, ("--location", "omit"), {}),
                   (photo, (), {"device_model": "Rig 2"}),
                   (photo, (), {"captured_at": "2026-03-14T09:26:53.590+01:00"})], 3)
    bundles = [bench.packed(f"alike {number}", image, options, **members)
               for number, (image, options, members) in enumerate(changes)]
    rig = bench.rig()
    rig.push(*bundles)
    expect(len(clean(rig)) == len(changes), "each bundle is not a capture")
    twin = bench.packed("a twin", photo)
    expect(twin.sha256 != bundles[0].sha256 and twin.id == bundles[0].id, "the twin is another capture")
    result = rig.run("push", twin.path).must(0, about="another signature of the same capture")
    expect(ids(result) == [twin.id] and result.text, f"prints {result.out!r} and says {result.text!r}")
    expect(len(rig.rows()) == len(changes), "another signature of the same capture is stored beside it")
    gives(rig, *bundles)


def room_by_deleting(bench):
    """A spool at its limit, all uploaded and within the retention: push names the prune that makes room. With
    evict-uploaded it deletes what it needs itself, the oldest first, and nothing that was not uploaded."""
    rig, held, new = bench.rig(), bench.stock[:5], bench.stock[5:9]
    rig.to_folder()
    rig.push(*held)
    rig.uploaded(*held[:3])
    for days, bundle in zip((3, 2, 1), held):
        rig.aged(bundle, days=days + 0.1)
    sizes = [len(bundle.data) for bundle in held]
    rig.run("config", "limit", str(sum(sizes))).must(0)
    said = rig.run("push", new[0].path).must(12, about="push at the limit").text
    about = f"1 uploaded bundle ({sizes[0]} bytes): capqueue prune --older-than 3d"
    expect(about in said and "evict-uploaded on" in said, f"push says {said!r}")
    said = rig.run("status", "--check").must(13).out
    expect(b"capqueue prune --older-than 3d" in said, f"status --check prints {said!r}")
    expect(rig.prune("--older-than", "3d", "--dry-run") == [held[0].id], "another prune than was said")
    rig.run("config", "evict-uploaded", "on").must(0)
    larger = bench.packed("larger", photo_of(1, sum(sizes)))
    rig.run("config", "limit", str(len(larger.data))).must(0)
    said = rig.run("push", larger.path).must(12, about="push where all that was uploaded is not enough").text
    expect("not enough" in said and "evict-uploaded on" not in said, f"push says {said!r}")
    expect(spooled(rig) == {bundle.id for bundle in held}, "something was deleted although that is not enough")
    rig.run("config", "limit", str(sum(sizes))).must(0)
    rig.run("status", "--check").must(0, about="status --check where push makes room")
    said = rig.run("push", new[0].path, new[1].path).must(0, about="push that makes room").text
    expect("deleted to make room" in said, f"push says {said!r}")
    with open(new[2].path, "rb") as pipe:
        rig.run("push", "-", stdin=pipe).must(0, about="push of a pipe that makes room")
    rows = rig.rows()
    there = {bundle.id for bundle in [*held[3:], *new[:3]]}
    expect({id for id, row in rows.items() if row["holding"] == "spool"} == there, "others were deleted")
    said = rig.run("push", new[3].path).must(12, about="push with nothing to delete").text
    expect("nothing can be deleted" in said, f"push says {said!r}")
    rig.run("status", "--check").must(13, about="status --check with nothing to delete")
    clean(rig)


def evicted_stays_uploaded(bench):
    """With evict-uploaded, a push of what was evicted stores nothing and evicts nothing, unless --resend or another
    destination needs the bytes. A new bundle in the same push finds room."""
    rig, old, new = bench.rig(), bench.stock[:3], bench.stock[3:8]
    for name in ("disk", "more"):
        rig.to_folder(name)
    rig.push(*old)
    rig.run("run").must(0, about="run")
    for days, bundle in zip((3, 2, 1), old):
        rig.aged(bundle, days=days + 0.1)
    rig.run("config", "limit", str(sum(len(bundle.data) for bundle in old))).must(0)
    rig.run("config", "evict-uploaded", "on").must(0)
    rig.push(*old, new[0])
    expect(spooled(rig) == {old[1].id, old[2].id, new[0].id}, "another capture than the oldest was deleted")
    again = rig.run("push", "--json", *(bundle.path for bundle in [*old, new[0]])).must(0, about="the same push again")
    outcomes = [json.loads(line)["outcome"] for line in again.out.splitlines()]
    expect(outcomes == ["uploaded-already", "held-already", "held-already", "held-already"], f"outcomes {outcomes}")
    junk = rig.out / "junk"
    junk.write_bytes(bytes(len(new[1].data)))
    rig.run("push", junk).must(2, about="push of zeros")
    expect(spooled(rig) == {old[1].id, old[2].id, new[0].id}, "something was deleted for zeros")
    said = rig.run("push", old[0].path).must(0, about="push of what was evicted").text
    expect("already uploaded" in said and "--resend" in said and "make room" not in said, f"says {said!r}")
    expect(spooled(rig) == {old[1].id, old[2].id, new[0].id}, "a push of what was uploaded changes the spool")
    moved = rig.out / "moved.bundle"
    moved.write_bytes(old[0].data)
    rig.run("push", "--move", moved).must(0, about="push --move of what was evicted")
    expect(moved.read_bytes() == old[0].data, "push --move deletes a file that is not stored")
    clean(rig)
    rig.push(old[0], options=("--dest", "more"))
    expect(spooled(rig) == {old[0].id, old[2].id, new[0].id}, "what another destination needs is not stored")
    # The bytes of a capture that waits are damaged: what replaces them needs no further room of the limit.
    rig.spool_file(new[0]).write_bytes(new[0].data[:-1] + b"\1")
    said = rig.push(new[0]).text
    stays = {old[0].id, old[2].id, new[0].id}
    expect("make room" not in said and spooled(rig) == stays, f"the spool has {spooled(rig)}: {said!r}")
    rig.run("run").must(0, about="run")
    rig.run("config", "limit", str(len(new[1].data) - 1)).must(0)
    said = rig.run("push", new[1].path).must(12, about="push of a bundle that is larger than the limit").text
    expect("config limit" in said and "prune" not in said and "uploaded" not in said, f"says {said!r}")
    expect(spooled(rig) == stays, "something was deleted for a bundle that cannot fit")
    rig.run("config", "--unset", "limit").must(0)
    rig.push(old[1], options=("--resend",))
    expect(rig.rows()[old[1].id]["state"] == "pending" and old[1].id in spooled(rig), "--resend does not store it")


def spooled(rig):
    return {id for id, row in rig.rows().items() if row["holding"] == "spool"}


TESTS = [
    ("with evict-uploaded, what was evicted is not stored again, and new bundles find room", evicted_stays_uploaded),
    ("a spool at its limit: push names the prune, or deletes what was uploaded", room_by_deleting),
    ("pushes beside a slow command are not lost", beside_slow_commands),
    ("nothing but the hash decides that a capture is held", alike_is_not_the_same),
]
