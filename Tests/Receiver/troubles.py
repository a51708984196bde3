"""The receiver's own trouble: it answers 503 or 507, acknowledges nothing, says why in its log, and works again afterwards."""
import concurrent.futures
import contextlib
import fcntl
import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import time

from Kit.outcomes import PATIENCE, Skipped, expect, long
from Kit.sending import wait_until
from Kit.servers.raw_server import Bare, answer, saying
from Kit.tracing import calls_in, require_strace, strace
from Receiver.support import UNKNOWN, Receiver, receiving, same

IMAGE = 'truncate -s {size} "$0.img" && mkfs.ext4 -q -F -m 0 "$0.img" && mount -o loop "$0.img" "$0"'
# What ext4 does after an error of the disk. The files that are open for writing stay open.
ABORTED = 'mount -o remount,abort "$0"'
AGAIN = 'umount "$0" && { e2fsck -fy "$0.img" > /dev/null 2>&1; mount -o loop "$0.img" "$0"; }'


@contextlib.contextmanager
def disk(tools, size="64M"):
    """Mounts a disk of its own. The value is its folder, and a function that runs a shell command with the folder as $0."""
    place = tools.scratch("disk")

    def shell(command):
        return subprocess.run(["sh", "-c", command, place], check=False, capture_output=True)

    if shell(IMAGE.format(size=size)).returncode:
        raise Skipped("this user may not mount a small disk")
    try:
        yield place, shell
    finally:
        shell('umount -l "$0"; rm -f "$0.img"')


def in_trouble(receiver, answer, about, code="STORE_UNAVAILABLE"):
    """Checks an answer: it names no file, the device tries again, and the log has the reason under the answer's id."""
    same(answer, 507 if code == "STORAGE_FULL" else 503, code, about)
    expect(str(receiver.folder) not in answer.bytes.decode(), f"{about}: the answer has a path: {answer.bytes}")
    if answer.status == 503:
        expect(10 <= int(answer.headers.get("Retry-After", 0)) <= 120, f"{about}: {answer.headers}")
    given = answer.json["meta"]["request_id"]
    lines = [line for line in receiver.said().splitlines() if given in line]
    expect(len(lines) == 1 and f" {code}: " in lines[0], f"{about}: the log says {lines} of {given}")
    expect(given in answer.json["error"]["message"], f"{about}: the message does not name the id: {answer.bytes}")
    return lines[0]


def hidden(path):
    """Harm that takes a file or a folder away, and how it is undone."""
    def harm(folder, _):
        (folder / path).rename(folder / f"{path}.away")
        return lambda: (folder / f"{path}.away").rename(folder / path)
    return harm


def changed(path, data):
    """Harm that changes a file of a device."""
    def harm(folder, names):
        file = folder / path.format(**names)
        before = file.read_bytes()
        file.unlink() if data is None else file.write_bytes(data)
        return lambda: file.write_bytes(before)
    return harm


HARMS = {
    "the spool is away": (hidden("queue/spool"), "queue/spool"),
    "the database of the queue is away": (hidden("queue/queue.sqlite"), "queue.sqlite"),
    "the devices are away": (hidden("shared"), "shared is missing"),
    "a device's file is empty": (changed("shared/devices/{device}", b""), "is empty"),
    "a device's file is damaged": (changed("shared/devices/{device}", b"\0" * 4096), "is not a line of a trust file"),
    "a device's key is missing": (changed("shared/keys/{key}", None), "is missing"),
    "a device's key is empty": (changed("shared/keys/{key}", b""), "is not the id of a device"),
}


def harmed(tools):
    """Files and folders are taken away or damaged while the receiver runs. Once they are back, captures are taken."""
    rig, other = tools.rig(), tools.rig("other")
    with receiving(tools) as receiver:
        names, taken = {"device": receiver.device(rig), "key": rig.key_id}, [receiver.taken(rig, rig.capture())]
        receiver.device(other)
        receiver.queue("pause")
        for number, (about, (harm, words)) in enumerate(HARMS.items()):
            body = rig.capture(f"harmed {number}")
            undo = harm(receiver.folder, names)
            line = in_trouble(receiver, receiver.upload(rig, body), about)
            expect(words in line, f"{about}: the log says {line}")
            if about.startswith("a device's"):
                taken.append(receiver.taken(other, other.capture(about)))
                in_trouble(receiver, receiver.asked(rig, taken[0]), about)
            undo()
            taken.append(receiver.taken(rig, body))
        expect(receiver.held() == sorted(taken), f"the queue has {receiver.held()}, not {sorted(taken)}")


