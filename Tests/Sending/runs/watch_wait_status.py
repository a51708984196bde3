"""Runs and other commands beside them: waiting, watching for new captures, status, exit codes, a second run."""
import json
import re
import threading

from capture_api import Answer, CaptureAPI
from checks import expect
from fault_proxy import Fault, FaultProxy
from rigs import wait_until
from scenes import Scene


def two_runs(bench):
    """A second run of the same queue exits with 10 at once, and the first continues."""
    with Scene(bench) as scene:
        for words in (["--once"], ["--until-empty"], ["--watch"]):
            scene.rig.send(*words, code=10, about=f"run {words[0]} beside a run")
        scene.gate.set()
        scene.running.end().must(0, about="the first run")
        scene.ends_well()


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
        expect("capqueue_running 1" in text, "no run in --prometheus")
        scene.gate.set()
        scene.running.end().must(0)
        expect("run" not in scene.rig.status(), "status shows a run that has ended")
        text = scene.rig.run("status", "--prometheus").must(0).out.decode()
        for line in ("capqueue_running 0", 'capqueue_attempt_seconds_count{destination="api"} 3'):
            expect(line in text, f"--prometheus lacks {line}")
        counts = re.findall(r'^capqueue_attempts_total\{destination="api",outcome="[^"]+"\} (\d+)$', text, re.M)
        expect(sum(map(int, counts)) == 3, f"--prometheus counts {counts} attempts")


def side_by_side(bench):
    """--concurrency is the largest number of transfers at once; the default is one."""
    for options, count in (((), 1), (("--concurrency", "4"), 4)):
        rig, gate = bench.rig(), threading.Event()
        with CaptureAPI(bench.public) as api:
            api.answer(*[Answer(gate=gate)] * 8)
            rig.http(api.url, *options)
            rig.push(*bench.stock[:8])
            with rig.start("run", "--until-empty") as running:
                wait_until(lambda: len(api.seen()) >= count, f"{count} at once")
                expect(len(api.seen()) == count, f"{len(api.seen())} at once instead of {count}")
                gate.set()
                running.end().must(0)
            api.holds(*map(bench.photo, bench.stock[:8]))


def codes(bench):
    """The exit code of a run says what is left; with --quiet it is the only report."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        rig.send(code=(0, 66), about="run without a queue")
        rig.http(api.url)
        rig.send(code=0, about="run of nothing")
        rig.push(*bench.stock[:3])
        api.answer(Answer(400), Answer(503))
        result = rig.send("--once", "--quiet", code=14, about="one is refused, one failed")
        expect(result.out == b"", f"--quiet prints {result.out!r}")
        result = rig.send("--once", code=14, about="one was refused before")
        expect(result.out.decode().split() == [bench.stock[1].id, "api", "completed"], f"prints {result.out!r}")
        rig.run("cancel", bench.stock[0].id).must(0)
        rig.send(code=0, about="nothing is left")
        rig.push(bench.stock[3])
        api.answer(Answer(503))
        rig.send("--once", code=15, about="a retry is left")
        rig.send("--dest", "none", code=78, about="run for no destination")
        shown_states = json.loads(rig.run("status", "--json").out)["captures"]
        expect(shown_states["completed"]["captures"] == 2, f"status counts {shown_states}")


def pushed_meanwhile(bench):
    """A capture that is pushed during a slow run is delivered, and no other is lost."""
    rig, bundles = bench.rig(), bench.bundles(24)
    with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
        proxy.plan(otherwise=Fault(rate=40_000))
        rig.http(proxy.url)
        rig.push(*bundles[:4])
        with rig.start("run", "--until-empty") as running:
            for bundle in bundles[4:]:
                rig.push(bundle)
            running.end().must(0)
        rig.send("--until-empty", code=0)
        api.holds(*map(bench.photo, bundles))
        expect(len(rig.deliveries()) == 24, f"{len(rig.deliveries())} deliveries")


FAMILY = [
    ("two runs at one queue: 10", two_runs),
    ("wait", waits),
    ("--watch", watches),
    ("status of a run", shown),
    ("--concurrency", side_by_side),
    ("exit codes and --quiet", codes),
    ("a push beside a slow run loses nothing", pushed_meanwhile),
]
