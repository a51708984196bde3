"""Each end of a session has a number: it is reported or named, whatever clocks, pauses and cancelled members do."""
import json
import threading

from Kit.outcomes import every, expect
from Kit.sending import wait_until
from Kit.servers.scripted import Reply
from Sending.sessions.session_end import Store, end, rig_to, told


def phase(rig):
    return rig.run("session", "list").must(0, about="session list").out.decode().split()[1]


def concerns(rig):
    """The codes of what `status --check` finds, and their next steps."""
    result = rig.run("status", "--check", "--json").must(0, 14, 15, about="status --check")
    return {one["code"]: one["next"] for one in json.loads(result.out)["concerns"]}


def reopened(rig, bundle):
    rig.push(bundle, options=("--session", "roof", "--reopen"))


def same_stamp(bench):
    """A clock that was ahead gives both ends one stamp. The second is reported too, under a key of its own."""
    bundles = bench.stock[:2]
    with Store() as server:
        rig = rig_to(bench, server, bundles=bundles[:1])
        rig.change("UPDATE clock SET last_seen = last_seen + 86400000, latest = last_seen + 86400000")
        end(rig)
        rig.send("--until-empty", code=(0, 15))
        reopened(rig, bundles[1])
        end(rig)
        rig.send("--until-empty", code=(0, 15))
        expect(len(server.ends) == 2, f"told {len(server.ends)} times")
        stamps = {one.json["ended_at"] for one in server.ends}
        expect(len(stamps) == 1, f"the clock gave {len(stamps)} stamps")
        expect(len({one.headers["idempotency-key"] for one in server.ends}) == 2, "one key for two ends")
        told(server.ends[1], bundles)
        expect(phase(rig) == "told", f"session list says {phase(rig)}")


def while_told(bench):
    """A session is reopened and ended while its first report is under way, and the second report is refused: unsent."""
    bundles = bench.stock[:2]
    with Store() as server:
        rig = rig_to(bench, server, bundles=bundles[:1])
        end(rig)
        server.gate = threading.Event()
        with rig.start("run", "--once") as running:
            wait_until(lambda: server.told, "the end to be told")
            reopened(rig, bundles[1])
            end(rig)
            server.gate.set()
            running.end().must(15, about="run")
        server.gate, server.says = None, [Reply(500)]
        expect(phase(rig) == "ended", f"session list says {phase(rig)}")
        rig.send("--once", code=15)
        expect(len(server.ends) == 2 and phase(rig) == "due", f"told {len(server.ends)} times, {phase(rig)}")
        rig.send("--until-empty", code=0)
        told(server.ends[-1], bundles)
        expect(phase(rig) == "told", f"then session list says {phase(rig)}")


def stopped(bench):
    """While a due end waits and nothing else does, a pause and a block by which it waits are concerns."""
    def judge(name, case):
        stops, goes_on, code = case
        with Store() as server:
            rig = rig_to(bench, server, bundles=bench.stock[:1])
            rig.send("--until-empty", code=0)
            stops(rig)
            expect(not concerns(rig), f"before the end {concerns(rig)}")
            end(rig)
            found = concerns(rig)
            expect(list(found) == [code] and found[code] == f"capqueue {' '.join(goes_on)}", f"the concerns are {found}")
            rig.send("--until-empty", code=15)
            expect(not server.ends, "told all the same")
            rig.run(*goes_on).must(0, about="resume")
            expect(not concerns(rig), f"a due end that only waits for a run is {concerns(rig)}")
            rig.send("--until-empty", code=0)
            expect(len(server.ends) == 1, f"told {len(server.ends)} times")

    def paused(*words):
        return lambda rig: rig.run("pause", *words).must(0, about="pause")

    every({"the queue": (paused(), ["resume"], "queue.paused"),
           "the destination": (paused("--dest", "web"), ["resume", "--dest", "web"], "destination.paused")}, judge)


