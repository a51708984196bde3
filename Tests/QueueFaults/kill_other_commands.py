"""Commands that change a state, a destination or the spool, run and salvage are killed at each of their system calls.

Afterwards the state is the old one or the new one, and repeating the command leads to the new one.
"""
import json

from Kit.outcomes import IS_LONG, expect, long
from Kit.invariants import check_says, clean, gives, holds, rows_have_bytes
from Kit.injection import prefix
from Kit.kills import Scene, killed_everywhere
from Kit.queues import BEGUN, ids
from QueueFaults.damaged_indexes import HISTORY, events, without_index


# A check takes long, so in the short form only the end of a trial has one.
soundness = clean if IS_LONG else rows_have_bytes


class Change(Scene):
    """A command on one of two captures is killed."""

    old, new, command = "pending", "held", "hold"

    def make(self, rig):
        rig.push(*self.bench.stock[:2])

    def words(self, rig):
        return [self.command, self.bench.stock[1].id]

    def judge(self, rig, ended, _):
        chosen = self.bench.stock[1]
        rows = soundness(rig, "after the kill")
        state = rows[chosen.id]["state"]
        expect(state in (self.old, self.new), f"is {state}, neither {self.old} nor {self.new}")
        expect(not ids(ended) or state == self.new, f"the id is printed, the state is {state}")
        expect(rows[self.bench.stock[0].id]["state"] == "pending", "the other capture has changed")
        history = [json.loads(line) for line in rig.run("history", chosen.id, "--json").must(0).out.splitlines()]
        told = [line.get("to") for line in history if "to" in line]
        expect(told and told[-1] == state, f"is {state}, its history says {told}")
        if state == self.old:
            rig.run(*self.words(rig)).must(0, about="the same again")
            rows = clean(rig, "after the same again")
            expect(rows[chosen.id]["state"] == self.new, f"the same again: {rows[chosen.id]['state']}")
        holds(rig, *self.bench.stock[:2], rows=rows)


class Cancel(Change):
    new, command = "cancelled", "cancel"


class Uploaded(Change):
    new, command = "completed", "mark-uploaded"

    def words(self, rig):
        return ["mark-uploaded", self.bench.stock[1].id, "--receipt", rig.out / "receipt"]

    def enter(self, rig):
        (rig.out / "receipt").write_text(self.bench.stock[1].sha256 + "\n")


class Destination(Scene):
    """`dest add` is killed in a queue without destinations: the destination exists and works, or does not exist."""

    def make(self, rig):
        rig.push(self.bench.stock[0])
        (rig.out / "disk").mkdir()

    def words(self, rig):
        return ["dest", "add", "disk", "--kind", "folder", "--path", rig.out / "disk"]

    def judge(self, rig, ended, _):
        bundle = self.bench.stock[0]
        soundness(rig, "after the kill")
        listed = rig.run("dest", "list").must(0, about="dest list").text
        expect("warning" not in listed and "error" not in listed, f"dest list warns: {listed[:200]!r}")
        again = rig.run(*self.words(rig)).must(0, 64, about="dest add again")
        there = b"disk" in rig.run("dest", "list").must(0, about="dest list").out
        expect(there, f"exit {again.code}, and the destination is not listed")
        rig.run("run").must(0, about="run")
        expect((rig.out / f"disk/{bundle.id}.bundle").read_bytes() == bundle.data, "the copy is another one")
        left = sorted(path.name for path in (rig.out / "disk").iterdir())
        expect(left == [".capqueue-destination", f"{bundle.id}.bundle"], f"the destination holds {left}")
        clean(rig)


class Configured(Scene):
    """`config` is killed: the setting has the old value or the new one, and settings.json is whole."""

    def make(self, rig):
        rig.push(self.bench.stock[0])
        rig.run("config", "retention", "9d").must(0, about="config")

    def words(self, rig):
        return ["config", "retention", "5d"]

    def judge(self, rig, ended, _):
        soundness(rig, "after the kill")
        json.loads((rig.queue / "settings.json").read_bytes())
        value = rig.run("config", "retention").must(0).out.strip()
        expect(value in (b"9d", b"5d"), f"retention is {value}")
        rig.run(*self.words(rig)).must(0, about="the same again")
        expect(rig.run("config", "retention").must(0).out.strip() == b"5d", "the same again leads to another value")
        clean(rig)


