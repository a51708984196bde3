"""Crashes, a full disk, slow clients, and what the operator sees."""
import contextlib
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess

from Kit.outcomes import PATIENCE, ROOT, Skipped, expect
from Kit.tracing import calls_in, require_strace, strace
from Receiver.support import RAW, Receiver, receiving, same

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

    def started(*program):
        folder = tools.scratch("killed") / "captures"
        shutil.copytree(template.folder, folder)
        receiver = Receiver(tools, folder, program=program)
        receiver.devices = template.devices
        return receiver.start()

    log = tools.scratch("traced") / "trace"
    traced = started(*strace("-e", f"trace={STEPS}", log=log))
    before = len(calls_in(log))
    traced.taken(rig, body)
    calls = len(calls_in(log)) - before
    syncs = [name for _, name, _ in calls_in(log)[before:]].count("fdatasync")
    expect(syncs >= 2, f"the databases of the queue and of the index were synced {syncs} times")
    _end(traced)
    expect(calls > 5, f"an upload made {calls} calls")
    for number in range(1, calls + 1):
        receiver = started(*strace("-e", f"trace={STEPS}", "-e", f"inject={STEPS}:signal=SIGKILL:when={before + number}"))
        answer = None
        with contextlib.suppress(OSError):  # the connection breaks
            answer = receiver.upload(rig, body)
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
    with contextlib.suppress(OSError):
        for child in children.read_text().split():
            os.kill(int(child), signal.SIGKILL)
    receiver.process.wait(PATIENCE)
    receiver.process.stdout.close()


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
            if not keep:
                answer = receiver.ask("GET", "/healthz")
                expect(answer.status == 503 and b"queue" in answer.bytes, f"/healthz with a full disk: {answer.bytes}")
            answer = receiver.upload(rig, second)
            expect(answer.status in (202, 507) and (answer.status == 202 or answer.code == "STORAGE_FULL"), f"{answer}")
            refused += answer.status == 507
            filler.unlink()
        expect(refused, "the disk was never full")
        other = receiver.taken(rig, second)
        expect(receiver.taken(rig, first) == taken, "the first capture has another id")
        expect(receiver.held() == sorted([taken, other]), f"the queue has {receiver.held()}")
        expect(not receiver.left() and not receiver.arriving(), f"files are left: {receiver.left()}, {receiver.arriving()}")
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
        checked_by_promtool(tools, answer)


def checked_by_promtool(tools, answer):
    promtool = shutil.which("promtool", path=f"{ROOT}/.build/promtool/usr/bin:{tools.env['PATH']}")
    expect(promtool, "promtool is missing; run .ci/promtool")
    done = subprocess.run([promtool, "check", "metrics"], input=answer.bytes, capture_output=True, check=False)
    expect(done.returncode == 0 and not done.stderr and not done.stdout, f"promtool: {done.stdout + done.stderr}")


def slow_bodies(tools):
    """A body that stops gets 408, and others are served meanwhile."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        body = rig.capture()
        start = receiver.head_of_upload(rig, body)
        with receiver.link() as link, receiver.link() as silent:
            link.send(start + body.data[:3000])
            silent.send(b"GET / HT")
            receiver.taken(rig, body)
            same(link.answer(), 408, "REQUEST_TIMEOUT", "a body that stops:")
            expect(silent.is_closed(), "a connection without headers gets an answer")


def written_once(tools):
    """The bytes of a body are written to the disk once, in the form of the bundle, and are not read again."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        receiver.taken(rig, rig.capture())
        receiver.queue("pause")
        photo = (RAW / "photo.jpg").read_bytes()
        body = rig.body(rig.pack("large", rig.raw("large", photo=photo[:-2] + bytes(8 << 20) + photo[-2:])))
        size, before = len(body.data), _traffic(receiver)
        receiver.taken(rig, body)
        # The body comes through a socket, whose bytes count as read.
        read, written = (after - earlier for after, earlier in zip(_traffic(receiver), before, strict=True))
        expect(size <= written < 1.2 * size, f"{written} bytes were written for a body of {size}")
        expect(read < 1.2 * size, f"{read} bytes were read for a body of {size}")


def _traffic(receiver):
    """Returns how many bytes a receiver has read and written so far."""
    lines = pathlib.Path(f"/proc/{receiver.process.pid}/io").read_text().splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith(("rchar:", "wchar:"))]


TESTS = [
    ("a body is written once", written_once),
    ("killed at each step of an upload", kills),
    ("a full disk answers 507 and loses nothing", full_disk),
    ("promtool reads the metrics", metrics),
    ("slow clients get 408, or the end of the connection", slow_bodies),
]
