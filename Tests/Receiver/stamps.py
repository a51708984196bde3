"""Time stamps: made after a capture is kept, by the real `openssl ts`; when the authority is down or lies; after kills."""
import collections
import contextlib
import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from Kit.outcomes import expect, long
from Kit.sending import wait_until
from Kit.tracing import calls_in, require_strace, strace
from Receiver.faults import STEPS, checked_by_promtool
from Receiver.index import execute
from Receiver.operators import Operator
from Receiver.pages import page
from Receiver.support import UNKNOWN, Receiver, receiving
from Stamps import asn1
from Stamps.authority import Authorities, assertion, imprint

# Writes a line to the file `tries` for each query, waits for the file `go`, and fails while the file `down` exists.
COMMAND = """cd '{folder}' && echo try >> tries && while ! test -e go; do sleep 0.05; done && ! test -e down && ({answer})"""


class Tsa:
    """An authority that can be down, and the options for a receiver that asks it."""

    def __init__(self, tools):
        self.folder = tools.scratch("tsa")
        self.authorities, self.tools = Authorities(self.folder), tools
        self.ca = self.authorities.write("authority.pem", self.authorities.root.pem)
        (self.folder / "go").touch()

    def options(self, answer=None):
        command = COMMAND.format(folder=self.folder, answer=answer or self.authorities.commands["P-256"])
        return "--tsa-command", command, "--tsa-ca", self.ca

    def down(self, is_down=True):
        (self.folder / "down").touch() if is_down else (self.folder / "down").unlink()

    def tries(self):
        return len((self.folder / "tries").read_text().split()) if (self.folder / "tries").exists() else 0

    def serial(self, stamp, bundle):
        """Checks a time stamp with openssl, and returns its number: the authority counts."""
        data, reply = self.authorities.write("data", assertion(bundle)), self.authorities.write("reply", stamp)
        said = self.tools.run("openssl", "ts", "-verify", "-data", data, "-in", reply, "-CAfile", self.ca)
        expect(b"Verification: OK" in said, f"openssl says {said}")
        told = self.tools.run("openssl", "ts", "-reply", "-in", reply, "-text").decode()
        return int(re.search(r"Serial number: 0x([0-9A-F]+)", told)[1], 16)


def stamp(receiver, capture, client=None):
    """Returns the time stamp that a receiver serves; nothing if there is none."""
    answer = (client or receiver).ask("GET", f"/verify/{capture}/stamp.tsr")
    expect(answer.status in (200, 404), f"the time stamp: {answer.status}")
    if answer.status == 200:
        expect(answer.headers["Content-Type"] == "application/timestamp-reply", f"{answer.headers}")
        expect(answer.headers["Content-Disposition"] == f'attachment; filename="{capture}.bundle.tsr"', f"{answer.headers}")
        expect(answer.headers["X-Content-Type-Options"] == "nosniff", f"{answer.headers}")
    return answer.bytes if answer.status == 200 else None


def stamped(receiver, capture):
    return wait_until(lambda: stamp(receiver, capture), "the capture has a time stamp")


def waiting(receiver):
    """Returns the numbers that /metrics has: the captures that wait, and the seconds of the oldest."""
    text = receiver.ask("GET", "/metrics").bytes.decode()
    return tuple(int(re.search(rf"^{name} (\d+)$", text, re.M)[1]) for name in (
        "receiver_unstamped", "receiver_unstamped_seconds"))


