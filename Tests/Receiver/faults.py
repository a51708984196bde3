"""Crashes, a full disk, slow clients, and what the operator sees."""
import concurrent.futures
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import time

from outcomes import PATIENCE, Skipped, expect
from support import ROOT, Receiver, answer_of, receiving

sys.path.append(str(ROOT / "Tests/Faults"))
from tracing import calls_in, require_strace, strace  # noqa: E402  (the line above makes this module importable)

STEPS = "linkat,fsync,fdatasync,pwrite64,unlink,unlinkat"


def kills(tools):
    """Killed at any step of an upload: the retry gets 202, and there is one capture, with all its bytes."""
    require_strace()
    rig, body = tools.rig(), tools.rig().capture()
    template = Receiver(tools).start()
    template.device(rig)
    template.stop()
    template.queue("pause")  # so that only the upload makes these calls
    shutil.rmtree(template.folder / "kept")
    (template.folder / "kept").mkdir()

    def prepared(number):
        folder = tools.scratch("killed") / "captures"
        shutil.copytree(template.folder, folder)
        receiver = Receiver(tools, folder)
        receiver.devices = dict(template.devices)
        receiver.log = folder.parent / f"log-{number}"
        return receiver

    traced = prepared("traced")
    log = traced.folder.parent / "trace"
    traced.program = strace("-e", f"trace={STEPS}", log=log)
    traced.start()
    before = len(calls_in(log))
    traced.taken(rig, body)
    calls = len(calls_in(log)) - before
    _end(traced)
    expect(calls > 5, f"an upload made {calls} calls")
    for number in range(1, calls + 1):
        receiver = prepared(number)
        receiver.program = strace("-e", f"trace={STEPS}", "-e", f"inject={STEPS}:signal=SIGKILL:when={before + number}")
        receiver.start()
        answer = None
        try:
            answer = receiver.upload(rig, body)
        except OSError:
            pass  # the connection broke
        _end(receiver)
        receiver.program = []
        receiver.start()
        taken = receiver.taken(rig, body)
        expect(not answer or answer.data["capture_id"] == taken, f"killed at call {number}: the id is new")
        expect(receiver.taken(rig, body) == taken, f"killed at call {number}: the retry has another id")
        expect(receiver.held() == [taken], f"killed at call {number}: the queue has {receiver.held()}")
        out = receiver.folder.parent / "got"
        receiver.queue("get", taken, "-o", out)
        expect(out.read_bytes() == body.bundle.read_bytes(), f"killed at call {number}: the bytes differ")
        receiver.stop()
        with sqlite3.connect(receiver.folder / "index.sqlite") as index:
            count, = index.execute("SELECT count(*) FROM captures").fetchone()
        expect(count == 1, f"killed at call {number}: the index has {count} captures")
        shutil.rmtree(receiver.folder.parent)


def _end(receiver):
    """Ends a traced receiver, whether or not it was killed before. strace ends with it."""
    children = pathlib.Path(f"/proc/{receiver.process.pid}/task/{receiver.process.pid}/children")
    try:
        for child in children.read_text().split():
            subprocess.run(["kill", "-KILL", child], check=False, capture_output=True)
    except OSError:
        pass
    receiver.process.wait(PATIENCE)
    receiver.process.stdout.close()


def acknowledged_survive(tools):
    """Kills at moments that no step decides, while eight devices upload: nothing acknowledged is lost or doubled."""
    rigs = [tools.rig(f"crowd-{number}") for number in range(4)]
    receiver = Receiver(tools).start()
    bodies = [(rig, rig.capture(f"c{number}")) for rig in rigs for number in range(4)]
    for rig in rigs:
        receiver.device(rig)
    acknowledged = {}

    def post(item):
        rig, body = item
        try:
            answer = receiver.upload(rig, body)
        except OSError:
            return
        if answer.status == 202:
            acknowledged.setdefault(body, set()).add(answer.data["capture_id"])

    for pause in (0.02, 0.05, 0.1, 0.2, 0.4):
        with concurrent.futures.ThreadPoolExecutor(8) as crowd:
            jobs = [crowd.submit(post, item) for item in bodies]
            time.sleep(pause)
            receiver.kill()
            for job in jobs:
                job.result()
        port = receiver.port
        receiver.start()
        expect(port, "no port")
    for item in bodies:
        post(item)
    ids = [next(iter(acknowledged[body])) for _, body in bodies]
    expect(all(len(acknowledged[body]) == 1 for _, body in bodies), "a capture has two ids")
    expect(receiver.held() == sorted(ids), "the queue has other captures than those that were acknowledged")
    receiver.stop()