def arriving(tools):
    """The folder of arriving bundles holds nothing that counts: if it is away, it is made again."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        receiver.device(rig)
        incoming = receiver.folder / "queue/incoming"
        incoming.rename(receiver.folder / "away")
        receiver.taken(rig, rig.capture())
        expect(incoming.stat().st_mode & 0o777 == 0o700, "it is not private")


def encryption(tools):
    rig = tools.rig()
    with receiving(tools) as receiver:
        receiver.queue("config", "require-encrypted", "on")
        if json.loads(receiver.queue("status", "--json"))["disk"]["encryption"] != "unknown":
            raise Skipped("no LUKS device can be made here: the disk of the tests is encrypted")
        line = in_trouble(receiver, receiver.upload(rig, rig.capture()), "a disk without encryption:")
        expect("require-encrypted" in line, f"the log says {line}")
        same_health(receiver, 503, b"failing: queue\nconcern: queue: disk.unencrypted: 1\n")
        receiver.queue("config", "require-encrypted", "off")
        receiver.taken(rig, rig.capture())


def same_health(receiver, status, text):
    found = receiver.ask("GET", "/healthz")
    expect((found.status, found.bytes) == (status, text), f"/healthz: {found}")


def limits(tools):
    """What the queue's own limits refuse is a full disk."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        for name, value in (("limit", "1"), ("free-floor", "999TB")):
            receiver.queue("config", name, value)
            in_trouble(receiver, receiver.upload(rig, rig.capture()), name, "STORAGE_FULL")
            receiver.queue("config", name, "none")
        receiver.taken(rig, rig.capture())


def garbage(index):
    for name in (index, *(index.with_name(f"{index.name}-{end}") for end in ("wal", "shm"))):
        name.write_bytes(b"Z" * name.stat().st_size)


def without_tables(index):
    with contextlib.closing(sqlite3.connect(index)) as database:
        database.executescript("DROP TABLE captures; DROP TABLE idempotency_keys")


def removed(index):
    for name in index.parent.glob(f"{index.name}*"):
        name.unlink()


def replaced(index):
    copy = index.with_suffix(".copy")
    shutil.copy(index, copy)
    copy.rename(index)


def broken_index(tools):
    """Whatever happens to the index while the receiver runs: nothing is acknowledged that it would lose, and the next start
    makes it again."""
    rig = tools.rig()
    for harm in (without_tables, garbage, removed, replaced):
        about = f"the index is {harm.__name__}:"
        receiver = Receiver(tools).start()
        try:
            first = receiver.taken(rig, rig.capture())
            harm(receiver.folder / "index.sqlite")
            for _ in range(2):
                line = in_trouble(receiver, receiver.upload(rig, rig.capture("second")), about)
                expect("index.sqlite" in line and "when it is restarted" in line, f"{about} the log says {line}")
            same_health(receiver, 503, b"failing: index\n")
            receiver.kill()
            receiver.start()
            second = receiver.taken(rig, rig.capture("second"))
            expect(receiver.taken(rig, rig.capture()) == first, f"{about} the first capture has another id")
            expect(receiver.held() == sorted([first, second]), f"{about} the queue has {receiver.held()}")
            for capture in (first, second):
                expect(receiver.asked(rig, capture).status == 200, f"{about} {capture} is not in the index")
        finally:
            receiver.kill()


def broken_queue(tools):
    """The database of the queue is damaged while the receiver runs: the next start names the command that mends it."""
    rig = tools.rig()
    receiver = Receiver(tools).start()
    try:
        first = receiver.taken(rig, rig.capture())
        garbage(receiver.folder / "queue/queue.sqlite")
        for _ in range(2):
            in_trouble(receiver, receiver.upload(rig, rig.capture("second")), "the queue is garbage:")
        same_health(receiver, 503, b"failing: queue\n")
        receiver.kill()
        said = tools.call(tools.programs["receiver"], "serve", receiver.folder, "--port", "0").must(1, about="a start").text
        command = f"capqueue salvage --queue {receiver.folder}/queue"
        expect(f"mend it with: {command}" in said, f"a start says {said!r}")
        tools.run(*command.split())
        receiver.start()
        second = receiver.taken(rig, rig.capture("second"))
        expect(receiver.taken(rig, rig.capture()) == first, "the first capture has another id")
        expect(receiver.held() == sorted([first, second]), f"the queue has {receiver.held()}")
    finally:
        receiver.kill()


