"""Captures that are in the queue, and that nobody sends."""
from Alarms.lines import Causes, HOUR
from Kit.outcomes import expect
from Kit.servers.nginx import port_of_nobody

line = Causes()


@line("no destination was added")
def unassigned(scene):
    scene.push()
    scene.judge()


@line("the user holds it", quick=True)
def held(scene):
    scene.folder()
    scene.push()
    scene.run("hold", "--all").must(0)
    scene.judge()


@line("`salvage` built a new database")
def salvaged(scene):
    scene.folder()
    scene.push()
    scene.run("salvage", "--force").must(0, about="salvage")
    scene.judge()


@line("`check --repair` found its bundle without a row")
def repaired(scene):
    scene.folder()
    scene.push()
    scene.rig.stray(scene.bench.stock[1])
    scene.run("run").must(0, about="run")
    scene.run("check", "--repair").must(15, 0, about="check --repair")
    scene.judge()


@line("`adopt` found it in the spool of another queue")
def adopted(scene):
    scene.folder()
    other = scene.bench.rig()
    other.push(scene.bench.stock[0])
    scene.run("adopt", other.queue / "spool").must(0, about="adopt")
    scene.judge()


@line("the queue is paused")
def queue_paused(scene):
    scene.folder()
    scene.push()
    scene.run("pause").must(0)
    scene.judge()


@line("its destination is paused")
def destination_paused(scene):
    scene.folder()
    scene.push()
    scene.run("pause", "--dest", "a").must(0)
    scene.judge()


@line("it waits for its `--not-before`, and its destination is paused")
def deferred_and_paused(scene):
    scene.folder()
    scene.push(1, "--not-before", "+1h")
    scene.run("pause", "--dest", "a").must(0)
    scene.judge()


@line("the time of its `--not-before` is over, and nothing sends it")
def deferred(scene):
    scene.folder()
    scene.push(1, "--not-before", "+1h")
    scene.judge(age=HOUR)


@line("an earlier member of its session waits")
def behind(scene):
    scene.put(Nowhere())
    scene.rig.push(scene.bench.stock[0], options=("--session", "roof", "--not-before", "+30d"))
    scene.rig.push(scene.bench.stock[1], options=("--session", "roof"))
    scene.judge()


class Nowhere:
    """A server that nobody started."""

    url = f"http://127.0.0.1:{port_of_nobody()}"


TESTS = line.tests
