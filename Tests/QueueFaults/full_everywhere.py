"""Every command of capqueue that writes runs on a disk that is full, or full after a few KiB more.

The queue, its sources, outputs and destinations are all on that disk. The command answers 74 or 12 and says that there
is no room, nothing acknowledged is lost, no half-written file is left, and the same command works once there is room.
"""
import copy
import functools
import json

from Kit.disks import FULL, at_every_room
from Kit.invariants import clean, gives, words_for_people
from Kit.kills import Scene
from Kit.outcomes import every, expect, long
from Kit.rigs import PHOTO, write_raw
from QueueFaults import kill_other_commands, kill_prune, kill_push
from QueueFaults.full_disks import medium


def without_floor(kind):
    """The same scene in a queue that lets push fill the disk."""
    def make(self, rig):
        rig.run("config", "free-floor", "none").must(0, about="config")
        kind.make(self, rig)

    return type(kind.__name__, (kind,), {"make": make})


class Command(Scene):
    """A command that leaves the old state of the queue or the new one; the same command then leads to the new one."""

    copes = True
    arguments = ()
    outputs = ()  # the files that it makes in `out`
    keeps_outputs = False  # whether they can be made although the command fails
    is_between = False  # whether it changes several captures, one after the other

    def make(self, rig):
        """Makes a queue with a capture in each state, and a session."""
        pending, held, cancelled, uploaded, failed, _, inside, *_ = self.bench.stock
        rig.run("config", "free-floor", "none").must(0, about="config")
        rig.push(*self.bench.stock[:6])
        rig.push(inside, options=("--session", "monday", "--priority", "2"))
        rig.run("hold", held.id).must(0, about="hold")
        rig.run("cancel", cancelled.id).must(0, about="cancel")
        rig.uploaded(uploaded, days=9)
        rig.change("UPDATE deliveries SET state = 'permanently_failed', error_code = 'final' WHERE capture = "
                   "(SELECT seq FROM captures WHERE id = ?)", failed.id)
        rig.change("UPDATE captures SET state = 'permanently_failed' WHERE id = ?", failed.id)

    def enter(self, rig):
        rig.env["CAPBUNDLE_DECODE"] = str(self.bench.decoder)
        for name in ("one", "two"):
            rig.to_folder(name)
        rig.run("dest", "add", "web", "--kind", "put", "--url", "http://127.0.0.1:9/{sha256}").must(0, about="dest add")
        more = rig.out / "more"
        more.mkdir()
        for number, bundle in enumerate(self.bench.stock[7:9]):
            (more / f"{number}.bundle").write_bytes(bundle.data)
        write_raw(rig.out / "raw/a", PHOTO[:-2] + b"\x44" * 30_000 + PHOTO[-2:])
        (rig.out / "receipt").write_text(self.bench.stock[5].sha256)

    def words(self, rig):
        named = {f"ID{number}": bundle.id for number, bundle in enumerate(self.bench.stock)}
        named |= {f"FILE{number}": bundle.path for number, bundle in enumerate(self.bench.stock)}
        return [named.get(word, word) for word in self.arguments]

    def state(self, rig):
        """What the queue says of its captures, destinations, sessions and settings, without times."""
        rows = {id: (row["state"], row["holding"], row.get("session"), row["priority"],
                     sorted((one.get("destination") or "", one["state"]) for one in row["deliveries"]))
                for id, row in rig.rows().items()}
        settings = rig.query("SELECT paused, '', '' FROM control UNION ALL "
                             "SELECT paused, name, settings LIKE '%concurrency%' FROM destinations")
        lists = [rig.run(*words).must(0).out for words in (["dest", "list"], ["session", "list"], ["config"])]
        return [rows, repr(settings).encode(), *lists]

    @functools.cached_property
    def ends(self):
        """The state before the command, and after it."""
        rig = self.rig()
        before = self.state(rig)
        self.run(rig).must(*self.codes, about="with room")
        return [self.relative(rig, state) for state in (before, self.state(rig))]

    def relative(self, rig, state):
        return [part.replace(str(rig.folder).encode(), b"") if isinstance(part, bytes) else part for part in state]

    def judge(self, rig, ended, _):
        old, new = self.ends
        found, has_failed = self.relative(rig, self.state(rig)), ended.code not in self.codes
        # 15 says that work is left: a destination on the full disk could not take the bundle.
        is_known = found == new or (has_failed or ended.code == 15) and (found == old or self.is_between)
        expect(is_known, f"exit {ended.code} and {ended.text[-400:]!r} is neither the old nor the new: {found}")
        left = {path.name for path in rig.out.iterdir()} - {"one", "two", "more", "raw", "receipt", "filler"}
        is_left = left and has_failed and not self.keeps_outputs
        expect(left <= set(self.outputs) and not is_left, f"exit {ended.code}, and leaves {left}")
        for name in left:
            self.judge_output(rig.out / name, ended)
        clean(rig, "with room again")
        # A change of destinations is done even if there is no room for settings.json, which is written after it.
        if found != new or has_failed and (self.outputs or old == new):
            ended = self.run(rig).must(*self.codes, 64, about="the same again")
            expect(self.relative(rig, self.state(rig)) == new, "the same again does not lead to the new state")
        for name in self.outputs:
            self.judge_output(rig.out / name, ended)
        clean(rig)
        gives(rig, self.bench.stock[0])

    def judge_output(self, path, ended):
        expect(path.exists() and path.read_bytes(), "the output is not there, or empty")


