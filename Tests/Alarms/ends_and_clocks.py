"""Ends of sessions that are not reported, copies that may be lost, and clocks that are wrong."""
from Alarms.lines import Causes, HOUR
from Kit.disks import mounted
from Kit.sending import AT_ONCE
from Kit.servers.scripted import Reply, Scripted
from QueueFaults.wrong_clocks import faked
from Sending.kind_folder.copies import EXT2, copies_in_doubt, old_queue

line = Causes()


class Ends(Scripted):
    """Takes bundles, and refuses ends of sessions."""

    def __init__(self):
        super().__init__(lambda request: Reply({"PUT": 201, "POST": 500}.get(request.method, 405)))


def session(scene, server, *options):
    scene.put(server, "--session-end-url", f"{server.url}/end", "--retry", AT_ONCE, *options)
    scene.push(2, "--session", "roof")


@line("the server refuses the end of its session")
def untold(scene):
    with Ends() as server:
        session(scene, server)
        scene.run("run").must(0)
        scene.run("session", "end", "roof").must(0)
        scene.judge("--until-empty")


@line("the end of its session waits, and the server is away")
def end_waits(scene):
    with Ends() as server:
        session(scene, server)
        scene.run("run").must(0)
    scene.run("session", "end", "roof").must(0)
    scene.judge()


@line("the end of its session waits for a member that was cancelled")
def kept_back(scene):
    with Ends() as server:
        session(scene, server)
        scene.run("cancel", scene.bench.stock[0].id).must(0)
        scene.run("run").must(0)
        scene.run("session", "end", "roof").must(0)
        scene.judge()


@line("the clock is wrong, or was")
def wrong_clock(scene):
    scene.folder()
    with faked(scene.rig, "+365d"):
        scene.push()
    scene.judge()


@line("the clock was a year ahead when it was pushed")
def pushed_ahead(scene):
    scene.folder()
    with faked(scene.rig, "+365d"):
        scene.push(1, "--not-before", "+1h")
    scene.run("prune", "--accept-clock").must(0)
    scene.judge(age=HOUR)


@line("the spool is larger than `warn-at`")
def over_mark(scene):
    scene.folder()
    scene.push()
    scene.run("config", "warn-at", "1kB").must(0)
    scene.judge()


@line("the copy for which a receipt of 1.0 speaks has other bytes")
def wrong_copy(scene):
    bundles = scene.bench.stock[:2]
    disk = scene.folder()
    copies = old_queue(scene.rig, disk, bundles)
    copies[0].write_bytes(b"other bytes")
    scene.judge()


@line("the copy for which a receipt of 1.0 speaks may be lost")
def lost_copy(scene):
    disk = scene.rig.folder / "disk"
    with mounted(scene.rig, disk, EXT2) as scene.place:
        scene.rig.before = scene.place.prefix
        copies_in_doubt(scene.rig, disk, scene.place, scene.bench.stock[:1])
        scene.rig.before = []
        scene.judge()


TESTS = line.tests