def on_receipt(tools):
    """A capture gets a time stamp, which openssl and capbundle accept. The page says so, and everyone may have it."""
    rig, tsa = tools.rig(), Tsa(tools)
    with receiving(tools, *tsa.options()) as receiver:
        operator = Operator(receiver)
        body = rig.capture()
        taken = receiver.taken(rig, body)
        served = stamped(receiver, taken)
        first = tsa.serial(served, body.bundle)
        said = page(receiver, taken)
        for words in ("Time stamp the signature existed at", "says authority", "shows only that it was not later",
                      "--stamps --tsa-ca FILE"):
            expect(words in said, f"the page does not say {words!r}: {said}")
        expect(str(tsa.folder) not in said and "warning" not in said, f"the page says {said}")
        told = tools.run("openssl", "ts", "-reply", "-in", tsa.folder / "reply", "-text").decode()
        clock = re.search(r"Time stamp: \w+ +\d+ (\d\d:\d\d:\d\d)", told)[1]
        expect(f"{clock} UTC ± 1 s , says authority" in said, f"the page does not say {clock}: {said}")
        head = receiver.ask("HEAD", f"/verify/{taken}/stamp.tsr")
        expect((head.status, head.bytes, int(head.headers["Content-Length"])) == (200, b"", len(served)), f"{head}")
        expect(stamp(receiver, UNKNOWN) is None, "an unknown capture has a time stamp")
        # What the page tells its readers to do.
        folder = tools.scratch("own-check")
        (folder / "b.bundle").write_bytes(receiver.ask("GET", f"/verify/{taken}/bundle").bytes)
        (folder / "b.bundle.tsr").write_bytes(served)
        (folder / "trust").write_text(re.search(r"rig p256 [A-Za-z0-9+/=]+", said)[0] + "\n")
        rig.run("verify", "--trust", folder / "trust", "--allow-withheld", "--stamps", "--tsa-ca", tsa.ca,
                "--require", "time", folder / "b.bundle")
        expect(operator.ask("GET", f"/verify/{taken}/stamp.tsr").status == 401, "the operator's port has no lock")
        expect(stamp(receiver, taken, operator.open()) == served, "the operator gets another time stamp")
        # A copy with withheld entries is a capture of its own with the same signature.
        copy = rig.folder / "without-place.bundle"
        rig.run("redact", body.bundle, "--withhold", "location.json", "-o", copy)
        other = receiver.taken(rig, rig.body(copy))
        expect(tsa.serial(stamped(receiver, other), copy) == first + 1, "the copy has the number of another answer")
        expect(receiver.taken(rig, body) == taken and waiting(receiver) == (0, 0), "the same capture again waits")
        receiver.stop()
        # Without an authority to trust, a time stamp is served, and shows nothing.
        receiver.options = ()
        receiver.start()
        expect(stamp(receiver, taken) == served and "Time stamp" not in page(receiver, taken), "it is not known any more")
        receiver.stop()
        # A lost index loses the time stamps; the captures get new ones.
        (receiver.folder / "index.sqlite").unlink()
        receiver.options = tsa.options()
        receiver.start()
        expect(tsa.serial(stamped(receiver, taken), body.bundle) == first + 2, "the first one is not asked for first")
        expect(tsa.serial(stamped(receiver, other), copy) == first + 3, "the second one")


def ahead(tools):
    """A device whose clock is ahead gets a time stamp too; the page says that the two disagree."""
    rig, tsa = tools.rig(), Tsa(tools)
    raw = rig.raw("ahead", lambda metadata: metadata.update(captured_at="2126-03-14T14:09:26.535Z"))
    with receiving(tools, *tsa.options()) as receiver:
        taken = receiver.taken(rig, rig.body(rig.pack("ahead", raw)))
        stamped(receiver, taken)
        said = page(receiver, taken)
        expect("stamp.claim" in said and "says authority" not in said, f"the page says {said}")


@long
def outage(tools):
    """While the authority is down, captures are taken, and it is asked after growing pauses. Then the oldest is first."""
    rig, tsa = tools.rig(), Tsa(tools)
    tsa.down()
    with receiving(tools, *tsa.options()) as receiver:
        bodies = [rig.capture(name) for name in ("first", "second", "third")]
        began = time.monotonic()
        captures = [receiver.taken(rig, body) for body in bodies]
        wait_until(lambda: tsa.tries() >= 3, "it is asked three times")
        expect(time.monotonic() - began >= 6, "the pauses do not grow")
        expect(tsa.tries() <= 4, f"three captures made {tsa.tries()} tries")
        expect(waiting(receiver)[0] == 3 and not any(stamp(receiver, one) for one in captures), f"{waiting(receiver)}")
        expect("Time stamp" not in page(receiver, captures[0]), "the page has a time stamp")
        said = receiver.said()
        expect('no time stamp; the next try is in 4 s: "the command ended with exit status 1"' in said, f"the log says {said}")
        receiver.kill()
        receiver.start()
        expect(waiting(receiver)[0] == 3, f"after a crash {waiting(receiver)}")
        tsa.down(False)
        numbers = [tsa.serial(stamped(receiver, one), body.bundle) for one, body in zip(captures, bodies, strict=True)]
        expect(numbers == sorted(numbers) and waiting(receiver) == (0, 0), f"the order is {numbers}, {waiting(receiver)}")


