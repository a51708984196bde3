"""Runs that do not come, end too early, or hang."""
import fcntl
import resource
import signal

from Alarms.in_the_queue import Nowhere
from Alarms.lines import Causes
from Kit.outcomes import expect
from Kit.rigs import NOBODY
from Kit.sending import wait_until
from Kit.servers.scripted import Reply, Scripted
from QueueFaults.descriptors_and_memory import limited

line = Causes()


def waiting(scene):
    scene.folder()
    return scene.push()[0]


@line("nothing starts `capqueue run`")
def no_run(scene):
    waiting(scene)
    scene.judge()


@line("`run --dest` is for another destination")
def another_destination(scene):
    waiting(scene)
    scene.folder("b")
    scene.judge("--dest", "b")


@line("the run was stopped (SIGSTOP), and keeps the lock")
def stopped(scene):
    scene.put(Nowhere())
    with scene.rig.start("run", "--watch", "--json") as running:
        wait_until(lambda: running.saw("started"), "the run to begin")
        running.tell(signal.SIGSTOP)
        scene.push()
        scene.judge()


@line("another program keeps the lock of the database")
def locked(scene):
    waiting(scene)
    with open(scene.rig.queue / "queue.lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with scene.rig.start("run") as running:
            scene.judge()
            expect(running.is_alive, "the run has ended")


@line("each run is killed while it sends")
def killed(scene):
    with Scripted(lambda request: Reply(201)) as server:
        scene.put(server, "--bwlimit", "1")
        scene.push()

        def sends():
            with scene.rig.start("run", "--json") as running:
                wait_until(lambda: running.saw("attempt"), "the transfer to begin")
                running.kill()
        scene.judge(sends=sends)


@line("`--max-duration` ends three runs before it is sent")
def cut_short(scene):
    with Scripted(lambda request: Reply(201)) as server:
        scene.put(server, "--proof", "status")
        scene.push()
        scene.judge("--bwlimit", "1000", "--max-duration", "1s", "--grace", "0s")


@line("a hook hangs, and `--max-duration` has passed")
def hook_hangs(scene):
    with Scripted(lambda request: Reply(413)) as server:
        scene.put(server)
        scene.push(2)
        scene.judge("--on-event", "sleep 99", "--max-duration", "3s", "--grace", "0s")


@line("the run may open too few files")
def few_descriptors(scene):
    waiting(scene)
    enough = limited(resource.RLIMIT_NOFILE, 12)
    scene.judge(sends=lambda: scene.run("run", preexec_fn=enough).must(*scene.line.runs, about="run"))


@line("the run may write no file (`ulimit -f`)")
def no_writing(scene):
    waiting(scene)
    none = limited(resource.RLIMIT_FSIZE, 4096)  # what moves the clock writes a small file before the tool begins
    scene.judge(sends=lambda: scene.run("run", preexec_fn=none).must(*scene.line.runs, about="run"))


@line("the run may start no more threads (`ulimit -u`)")
def no_threads(scene):
    waiting(scene)

    def sends():
        user = scene.own_to(NOBODY - 90)
        scene.run("run", prefix=(*user, "prlimit", "--nproc=3")).must(*scene.line.runs, about="run")
        scene.own_to(0)
    scene.judge(sends=sends, again=False)


@line("`run --page` names a file that is something else")
def no_page(scene):
    waiting(scene)
    page = scene.rig.out / "page"
    page.write_text("something else")
    scene.judge("--page", page)


@line("`run --dest` names no destination")
def no_destination(scene):
    waiting(scene)
    scene.judge("--dest", "nowhere")


TESTS = line.tests