class Repaired(Scene):
    """`check --repair` is killed, with a stray bundle, a damaged one, a missing one and a file in incoming/."""

    codes = (74,)

    def make(self, rig):
        stray, damaged, missing, *_ = self.bench.stock
        rig.push(*self.bench.stock[1:4])
        rig.stray(stray)
        rig.spool_file(damaged).write_bytes(damaged.data[:-1] + b"\1")
        rig.spool_file(missing).unlink()
        (rig.queue / "incoming/left-over").write_bytes(b"half")

    def words(self, rig):
        return ["check", "--read-data", "--repair"]

    def judge(self, rig, ended, _):
        stray, damaged, missing, *others = self.bench.stock[:4]
        rig.run(*self.words(rig)).must(1, 74, about="check --repair again")
        holds(rig, stray, *others, about="after check --repair again")
        rows = rig.rows()
        expect(rows[damaged.id]["holding"] == "quarantined", f"the damaged one is {rows[damaged.id]['holding']}")
        expect(rows[missing.id]["holding"] == "missing", f"the missing one is {rows[missing.id]['holding']}")
        kept = [path.read_bytes() for path in (rig.queue / "quarantine").iterdir()]
        expect(kept == [damaged.data[:-1] + b"\1"], f"the quarantine holds {len(kept)} files, not the damaged bytes")
        rig.push(damaged, missing)
        gives(rig, stray, damaged, missing)
        found = check_says(rig, 0, 1, about="at the end")
        expect(all("quarantine" in finding["kind"] or "damage" in finding["kind"] for finding in found),
               f"finds {found}")


class Run(Scene):
    """Four captures are sent to a mounted disk, so that a kill meets one that is sent, one whose result is not stored
    and one that was claimed ahead. Every second trial kills the next run at the same call."""

    count = 4

    def make(self, rig):
        rig.push(*self.bench.stock[:self.count])

    def enter(self, rig):
        # The destination contains its path, so it cannot be copied with the rig.
        rig.to_folder()

    def words(self, rig):
        return ["run"]

    def judge(self, rig, ended, number):
        sent = self.bench.stock[:self.count]
        disk = rig.out / "disk"
        unbegun = self.never_begun(rig)
        expect(len(unbegun) <= 1, f"{len(unbegun)} deliveries are claimed ahead")
        for name in unbegun:
            expect(not (disk / f"{name}.bundle").exists(), "a delivery that never began has landed")
        killed_at = getattr(rig, "killed_at", None)  # a full disk kills nothing
        if number % 2 and killed_at:
            rig.run("run", prefix=prefix(killed_at, "signal=KILL"))
        else:
            rig.run("run").must(0, about="run again")
            for name in unbegun:
                outcomes = self.outcomes(rig, name)
                expect("lost" not in outcomes and outcomes[-1] == "completed", f"what never began is {outcomes}")
        rows = rig.rows(about="after the kill")
        holds(rig, *sent, rows=rows, about="after the kill")
        for bundle in sent:
            copy = disk / f"{bundle.id}.bundle"
            expect(not copy.exists() or copy.read_bytes() == bundle.data, "a partial copy is under the final name")
            state = rows[bundle.id]["state"]
            expect(state in ("pending", "uploading", "completed"), f"a delivery is {state} after the kill")
            expect(state != "completed" or copy.exists(), "completed without a copy")
        rig.run("run", "--until-empty").must(0, about="the last run")
        rows = clean(rig, "after the last run")
        for bundle in sent:
            expect((disk / f"{bundle.id}.bundle").read_bytes() == bundle.data, "run again: another copy, or none")
            expect(rows[bundle.id]["state"] == "completed", f"run again leaves {rows[bundle.id]['state']}")
            delivery, = rows[bundle.id]["deliveries"]
            receipt = json.loads(delivery["receipt"])
            expect(receipt["sha256"] == bundle.sha256 and receipt["kind"] == "folder", f"the receipt is {receipt}")
            expect(delivery["attempts"] == 1, f"{delivery['attempts']} attempts are counted")
        left = {path.name for path in disk.iterdir()} - {f"{bundle.id}.bundle" for bundle in sent}
        expect(left == {".capqueue-destination"}, f"the destination holds {sorted(left)} besides")
        gives(rig, sent[0])

    @staticmethod
    def never_begun(rig):
        """The ids of the captures that the killed run had claimed and not begun."""
        file = rig.queue / BEGUN
        words = file.read_bytes()[128:] if file.exists() else b""
        begun = {words[start:start + 16] for start in range(0, len(words), 16)}
        with rig.database() as database:
            claimed = database.execute("SELECT captures.id, token FROM deliveries JOIN captures ON seq = capture"
                                       " WHERE deliveries.state = 'uploading'").fetchall()
        return [name for name, token in claimed if file.exists() and token not in begun]

    @staticmethod
    def outcomes(rig, name):
        with rig.database() as database:
            rows = database.execute("SELECT outcome FROM attempts JOIN deliveries ON deliveries.id = delivery JOIN captures"
                                    " ON seq = capture WHERE captures.id = ? ORDER BY attempts.id", (name,))
            return [outcome for outcome, in rows]