def read_only_disk(tools):
    """The disk turns read-only: every request that needs it gets 503, and a start says which file cannot be written. With
    the disk mended, everything that was acknowledged is there."""
    rig, late = tools.rig(), tools.rig("late")
    with disk(tools) as (place, shell):
        receiver = Receiver(tools, place / "captures")
        receiver.log = place.with_suffix(".log")
        receiver.start()
        try:
            first = receiver.taken(rig, rig.capture())
            invited = receiver.invite("late")
            expect(not shell(ABORTED).returncode, "the disk cannot be made read-only")
            for answer_of in (lambda: receiver.upload(rig, rig.capture("second")), lambda: receiver.register(late, *invited)):
                expect("ead-only file system" in in_trouble(receiver, answer_of(), "a read-only disk:"), receiver.said())
            found = receiver.ask("GET", "/healthz")
            expect(found.status == 503 and b"queue" in found.bytes and b"devices" not in found.bytes, f"/healthz: {found}")
            receiver.kill()
            said = tools.call(tools.programs["receiver"], "serve", receiver.folder, "--port", "0")
            expect(said.code == 1 and f"{place}: Read-only file system" in said.text, f"a start: {said.text}")
            expect(not shell(AGAIN).returncode, "the disk cannot be mounted again")
            receiver.start()
            expect(receiver.register(late, *invited).status == 201, "the registration, once the disk can be written")
            second = receiver.taken(rig, rig.capture("second"))
            expect(receiver.taken(rig, rig.capture()) == first, "the first capture has another id")
            expect(receiver.held() == sorted([first, second]), f"the queue has {receiver.held()}")
        finally:
            receiver.kill()