def blocked(bench):
    """A block that only a person ends is a concern while a due end waits for its destination."""
    with Store() as server:
        rig = rig_to(bench, server, bundles=bench.stock[:1])
        rig.send("--until-empty", code=0)
        rig.change("UPDATE destinations SET blocked_reason = 'refusing', blocked_message = 'found', blocked_for = 300000, "
                   "blocked_until = (SELECT last_seen + 300000 FROM clock)")
        expect(not concerns(rig), f"before the end {concerns(rig)}")
        end(rig)
        expect(list(concerns(rig)) == ["destination.blocked"], f"the concerns are {concerns(rig)}")


def cancelled(bench):
    """A cancelled member keeps the end back, and a concern says so. With --incomplete it is reported, and again, under
    another key, when the member has landed after all."""
    bundles = bench.stock[:3]
    with Store() as server:
        rig = rig_to(bench, server, bundles=bundles)
        rig.run("cancel", bundles[1].id).must(0, about="cancel")
        rig.send("--until-empty", code=0)
        end(rig)
        result = rig.send("--until-empty", code=15)
        step = "capqueue session end roof --incomplete"
        expect(step in result.text, f"run says {result.text!r}")
        expect(concerns(rig) == {"session.cancelled": step}, f"the concerns are {concerns(rig)}")
        end(rig, "--incomplete")
        expect("session.cancelled" not in concerns(rig), f"with --incomplete the concerns are {concerns(rig)}")
        rig.send("--until-empty", code=0)
        told(server.ends[0], [bundles[0], bundles[2]], incomplete=True)
        expect(not concerns(rig) and phase(rig) == "told", f"{phase(rig)}, {concerns(rig)}")
        rig.run("retry", bundles[1].id).must(0, about="retry")
        rig.send("--until-empty", code=0)
        expect(len(server.ends) == 2, f"told {len(server.ends)} times")
        told(server.ends[1], bundles, incomplete=True)
        expect(len({one.headers["idempotency-key"] for one in server.ends}) == 2, "one key for two reports")
        expect(phase(rig) == "told", f"session list says {phase(rig)}")
        rig.run("push", "--resend", bundles[0].path).must(0, about="push --resend")
        rig.send("--until-empty", code=0)
        expect(len(server.ends) == 2, "what was reported and is sent again is reported again")


def landed_while_told(bench):
    """A member that lands while the report without it is under way is in a second report."""
    bundles = bench.stock[:2]
    with Store() as server:
        rig = rig_to(bench, server, "--concurrency", "2", bundles=bundles)
        rig.run("cancel", bundles[1].id).must(0, about="cancel")
        end(rig, "--incomplete")
        server.gate = threading.Event()
        with rig.start("run", "--until-empty") as running:
            wait_until(lambda: server.told, "the end to be told")
            rig.run("retry", bundles[1].id).must(0, about="retry")
            wait_until(lambda: rig.states() == {"completed"}, "the other transfer")
            server.gate.set()
            running.end().must(0, about="run")
        expect(len(server.ends) == 2, f"told {len(server.ends)} times")
        told(server.ends[1], bundles, incomplete=True)


def another_instead(bench):
    """Of two members the report has the first. The first is sent again and cancelled, and the second lands: as many as
    before, and yet the second is in no report."""
    first, second = bundles = bench.stock[:2]
    with Store() as server:
        rig = rig_to(bench, server, bundles=bundles)
        rig.run("cancel", second.id).must(0, about="cancel")
        end(rig, "--incomplete")
        rig.send("--until-empty", code=0)
        told(server.ends[0], [first], incomplete=True)
        rig.run("push", "--resend", first.path).must(0, about="push --resend")
        rig.run("cancel", first.id).must(0, about="cancel")
        rig.run("retry", second.id).must(0, about="retry")
        rig.send("--until-empty", code=0)
        expect(len(server.ends) == 2, f"told {len(server.ends)} times")
        told(server.ends[1], [second], incomplete=True)


TESTS = [
    ("two ends with one stamp", same_stamp),
    ("reopened and ended while the first report is under way, and refused", while_told),
    ("a due end waits: the pause is a concern", stopped),
    ("a due end waits: the block is a concern", blocked),
    ("a cancelled member: a concern, and a second report after retry", cancelled),
    ("another member lands in the place of a reported one", another_instead),
    ("a member lands while the report without it is under way", landed_while_told),
]