def command(*arguments, outputs=(), codes=(0,), between=False):
    about = {"arguments": arguments, "outputs": outputs, "codes": codes, "is_between": between}
    return type(arguments[0], (Command,), about)


class Init(Scene):
    copes = True

    def words(self, rig):
        return ["init", "--queue", rig.out / "queue"]

    def judge(self, rig, ended, _):
        rig.queue = rig.out / "queue"
        rig.env["CAPQUEUE_DIR"] = str(rig.queue)
        self.run(rig).must(0, about="init again")
        rig.push(self.bench.stock[0])
        clean(rig)



class Page(Command):
    """A run that keeps a page up to date: what is sent does not depend on the page."""

    arguments, outputs, codes, is_between = ("run", "--page", "page.html"), ("page.html",), (14, 15), True
    keeps_outputs = True

    def judge_output(self, path, ended):
        expect(path.exists() or path.name in ended.text, "there is no page, and the run does not say so")
        expect(not path.exists() or path.read_bytes().endswith(b"</html>\n"), "the page is not whole")


def coping(kind):
    return type(kind.__name__, (kind,), {"copes": True})


# Each command that writes, and its scenes.
WRITING = {
    "push": [kill_push.Push, kill_push.First,
             *(without_floor(kind) for kind in (kill_push.Push, kill_push.Several, kill_push.Moved, kill_push.Named)),
             command("push", "--reference", "FILE9"), command("push", "FILE2", "--dest", "two"),
             command("push", "FILE3", "--resend"),
             command("push", "FILE7", "FILE8", "--session", "friday", between=True)],
    "adopt": [command("adopt", "more", between=True),
              command("adopt", "--pack", "raw", between=True)],
    "run": [coping(kill_other_commands.Run), command("run", codes=(14, 15), between=True), Page],
    "report": [command("report", "-o", "x.html", outputs=("x.html",))],
    "get": [command("get", "ID0", "-o", "x.bundle", outputs=("x.bundle",))],
    "hold": [coping(kill_other_commands.Change), command("hold", "--all", between=True)],
    "release": [command("release", "ID1")],
    "cancel": [coping(kill_other_commands.Cancel), command("cancel", "--all", between=True)],
    "retry": [command("retry", "--failed"), command("retry", "ID2")],
    "prune": [coping(kill_prune.Prune), command("prune", "--cancelled", between=True),
              command("prune", "--accept-clock", between=True)],
    "init": [Init],
    "dest": [coping(kill_other_commands.Destination),
             command("dest", "add", "three", "--kind", "folder", "--path", "more"),
             command("dest", "set", "web", "--concurrency", "3"), command("dest", "rename", "one", "other"),
             command("dest", "retire", "one", "--to", "two", between=True), command("dest", "remove", "two"),
             command("dest", "default", "two")],
    "session": [command("session", "end", "monday", "--incomplete")],
    "pause": [command("pause", "--now"), command("pause", "--dest", "one")],
    "resume": [command("resume")],
    "config": [coping(kill_other_commands.Configured), command("config", "evict-uploaded", "on")],
    "check": [coping(kill_other_commands.Repaired), command("check", "--read-data"), command("check", "--remote")],
    "salvage": [coping(kill_other_commands.Salvage), coping(kill_other_commands.Mended)],
    "export": [command("export", "--manifest", "list", outputs=("list",))],
    "mark-uploaded": [coping(kill_other_commands.Uploaded), command("mark-uploaded", "ID5", "--receipt", "receipt")],
}
READING = {"wait", "status", "list", "show", "history"}
ELSEWHERE = {"backup", "restore"}  # backups.py fills the disk of a backup


def every_command(bench):
    """No command is missing here: each has its scenes above, or writes nothing."""
    words = bench.rig().run("--help").must(0).out.decode().partition("SUBCOMMANDS")[2]
    listed = {line.split(",")[0].split()[0] for line in words.splitlines() if line[:2] == "  " and line[2:3].isalpha()}
    expect(listed - {"See"} == READING | ELSEWHERE | WRITING.keys(), f"there are {sorted(listed)}")


def full(kind, bench):
    scene = kind(bench)

    def trial(rig, room, free):
        ended = scene.run(rig)
        if ended.code not in scene.codes:
            words_for_people(ended.must(74, 12), lines=8)
            expect(FULL.search(ended.text), f"does not say that the disk is full: {ended.text!r}")
            rig.run("list").must(0, 66, 74, about="list on the full disk")
        free()
        scene.judge(rig, ended, room // 4)
        return ended.code in scene.codes

    at_every_room(scene, trial)


def all_of(kinds, bench):
    stock = medium(bench)  # bundles that take some pages of a disk
    bench = copy.copy(bench)
    bench.stock = stock
    every({f"{number} {kind.__name__}": kind for number, kind in enumerate(kinds)}, lambda _, kind: full(kind, bench))


TESTS = [("each command that writes is tested on a full disk", every_command)]
TESTS += [(f"{name}: nothing is lost or half written, and it says so, however much room there is",
           long(functools.partial(all_of, kinds))) for name, kinds in WRITING.items()]
