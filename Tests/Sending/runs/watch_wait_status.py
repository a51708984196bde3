"""Runs and other commands beside them: waiting, watching for new captures, status, exit codes."""
import os
import re
import threading

from Kit.servers.capture_api import Answer, CaptureAPI
from Kit.outcomes import expect
from Kit.sending import wait_until
from Sending.scenes import Scene, sending


def waits(bench):
    """`wait` exits with 0 if all landed, 14 if one failed for good, 15 after the timeout; it prints ids and states."""
    with Scene(bench) as scene:
        rig, ids = scene.rig, [bundle.id for bundle in scene.bundles]
        rig.run("wait", *ids, "--timeout", "1s").must(15, about="wait while the server is at work")
        with rig.start("wait", *ids) as waiting, rig.start("wait", "--all") as all_of_them:
            scene.gate.set()
            result = waiting.end().must(0, about="wait")
            all_of_them.end().must(0, about="wait --all")
        lines = sorted(result.out.decode().split("\n")[:-1])
        expect(lines == sorted(f"{one} completed" for one in ids), f"prints {lines}")
        scene.running.end().must(0)
        scene.api.answer(Answer(400))
        rig.push(bench.stock[9], options=("--session", "monday"))
        with rig.start("wait", "--session", "monday") as waiting:
            rig.send("--until-empty", code=14)
            result = waiting.end().must(14, about="wait for one that fails")
        expect(result.out.decode().split() == [bench.stock[9].id, "permanently_failed"], f"prints {result.out!r}")
        rig.run("wait", "--session", "tuesday", "--timeout", "1s").must(66, about="wait for no session")
        rig.run("wait", "00000000", "--timeout", "1s").must(66, about="wait for no capture")


def watches(bench):
    """`run --watch` ends only by a signal, and is woken by push, retry, release and resume."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        api.answer(Answer(400))
        with rig.start("run", "--watch") as running:
            one, two, three, four = bench.stock[:4]
            rig.push(one)
            rig.run("wait", one.id, "--timeout", "60s", seconds=70).must(14, about="the first is refused")
            rig.run("retry", one.id).must(0)
            arrives(rig, one, "retry")
            rig.push(two)
            arrives(rig, two, "push")
            rig.run("pause").must(0)
            rig.push(three)
            rig.run("hold", three.id).must(0)
            rig.run("resume").must(0)
            rig.run("release", three.id).must(0)
            arrives(rig, three, "release")
            rig.push(four, options=("--not-before", "+1s"))
            arrives(rig, four, "its own time")
            expect(running.is_alive, "a run that watches has ended")
            running.stop().must(0, 143, -15, about="the end of a run that watches")
        api.holds(*map(bench.photo, bench.stock[:4]))


def replaced(bench):
    """Another database in the place of the queue's ends `run --watch` at the next bell, with 74."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        rig.http(api.url)
        other = bench.rig().like(rig)
        other.run("config", "retention", "8d").must(0)
        with rig.start("run", "--watch", "--json") as running:
            wait_until(lambda: running.saw("started"), "the run starts")
            for name in ("queue.sqlite-wal", "queue.sqlite-shm"):
                (rig.queue / name).unlink(missing_ok=True)
            os.replace(other.queue / "queue.sqlite", rig.queue / "queue.sqlite")
            rig.push(bench.stock[0])
            ended = running.end().must(74, about="a run whose database was replaced")
        expect("replaced" in ended.text and not api.seen(), f"says {ended.text!r} after {len(api.seen())} requests")
        rig.send(about="a run with the new database")
        expect(len(api.seen()) > 0, "the next run sends nothing")


def arrives(rig, bundle, about):
    rig.run("wait", bundle.id, "--timeout", "60s", seconds=70).must(0, about=f"woken by {about}")


def shown(bench):
    """`status` shows a run and its current transfer."""
    with Scene(bench, is_half=True) as scene:
        bundle = scene.bundles[0]
        run = wait_until(lambda: (scene.rig.status().get("run") or {}).get("transfers")
                         and scene.rig.status()["run"], "status shows a transfer")
        expect(run["pid"] == scene.running.pid and run["started_at"].endswith("Z"), f"status shows {run}")
        transfer, = run["transfers"]
        wanted = {"destination": "api", "id": bundle.id}
        expect(wanted.items() <= transfer.items() and 0 <= transfer["sent"] < transfer["bytes"], f"shows {transfer}")
        expect(bundle.id[:8] in scene.rig.run("status").must(0).out.decode(), "status for people does not show it")
        text = scene.rig.run("status", "--prometheus").must(0).out.decode()
        expect(re.search(r"^capqueue_running{.*} 1$", text, re.M), "no run in --prometheus")
        scene.gate.set()
        scene.running.end().must(0)
        expect("run" not in scene.rig.status(), "status shows a run that has ended")
        text = scene.rig.run("status", "--prometheus").must(0).out.decode()
        for line in ("capqueue_running{.*} 0", 'capqueue_attempt_seconds_count{destination="api",.*} 3'):
            expect(re.search(f"^{line}$", text, re.M), f"--prometheus lacks {line}")
        counts = re.findall(r'^capqueue_attempts_total\{destination="api",outcome="[^"]+",.*\} (\d+)$', text, re.M)
        expect(sum(map(int, counts)) == 3, f"--prometheus counts {counts} attempts")


def side_by_side(bench):
    """--concurrency is the largest number of transfers at once; the default is one."""
    for options, count in (((), 1), (("--concurrency", "4"), 4)):
        gate = threading.Event()
        with sending(bench, bench.stock[:8], *options) as (rig, api):
            api.answer(*[Answer(gate=gate)] * 8)
            with rig.start("run", "--until-empty") as running:
                wait_until(lambda: len(api.seen()) >= count, f"{count} at once")
                expect(len(api.seen()) == count, f"{len(api.seen())} at once instead of {count}")
                gate.set()
                running.end().must(0)
            api.holds(*map(bench.photo, bench.stock[:8]))


TESTS = [
    ("wait", waits),
    ("--watch", watches),
    ("a database that is replaced ends --watch", replaced),
    ("status of a run", shown),
    ("--concurrency", side_by_side),
]
