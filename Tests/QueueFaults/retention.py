"""What prune, retry, a kill or a busy queue must not remove: the only copy of a capture, a receipt, a push."""
import subprocess

from bench import PHOTO
from checks import PATIENCE, expect
from invariants import clean, gives, holds, nothing_left_over
from kills import KILLED
from queues import ids
from tracing import require_strace, separate, strace

STATES = ("pending", "uploading", "processing", "failed", "permanently_failed", "held", "cancelled", "conflict",
          "quarantined")
YEARS = 4000  # in days


def put(rig, bundle, state):
    """Sets a state that only a server can cause in both of its columns, as the state machine writes them."""
    with rig.database() as database:
        database.execute("UPDATE deliveries SET state = ? WHERE capture = (SELECT seq FROM captures WHERE id = ?)",
                         (state, bundle.id))
        database.execute("UPDATE captures SET state = ? WHERE id = ?", (state, bundle.id))


def spread(bench):
    """Makes one capture in each state, all of them years old; only one is `completed`."""
    rig = bench.rig()
    chosen = dict(zip((*STATES, "completed"), bench.stock))
    rig.push(*chosen.values())
    rig.run("hold", chosen["held"].id).must(0, about="hold")
    rig.run("cancel", chosen["cancelled"].id).must(0, about="cancel")
    rig.uploaded(chosen["completed"])
    for state in ("uploading", "processing", "failed", "permanently_failed", "conflict", "quarantined"):
        put(rig, chosen[state], state)
    rig.aged(*chosen.values(), days=YEARS)
    return rig, chosen


def never_pruned_by_age(bench):
    rig, chosen = spread(bench)
    for options in (("--dry-run",), (), ("--older-than", "0s"), ("--older-than", "1s")):
        printed = ids(rig.run("prune", *options).must(0, about="prune"))
        expect(set(printed) <= {chosen["completed"].id}, f"prune {' '.join(options)} releases {printed}")
        left = {state: bundle for state, bundle in chosen.items() if state != "completed"}
        holds(rig, *left.values(), about=f"prune {' '.join(options)}")
        for state, bundle in left.items():
            expect(rig.spool_file(bundle).read_bytes() == bundle.data, f"{state}: other bytes")
    expect(not rig.spool_file(chosen["completed"]).exists(), "a capture that was uploaded years ago is not released")


def cancelled_only_when_asked(bench):
    rig, chosen = spread(bench)
    printed = ids(rig.run("prune", "--cancelled", "--older-than", "99999d").must(0, about="prune --cancelled"))
    expect(printed == [chosen["cancelled"].id], f"prune --cancelled releases {printed}")
    for state, bundle in chosen.items():
        expect(rig.spool_file(bundle).exists() == (state != "cancelled"), f"{state}: the file is wrong")


def not_at_once(bench):
    """A capture that was uploaded just now is kept for its seven days, whatever the command."""
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    rig.uploaded(bench.stock[0])
    for words in (["prune"], ["prune", "--cancelled"], ["check", "--repair"], ["run"], ["prune", "--older-than", "6d"]):
        rig.run(*words).must(0, 15, 78, about=" ".join(words))
        holds(rig, *bench.stock[:2], about=" ".join(words))
    rig.aged(bench.stock[0], days=6.99)
    rig.run("prune").must(0)
    gives(rig, *bench.stock[:2])