class RunOfSession(Run):
    """The four are a session, and land in its order."""

    def make(self, rig):
        rig.push(*self.bench.stock[:self.count], options=("--session", "monday"))

    def judge(self, rig, ended, number):
        landed = [(rig.out / f"disk/{bundle.id}.bundle").exists() for bundle in self.bench.stock[:self.count]]
        expect(landed == sorted(landed, reverse=True), f"a member landed before an earlier one: {landed}")
        super().judge(rig, ended, number)


class Salvage(Scene):
    """Three captures, and a database whose first page is overwritten."""

    def make(self, rig):
        rig.push(*self.bench.stock[:3])
        with open(rig.queue / "queue.sqlite", "r+b") as database:
            database.write(self.bench.chance("salvage").randbytes(4096))

    def words(self, rig):
        return ["salvage"]

    def judge(self, rig, ended, _):
        held = self.bench.stock[:3]
        for bundle in held:
            expect(rig.spool_file(bundle).read_bytes() == bundle.data, "bytes are lost or changed")
            expect(rig.spool_file(bundle, "json").exists(), "a sidecar is gone")
        before = self.origin.queue / "queue.sqlite"
        kept = [path for path in rig.queue.iterdir() if path.is_file() and path.read_bytes() == before.read_bytes()]
        expect(kept, "the damaged database is nowhere")
        listed = rig.run("list", "--json")
        listed.must(0, 66, 74, about="list after the kill")
        expect(listed.code or len(listed.out.splitlines()) in (0, 3), "list works but shows only a part")
        # If the killed salvage finished, the database is sound, and salvage refuses to replace that.
        rig.run("salvage").must(64 if listed.code == 0 and listed.out else 0, about="salvage again")
        holds(rig, *held, rows=clean(rig, "after salvage again"), about="after salvage again")
        gives(rig, held[0], held[-1])
        rig.push(self.bench.stock[6])
        holds(rig, *held, self.bench.stock[6], about="after another push")


class Mended(Scene):
    """Only an index is damaged: no kill makes salvage forget what the user decided."""

    def make(self, rig):
        rig.push(*self.bench.stock[:3])
        with without_index(rig, HISTORY):
            rig.run("hold", self.bench.stock[2].id).must(0, about="hold")

    def words(self, rig):
        return ["salvage"]

    def judge(self, rig, ended, _):
        held = self.bench.stock[:3]
        before = (self.origin.queue / "queue.sqlite").read_bytes()
        kept = [path for path in rig.queue.iterdir() if path.is_file() and path.read_bytes() == before]
        expect(kept, "the damaged database is nowhere")
        is_done = "hold" in events(rig, held[2])
        rig.run("salvage").must(64 if is_done else 0, about="salvage again")
        rows = clean(rig, "after salvage again")
        holds(rig, *held, rows=rows, about="after salvage again")
        states = [rows[bundle.id]["state"] for bundle in held]
        expect(states == ["pending", "pending", "held"], f"after salvage again: {states}")
        expect("hold" in events(rig, held[2]), "history lacks the hold")


OTHERS = {"hold": Change, "cancel": Cancel, "mark-uploaded": Uploaded, "dest add": Destination, "config": Configured,
          "check --repair": Repaired}


def test(kind):
    return lambda bench: killed_everywhere(kind(bench))


TESTS = [
    ("run: a kill at any system call strands no capture in uploading, and leaves no half copy", test(Run)),
    ("run of a session: a kill at any system call keeps the order, too", long(test(RunOfSession))),
    ("salvage: a kill at any system call loses nothing, and the next one rebuilds all", test(Salvage)),
    ("salvage of an index: a kill at any system call forgets no state", test(Mended)),
]
TESTS += [(f"{title}: a kill at any system call leaves the old or the new", test(kind))
          for title, kind in OTHERS.items()]
