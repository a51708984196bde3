"""What needs nobody stays green: in the table of Spec/queue-alarms.md that has no concerns."""
from Alarms.in_the_queue import Nowhere
from Alarms.lines import Causes, HOUR
from Kit.servers.scripted import Reply, Scripted

line = Causes()
DAYS = 3 * 24 * HOUR


def away(scene, *push):
    """A server that cannot be reached, and a capture that waits for it."""
    scene.put(Nowhere())
    return scene.push(1, *push)


def out(scene):
    scene.run("run").must(15, about="run")


@line("the server is away for two minutes", quick=True)
def outage(scene):
    away(scene)
    out(scene)
    scene.stays_green(0, 2 * 60)


@line("the last try failed, and the next is due")
def failed(scene):
    with Scripted(lambda request: Reply(500)) as server:
        scene.put(server)
        scene.push()
        out(scene)
    scene.stays_green(0, 2 * 60)


@line("the time of its `--not-before` has not come")
def deferred(scene):
    away(scene, "--not-before", "+30d")
    out(scene)
    scene.stays_green(0, 29 * 24 * HOUR)


@line("the user cancelled it")
def cancelled(scene):
    away(scene)
    out(scene)
    scene.run("cancel", "--all").must(0)
    scene.stays_green(0, DAYS)


@line("its session has not ended")
def session(scene):
    scene.folder()
    scene.push(1, "--session", "roof")
    scene.run("run").must(0)
    scene.stays_green(0, DAYS)


@line("the queue is paused, and nothing waits")
def paused(scene):
    scene.folder()
    scene.push()
    scene.run("run").must(0)
    scene.run("pause").must(0)
    scene.stays_green(0, DAYS)


def long_ago(title, again, sent=True):
    """A capture that was pushed three days ago, and that waits again since now."""
    def cause(scene):
        with Scripted(lambda request: Reply(201 if sent else 413)) as server:
            scene.put(server, "--proof", "status")
            bundle, = scene.push()
            scene.run("run").must(0 if sent else 14, about="run")
        with scene.later(DAYS):
            again(scene, bundle)
            scene.run("run").must(15, about="run while the server is away")
        scene.stays_green(DAYS, DAYS + 2 * 60)
        scene.turns_red(DAYS + 25 * HOUR)
    line(title)(cause)


def to_another(scene, bundle):
    scene.put(Nowhere(), name="b")
    scene.run("push", "--dest", "b", bundle.path).must(0, about="push")


long_ago("it was pushed again, for another destination", to_another)
long_ago("it was pushed again, with `--resend`", lambda scene, bundle: scene.run("push", "--resend", bundle.path).must(0))
long_ago("the user wants another try (`retry`)", lambda scene, bundle: scene.run("retry", bundle.id).must(0), sent=False)


@line("it was held, and is released now")
def released(scene):
    bundle, = away(scene)
    scene.run("hold", bundle.id).must(0)
    with scene.later(DAYS):
        scene.run("release", bundle.id).must(0)
        out(scene)
    scene.stays_green(DAYS, DAYS + 2 * 60)
    scene.turns_red(DAYS + 25 * HOUR)


TESTS = line.tests