def one_of_two(bench):
    """A capture is not released if one of its destinations lacks it, or if it has no receipt."""
    rig = bench.rig()
    for name in ("one", "two"):
        (rig.out / name).mkdir()
        rig.run("dest", "add", name, "--kind", "folder", "--path", rig.out / name).must(0, about="dest add")
    both, bare = bench.stock[0], bench.stock[1]
    rig.run("push", "--dest", "one", "--dest", "two", both.path).must(0, about="push to two")
    rig.push(bare)
    (rig.out / "receipt").write_text(both.sha256)
    rig.run("mark-uploaded", both.id, "--receipt", rig.out / "receipt").must(64, about="mark-uploaded of two")
    rig.run("mark-uploaded", both.id, "--dest", "one", "--receipt", rig.out / "receipt").must(0, about="mark-uploaded")
    rig.uploaded(bare)
    rig.aged(both, bare, days=YEARS)
    with rig.database() as database:
        database.execute("UPDATE deliveries SET receipt = NULL WHERE capture = (SELECT seq FROM captures WHERE id = ?)",
                         (bare.id,))
    for options in ((), ("--older-than", "0s"), ("--cancelled", "--older-than", "0s")):
        printed = ids(rig.run("prune", *options).must(0, about="prune"))
        expect(not printed, f"prune {' '.join(options)} releases {printed}")
        holds(rig, both, bare)
    rig.run("cancel", both.id).must(0, about="cancel of the second")
    printed = ids(rig.run("prune", "--older-than", "0s").must(0, about="prune"))
    expect(printed == [both.id], f"with the second cancelled prune releases {printed}")


def receipts(bench):
    """A receipt that does not name the bundle does not count: the capture stays as it is."""
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    sha256 = bench.stock[0].sha256
    for text in ("", "ok", bench.stock[1].sha256, sha256[:-1], sha256[1:], sha256.upper()[:63],
                 f"{sha256[:32]} {sha256[32:]}", "file:///local/copy.bundle", "\0" * 64,
                 sha256 + "\n" + "x" * (1 << 20)):
        (rig.out / "receipt").write_text(text)
        rig.run("mark-uploaded", bench.stock[0].id, "--receipt",
                rig.out / "receipt").must(64, *((66,) if len(text) > 1 << 20 else ()), about=repr(text[:40]))
        expect(rig.rows()[bench.stock[0].id]["state"] == "pending", f"a receipt {text[:40]!r} counts")
    for place, code in ((rig.out / "nothing", 66), (rig.out, 66), ("/dev/zero", (64, 66))):
        marked = rig.run("mark-uploaded", bench.stock[0].id, "--receipt", place)
        marked.must(*([code] if isinstance(code, int) else code), about=f"a receipt from {place}")
    (rig.out / "receipt").write_text(f"200 OK\r\nETag: {sha256}\r\n")
    rig.run("mark-uploaded", bench.stock[0].id, "--receipt", rig.out / "receipt").must(0, about="a good receipt")
    expect(rig.rows()[bench.stock[0].id]["state"] == "completed", "a good receipt does not count")


def retry_all(bench):
    rig, chosen = spread(bench)
    before = rig.rows()[chosen["completed"].id]
    for options in (["--all"], ["--all", "--reset"], ["--state", "completed"]):
        result = rig.run("retry", *options)
        result.must(0, *((64, 66) if "completed" in options else ()), about=f"retry {' '.join(options)}")
        expect(chosen["completed"].id not in ids(result), f"retry {' '.join(options)} prints a completed capture")
        expect(rig.rows()[chosen["completed"].id] == before, f"retry {' '.join(options)} changes a completed capture")
    rig.run("retry", chosen["completed"].id).must(64, about="retry of a completed capture")
    expect(rig.rows()[chosen["completed"].id] == before, "retry of a completed capture changes it")
    rows = rig.rows()
    for state in ("permanently_failed", "failed", "conflict"):
        now = rows[chosen[state].id]["state"]
        expect(now == "pending", f"retry --all leaves {state} {now}")
    for state in ("held", "cancelled"):
        expect(rows[chosen[state].id]["state"] == state, f"retry --all retries a capture that the user has {state}")