def full_disk(tools):
    """A full disk answers 507 and loses nothing; with space, the retry succeeds."""
    place = tools.scratch("small")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m,mode=700", "tmpfs", place], check=False,
                      capture_output=True).returncode:
        raise Skipped("this user may not mount a small disk")
    try:
        rig = tools.rig()
        receiver = Receiver(tools, place / "captures")
        receiver.log = place.parent / "small.log"
        receiver.start()
        receiver.queue("pause")
        first, second = rig.capture("first"), rig.capture("second")
        taken = receiver.taken(rig, first)
        filler = place / "filler"
        refused = 0
        for keep in (0, 60_000, 120_000, 200_000, 300_000):
            free = shutil.disk_usage(place).free
            with open(filler, "wb") as file:
                file.write(bytes(max(0, free - keep)))
            answer = receiver.upload(rig, second)
            expect(answer.status in (202, 507) and (answer.status == 202 or answer.code == "STORAGE_FULL"), f"{answer}")
            refused += answer.status == 507
            filler.unlink()
        expect(refused, "the disk was never full")
        other = receiver.taken(rig, second)
        expect(receiver.taken(rig, first) == taken, "the first capture has another id")
        expect(receiver.held() == sorted([taken, other]), f"the queue has {receiver.held()}")
        left = list((receiver.folder / "bodies").iterdir())
        expect(not left, f"{len(left)} files are left in bodies/")
        receiver.stop()
        expect("INTERNAL_ERROR" not in receiver.said(), f"the receiver logged {receiver.said()[-300:]}")
    finally:
        subprocess.run(["umount", place], check=False)


def metrics(tools):
    rig = tools.rig()
    with receiving(tools) as receiver:
        receiver.taken(rig, rig.capture())
        receiver.ask("GET", "/nowhere")
        answer = receiver.ask("GET", "/metrics")
        text = answer.bytes.decode()
        for line in ('receiver_http_requests_total{method="POST",status="202"} 1', "receiver_captures 1",
                     'receiver_http_requests_total{method="GET",status="404"} 1', "receiver_bodies 0"):
            expect(line in text.splitlines(), f"{line} is missing in {text}")
        promtool = shutil.which("promtool", path=f"{ROOT}/.build/promtool/usr/bin:{tools.environment['PATH']}")
        expect(promtool, "promtool is missing; run .ci/promtool")
        done = subprocess.run([promtool, "check", "metrics"], input=answer.bytes, capture_output=True, check=False)
        expect(done.returncode == 0 and not done.stderr and not done.stdout, f"promtool: {done.stdout + done.stderr}")


def slow_bodies(tools):
    """A body that stops gets 408, and others are served meanwhile."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        body = rig.capture()
        start = receiver.head_of_upload(rig, body)
        with socket.create_connection(("127.0.0.1", receiver.port), PATIENCE) as link, \
                socket.create_connection(("127.0.0.1", receiver.port), PATIENCE) as silent:
            link.sendall(start + body.data[:3000])
            silent.sendall(b"GET / HT")
            receiver.taken(rig, body)
            answer = answer_of(link)
            expect((answer.status, answer.code) == (408, "REQUEST_TIMEOUT"), f"a body that stops: {answer}")
            expect(silent.recv(1) == b"", "a connection without headers stays open")


TESTS = [
    ("killed at each step of an upload", kills),
    ("killed while many upload", acknowledged_survive),
    ("a full disk answers 507 and loses nothing", full_disk),
    ("promtool reads the metrics", metrics),
    ("slow clients get 408, or the end of the connection", slow_bodies),
]