@long
def lies(tools):
    """An answer that is not good is not kept, whatever is wrong with it."""
    rig, tsa = tools.rig(), Tsa(tools)
    good, write = tsa.authorities.commands["P-256"], tsa.authorities.write
    body = rig.capture()

    def instead(name, *words):
        """The answer to another query."""
        query = write(name, b"")
        tools.run("openssl", "ts", "-query", *words, "-cert", "-out", query)
        return f"({good}) < {query}"

    digest = imprint(body.bundle).hex()
    refusal = write("refusal", asn1.seq(asn1.seq(asn1.integer(2), asn1.seq(asn1.der(0x0c, b"no\nforged \x1b[1m line")))))
    flip = "import sys; data = bytearray(sys.stdin.buffer.read()); data[-1] ^= 1; sys.stdout.buffer.write(data)"
    answers = {
        "cat /dev/null": "is not the DER", "cat": "is not the DER",
        "yes | head -c 9000000": "more than 65536 bytes", "kill -9 $$": "ended by signal 9",
        f"({good}); exit 3": "ended with exit status 3", f"({good}); echo": "is not the DER",
        f"({good}) | '{sys.executable}' -c '{flip}'": "stamp is wrong",
        f"cat {refusal}": r"token: no\nforged \u{1B}[1m line",
        instead("sha1", "-digest", digest[:40], "-sha1"): "status 2",
        instead("other", "-digest", digest[::-1], "-sha256"): "for another signature",
        instead("nonce", "-digest", digest, "-sha256"): "nonce",
        tsa.authorities.openssl("forged", tsa.authorities.forged, []): "trusted authority",
        tsa.authorities.commands["RSA"]: "trusted authority",
    }
    with receiving(tools, *tsa.options("false")) as receiver:
        taken = receiver.taken(rig, body)
        for answer, words in answers.items():
            receiver.kill()
            said = len(receiver.said())
            receiver.options = tsa.options(answer)
            receiver.start()
            log = wait_until(lambda said=said: "no time stamp; " in receiver.said()[said:] and receiver.said()[said:],
                             f"{answer}: the log says something")
            expect(words in log, f"{answer}: the log says {log}")
            expect(stamp(receiver, taken) is None and waiting(receiver)[0] == 1, f"{answer}: it is kept")
        receiver.stop()
        # A command that hangs does not keep the receiver from ending, nor does it go on.
        before = tsa.tries()
        receiver.options = tsa.options("sleep 1000")
        receiver.start()
        wait_until(lambda: tsa.tries() > before, "it is asked")
        began = time.monotonic()
        receiver.stop()
        expect(time.monotonic() - began < 20, f"the end took {time.monotonic() - began:.0f} s")
        receiver.options = tsa.options()
        receiver.start()
        tsa.serial(stamped(receiver, taken), body.bundle)


@long
def kills(tools):
    """Killed at each step of keeping a time stamp: after the next start, the capture has a good one."""
    require_strace()
    rig, tsa, body = tools.rig(), Tsa(tools), tools.rig().capture()
    template = Receiver(tools).start()
    template.queue("pause")  # so that only the time stamp makes these calls
    taken = template.taken(rig, body)
    template.stop()

    def started():
        """A receiver whose only capture waits for the answer of the authority."""
        folder = tools.scratch("killed") / "captures"
        shutil.copytree(template.folder, folder)
        (tsa.folder / "go").unlink(missing_ok=True)
        before = tsa.tries()
        receiver = Receiver(tools, folder, *tsa.options()).start()
        wait_until(lambda: tsa.tries() > before, "the authority is asked")
        return receiver

    log = tools.scratch("traced") / "trace"
    receiver = started()
    threads = os.listdir(f"/proc/{receiver.process.pid}/task")
    with traced(receiver, "-e", f"trace={STEPS}", log=log):
        (tsa.folder / "go").touch()
        stamped(receiver, taken)
    receiver.stop()
    steps = collections.Counter(name for thread, name, _ in calls_in(log) if thread in threads)
    expect(steps["pwrite64"] > 1 and steps["fdatasync"] + steps["fsync"], f"keeping a time stamp made these calls: {steps}")
    killed = collections.Counter()
    for step, count in steps.items():
        for number in range(1, count + 1):
            receiver = started()
            with traced(receiver, "-e", f"inject={step}:signal=SIGKILL:when={number}"):
                (tsa.folder / "go").touch()
                # The queue makes such calls too, at other times, so a thread can make fewer of them than were counted.
                wait_until(lambda: is_done(receiver), "it ends or is done")
            killed[step] += receiver.process.poll() == -signal.SIGKILL
            receiver.kill()
            receiver.start()
            tsa.serial(stamped(receiver, taken), body.bundle)
            expect(waiting(receiver) == (0, 0), f"{step} {number}: {waiting(receiver)}")
            receiver.stop()
            shutil.rmtree(receiver.folder.parent)
    expect(killed["pwrite64"] > 1 and killed["fdatasync"], f"it was killed at {killed} of {steps}")