def beside_slow_commands(bench):
    """Pushes that run while another command is delayed at each of its syncs and writes are all stored afterwards."""
    require_strace()
    slow = strace("-e", "trace=fsync,fdatasync,flock,unlink,unlinkat",
                  "-e", "inject=fsync,fdatasync,flock,unlink,unlinkat:delay_enter=30000")
    rig = bench.rig()
    (rig.out / "disk").mkdir()
    rig.run("dest", "add", "disk", "--kind", "folder", "--path", rig.out / "disk").must(0, about="dest add")
    rig.push(*bench.stock[:6])
    rig.uploaded(*bench.stock[:3], days=8)
    pushed = list(bench.stock[3:6])
    fresh = iter(bench.stock[10:])
    for words in (["run"], ["prune"], ["check", "--repair"], ["hold", "--all"], ["release", "--all"],
                  ["cancel", "--all"], ["retry", "--all"], ["config", "retention", "8d"],
                  ["session", "end", "monday", "--incomplete"]):
        with subprocess.Popen([*slow, *rig.argv(*words)], env=rig.env, cwd=rig.out, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
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


def not_stranded(bench):
    """After a run is killed while it sends, the next run continues with everything."""
    require_strace()
    rig = bench.rig()
    (rig.out / "disk").mkdir()
    rig.run("dest", "add", "disk", "--kind", "folder", "--path", rig.out / "disk").must(0, about="dest add")
    rig.push(*bench.stock[:3])
    # A copy gets its name by a link in this folder; a run links its own status file elsewhere.
    kill = strace("-P", str(rig.out / "disk"), "-e", "trace=linkat", "-e", "inject=linkat:signal=KILL:when=1")
    expect(rig.run("run", prefix=kill).code in KILLED, "the run was not killed")
    states = [row["state"] for row in rig.rows().values()]
    expect("uploading" in states, f"the kill met no sending: {states}")
    rig.run("run").must(0, about="the next run")
    states = {row["state"] for row in rig.rows().values()}
    expect(states == {"completed"}, f"after the next run captures are {states}")
    expect(len(list((rig.out / "disk").glob("*.bundle"))) == 3, "not all have arrived")
    nothing_left_over(rig)


def alike_is_not_the_same(bench):
    """One byte of the photo, one letter of the metadata, or another depth map makes a separate capture."""
    photo = PHOTO[:-2] + b"\x55" * 5000 + PHOTO[-2:]
    other = photo[:3000] + b"\x54" + photo[3001:]
    bundles = [bench.packed("alike 1", photo), bench.packed("alike 2", other),
               bench.packed("alike 3", photo, device_model="Rig 2"), bench.packed("alike 4", photo, ("--no-depth",)),
               bench.packed("alike 5", photo, ("--location", "omit")),
               bench.packed("alike 6", photo, captured_at="2026-03-14T09:26:53.590+01:00")]
    expect(len({bundle.id for bundle in bundles}) == 6, "the bundles are not six captures")
    rig = bench.rig()
    for bundle in bundles:
        rig.push(bundle)
    rows = clean(rig)
    expect(len(rows) == 6, f"{len(rows)} captures instead of 6")
    gives(rig, *bundles)
    twin = bench.packed("alike 7", photo)
    expect(twin.sha256 != bundles[0].sha256 and twin.id == bundles[0].id, "the twin is another capture")
    result = rig.run("push", twin.path).must(0, about="another signature of the same capture")
    expect(ids(result) == [twin.id] and result.text, f"prints {result.out!r} and says {result.text!r}")
    expect(len(clean(rig)) == 6, "another signature of the same capture is stored beside it")
    gives(rig, bundles[0])


TESTS = [
    ("failed, held, cancelled or unsent captures are kept at any age", never_pruned_by_age),
    ("a capture that was just uploaded is not deleted", not_at_once),
    ("cancelled captures are released only if the user says so", cancelled_only_when_asked),
    ("a capture that one of two destinations lacks, or without a receipt, is kept", one_of_two),
    ("a receipt without the bundle's hash is refused", receipts),
    ("retry --all does not touch completed captures", retry_all),
    ("pushes beside a slow command are not lost", beside_slow_commands),
    ("a killed run leaves no capture stuck in uploading", not_stranded),
    ("nothing but the hash decides that a capture is held", alike_is_not_the_same),
]