def full_at_the_start(tools):
    """A receiver that is started on a full disk takes captures once there is room: at once, or after it was started again."""
    rig = tools.rig()
    with disk(tools, "24M") as (place, _):
        receiver = Receiver(tools, place / "captures")
        receiver.log = place.with_suffix(".log")
        receiver.start()
        receiver.queue("config", "free-floor", "none")
        taken, refused = [receiver.taken(rig, rig.capture())], 0
        for number, room in enumerate((0, 64, 256, 1024, 2048, 4096)):
            receiver.stop()
            with open(place / "filler", "wb") as filler, contextlib.suppress(OSError):
                filler.truncate(0)
                there = os.statvfs(place)
                os.posix_fallocate(filler.fileno(), 0, there.f_bavail * there.f_frsize - (room << 10))
            with subprocess.Popen([tools.programs["receiver"], "serve", receiver.folder, "--port", "0"], env=tools.env,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
                line = started.stdout.readline().decode().strip()
                (place / "filler").unlink()
                if line:
                    receiver.process, receiver.port = started, int(line.rpartition(":")[2])
                    answer = receiver.upload(rig, rig.capture(f"room {number}"))
                    expect(answer.status == 202, f"started with {room} KiB, a capture with room gets {answer}")
                    taken.append(answer.data["capture_id"])
                    started.terminate()
                else:
                    refused += 1
                    said = started.stderr.read().decode()
                    expect(str(receiver.folder) in said, f"with {room} KiB a start says {said!r}")
            receiver.start()
        expect(refused, "no disk was so full that the receiver did not start")
        expect(receiver.held() == sorted(taken), f"the queue has {receiver.held()}")
        receiver.stop()


@long
def locks(tools):
    """Another program keeps a lock for minutes. Each device gets its answer before it takes the silence for a failure."""
    rigs = [tools.rig(f"waiting-{number}") for number in range(3)]
    bodies = [rig.capture() for rig in rigs]

    def timed(receiver, rig, body):
        began = time.monotonic()
        return receiver.upload(rig, body), time.monotonic() - began

    with receiving(tools) as receiver, concurrent.futures.ThreadPoolExecutor(3) as pool:
        for rig in rigs:
            receiver.device(rig)
        with open(receiver.folder / "queue/queue.lock", "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            waiting = []
            for rig, body in zip(rigs, bodies):
                waiting.append(pool.submit(timed, receiver, rig, body))
                time.sleep(15)
            for number, one in enumerate(waiting):
                answer, seconds = one.result()
                in_trouble(receiver, answer, f"request {number} while the queue is locked:")
                expect(seconds < 90, f"request {number} got its answer after {seconds:.0f} s")
        with contextlib.closing(sqlite3.connect(receiver.folder / "index.sqlite", isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            answer, seconds = timed(receiver, rigs[0], bodies[0])
            in_trouble(receiver, answer, "while the index is locked:")
            expect(seconds < 90, f"the answer came after {seconds:.0f} s")
        for rig, body in zip(rigs, bodies):
            receiver.taken(rig, body)
        expect(len(receiver.held()) == 3, f"the queue has {receiver.held()}")


def descriptors(tools):
    """No file can be opened any more: the answer is 503, and comes without one for the connections that are accepted."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        receiver.device(rig)
        body, files = rig.capture(), f"/proc/{receiver.process.pid}/fd"
        limit, statuses = resource.prlimit(receiver.process.pid, resource.RLIMIT_NOFILE), []
        for more in range(1, 9):
            # The connection itself takes one.
            resource.prlimit(receiver.process.pid, resource.RLIMIT_NOFILE, (len(os.listdir(files)) + more, limit[1]))
            said = receiver.upload(rig, body)
            statuses.append(said.status)
            if said.status != 202:
                expect("oo many open files" in in_trouble(receiver, said, f"{more} more files:"), receiver.said()[-300:])
        expect(503 in statuses, f"the answers are {statuses}")
        resource.prlimit(receiver.process.pid, resource.RLIMIT_NOFILE, limit)
        receiver.taken(rig, body)
        expect(len(receiver.held()) == 1, f"the queue has {receiver.held()}")


def no_sync(tools):
    """The disk fails whenever something is synced: nothing is acknowledged, until it works again."""
    require_strace()
    rig, late = tools.rig(), tools.rig("late")
    with receiving(tools) as receiver:
        first = receiver.taken(rig, rig.capture())
        invited = receiver.invite("late")
        command = ["strace", "-f", "-o", "/dev/null", "-e", "inject=fsync,fdatasync,syncfs,msync:error=EIO", "-p",
                   str(receiver.process.pid)]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as failing:
            try:
                expect(b"attached" in failing.stderr.readline(), "strace may not trace the receiver")
                for _ in range(2):
                    for said in (receiver.upload(rig, rig.capture("second")), receiver.register(late, *invited)):
                        expect("nput/output error" in in_trouble(receiver, said, "nothing can be synced:").replace(
                            "disk I/O", "input/output"), receiver.said()[-400:])
                expect(receiver.ask("GET", "/healthz").status == 503, "/healthz")
            finally:
                failing.terminate()
        expect(receiver.register(late, *invited).status == 201, "the registration, once the disk works")
        second = receiver.taken(rig, rig.capture("second"))
        expect(receiver.held() == sorted([first, second]), f"the queue has {receiver.held()}")


@long
def unsynced_registration(tools):
    """If a call of a registration fails, there is no 201, and the registration after it syncs what the first one left."""
    require_strace()
    steps, folders = "fsync,linkat", ("shared", "shared/devices", "shared/keys")

    def traced(*options):
        """Starts a receiver, and traces calls that name or sync what is in the folders of devices."""
        log, folder = tools.scratch("traced") / "trace", tools.scratch("receiver") / "captures"
        paths = [word for name in folders for word in ("-P", folder / name)]
        program = strace("-y", *paths, "-e", f"trace={steps}", *options, log=log)
        receiver = Receiver(tools, folder, "--captures-at-once", "1", program=program)  # few threads
        invited = receiver.invite("rig")
        return receiver.start(), invited, log

    receiver, invited, log = traced()
    before = len(calls_in(log))
    expect(receiver.register(tools.rig(), *invited).status == 201, "a registration")
    calls = [name for _, name, _ in calls_in(log)[before:]]
    _end(receiver)
    expect(calls.count("linkat") == 2, f"a registration makes {calls}")
    # strace counts the calls of each name and each thread by themselves, and a registration uses any thread.
    for step, number in [(step, number) for step in set(calls) for number in range(1, calls.count(step) + 1)]:
        receiver, invited, log = traced("-e", f"inject={step}:error=EIO:when={number}")
        said, refused = None, 0
        while not said or said.status != 201:
            seen, said = len(calls_in(log)), receiver.register(tools.rig(), *invited)
            if said.status != 201:
                in_trouble(receiver, said, f"{step} {number} fails:")
                refused += 1
                expect(refused < 100, f"{step} {number} fails for ever")
        expect(refused, f"{step} {number} failed, and was not noticed")
        synced = [text for _, name, text in calls_in(log)[seen:] if name == "fsync" and text.rstrip().endswith("= 0")]
        for folder in folders:
            expect(any(f"{folder}>" in text for text in synced), f"after {step} {number}, {folder} is not synced: {synced}")
        _end(receiver)


def _end(receiver):
    """Ends a traced receiver with its tracer."""
    with open(f"/proc/{receiver.process.pid}/task/{receiver.process.pid}/children", encoding="ascii") as children:
        for child in children.read().split():
            os.kill(int(child), 15)
    receiver.process.wait(PATIENCE)
    receiver.process.stdout.close()


def damaged_devices(tools):
    """Files of devices are empty, damaged or gone: `devices` and `invite` name them, and the others are listed."""
    rigs = [tools.rig(f"listed-{number}") for number in range(4)]
    with receiving(tools) as receiver:
        ids = [receiver.device(rig) for rig in rigs]
        shared = receiver.folder / "shared"
        (shared / "devices" / ids[0]).write_bytes(b"")
        (shared / "keys" / rigs[1].key_id).unlink()
        (shared / "keys" / rigs[2].key_id).write_bytes(b"")

        def run(*words):
            return tools.call(tools.programs["receiver"], words[0], receiver.folder, *words[1:])

        listed = run("devices").must(1, about="devices")
        expect(listed.out.decode() == f"{ids[3]} {rigs[3].name} {rigs[3].key_id}\n", f"devices: {listed.text}")
        invited = run("invite", "new").must(0, about="invite")
        expect(invited.out.startswith(b"#!/bin/sh"), f"invite: {invited.text}")
        for said in (listed, invited):
            for words in (f"devices/{ids[0]} is empty", f"keys/{rigs[1].key_id} is missing", ids[1],
                          f"keys/{rigs[2].key_id} is not the id of a device"):
                expect(words in said.err.decode(), f"{words!r} is not in {said.err.decode()!r}")
        expect("is named listed-3" in run("invite", "listed-3").must(0, about="invite").err.decode(), "a name twice")
        receiver.command("revoke", ids[0])
        receiver.taken(rigs[3], rigs[3].capture())


def concerns(tools):
    """A destination refuses a capture: it stays, nobody tries again, and /healthz says so until the operator decides."""
    rig = tools.rig()
    with receiving(tools) as receiver, Bare(saying(lambda _: answer(415))) as server:
        receiver.queue("dest", "add", "picky", "--kind", "put", "--url", server.url + "/{id}-{sha256}", "--retry", "0,0,0")
        same_health(receiver, 200, b"ok\n")
        receiver.taken(rig, rig.capture())
        wait_until(lambda: b'"permanently_failed"' in receiver.queue("list", "--json"), "the destination refuses")
        receiver.stop()
        receiver.start()  # because /healthz looks once a minute
        same_health(receiver, 200, b"ok\nconcern: queue: captures.failed: 1 at picky\n")
        expect("queue: captures.failed: 1 at picky" in receiver.said(), receiver.said()[-300:])
        receiver.queue("cancel", *receiver.held())
        receiver.stop()
        receiver.start()
        same_health(receiver, 200, b"ok\n")


TESTS = [
    ("files are away or damaged", harmed),
    ("the folder of arriving bundles is away", arriving),
    ("a queue that requires an encrypted disk", encryption),
    ("the limits of the queue", limits),
    ("a broken index", broken_index),
    ("a broken queue", broken_queue),
    ("a read-only disk", read_only_disk),
    ("a full disk at the start", full_at_the_start),
    ("locks that others keep", locks),
    ("no file descriptor is left", descriptors),
    ("nothing can be synced", no_sync),
    ("a registration is on the disk when it is acknowledged", unsynced_registration),
    ("one damaged file of a device", damaged_devices),
    ("healthz states what a destination refused", concerns),
]