def is_done(receiver):
    """Whether a receiver was killed, or no capture waits."""
    try:
        return receiver.process.poll() is not None or waiting(receiver) == (0, 0)
    except (OSError, http.client.HTTPException):  # the connection breaks
        return False


@contextlib.contextmanager
def traced(receiver, *options, log="/dev/null"):
    """Traces a running receiver."""
    command = [*strace(*options, log=log), "-p", str(receiver.process.pid)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as tracer:
        said = tracer.stderr.readline()
        expect(b"attached" in said, f"strace says {said}")
        try:
            yield
        finally:
            tracer.terminate()
            tracer.communicate()


def concern(tools):
    """After an hour without a time stamp, /healthz says so, and captures are still taken. /metrics always says it."""
    rig, tsa = tools.rig(), Tsa(tools)
    tsa.down()
    with receiving(tools, *tsa.options()) as receiver:
        expect(waiting(receiver) == (0, 0), f"{waiting(receiver)}")
        first = receiver.taken(rig, rig.capture("first"))
        expect(receiver.ask("GET", "/healthz").bytes == b"ok\n", "a young capture is a concern")
        receiver.stop()
        execute(receiver.folder / "index.sqlite", "UPDATE captures SET received_at = received_at - 4000 * 1000")
        receiver.start()
        second = receiver.taken(rig, rig.capture("second"))
        answer = receiver.ask("GET", "/healthz")
        words = "captures without a time stamp: 2, the oldest for 66 minutes"
        expect((answer.status, answer.bytes) == (200, f"ok\nconcern: {words}\n".encode()), f"/healthz: {answer.bytes}")
        expect(words in receiver.said(), f"the log says {receiver.said()[-300:]}")
        count, seconds = waiting(receiver)
        expect(count == 2 and 4000 <= seconds < 4100, f"/metrics has {count}, {seconds}")
        checked_by_promtool(tools, receiver.ask("GET", "/metrics"))
        receiver.stop()
        tsa.down(False)
        receiver.start()
        stamped(receiver, first), stamped(receiver, second)
        expect(receiver.ask("GET", "/healthz").bytes == b"ok\n" and waiting(receiver) == (0, 0), "the concern stays")


def older_index(tools):
    """An index from before time stamps is made again from the bundles, and its captures get time stamps."""
    rig, tsa = tools.rig(), Tsa(tools)
    with receiving(tools) as receiver:
        old = receiver.taken(rig, rig.capture("first"))
        receiver.stop()
        execute(receiver.folder / "index.sqlite", """
            DROP TABLE stamps; DROP INDEX captures_unstamped; ALTER TABLE captures DROP COLUMN unstamped;
            UPDATE grdb_migrations SET identifier = '2'""")
        receiver.options = tsa.options()
        receiver.start()
        expect("index.sqlite.damaged" in receiver.said(), f"{receiver.said()}")
        new = receiver.taken(rig, rig.capture("second"))
        expect(stamped(receiver, new) and stamped(receiver, old) and waiting(receiver) == (0, 0), "the old one waits")


def options(tools):
    """Whatever the receiver could not check is refused at the start, with a message."""
    tsa = Tsa(tools)
    with receiving(tools) as receiver:
        expect(b"receiver_unstamped" not in receiver.ask("GET", "/metrics").bytes, "captures wait for nothing")
    for words, code in ((("--tsa-command", "true"), 64), (("--tsa-ca", tsa.folder / "none"), 1),
                        (("--tsa-ca", tsa.authorities.write("empty", b"")), 1)):
        said = tools.run("receiver", "serve", tools.scratch("no"), "--port", "0", *words, allowed=(code,))
        expect(not said, f"{words}: prints {said!r}")


TESTS = [
    ("a capture gets a time stamp", on_receipt),
    ("the clock of a device is ahead of the authority", ahead),
    ("an authority that is down", outage),
    ("an authority that lies", lies),
    ("killed at each step of a time stamp", kills),
    ("captures without a time stamp are a concern", concern),
    ("an index from before time stamps", older_index),
    ("options of time stamps", options),
]
