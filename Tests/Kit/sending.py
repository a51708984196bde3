"""Code that all families share: both binaries, a stock of signed bundles, and rigs with their own queue and home.

Tests read the result of a run from the rows with Python's sqlite3; where the words of the tool matter, they check its
output as well.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tarfile
import threading
import time
import types

from Kit.rigs import PHOTO
from Kit.outcomes import PATIENCE, Failed, Result, expect
from Kit.queues import QueueBench, QueueRig, photo_of

DEVICE = "3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c"  # the id that the test servers gave to the device
AT_ONCE = ",".join("0" * 10)  # a value of --retry without waiting times, so that no test waits 300 s
BIG = 8_000_000  # bytes of a photo that fills every socket buffer, so that a server can act during a transfer

DELIVERIES = """
SELECT deliveries.*, captures.id AS bundle, captures.sha256, destinations.name AS destination_name
FROM deliveries JOIN captures ON captures.seq = deliveries.capture
LEFT JOIN destinations ON destinations.id = deliveries.destination
"""


def wait_until(condition, what, seconds=PATIENCE):
    """Waits until `condition()` is true, and returns its value."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        expect(time.monotonic() < end, f"waited {seconds} s in vain: {what}")
        time.sleep(0.02)
    return found


def freeze(queue, pid):
    """Stops the process of a run, as on a closed laptop, while it does not hold the lock for which other commands wait."""
    def is_stopped():
        # A thread in the middle of a system call stops at its end, and the call may be the one that takes the lock.
        threads = [path.read_text() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")]
        return all(text.rpartition(")")[2].split()[0] == "T" for text in threads)

    with open(queue / "queue.lock", "rb") as lock:
        def is_frozen():
            os.kill(pid, signal.SIGSTOP)
            wait_until(is_stopped, "all threads of the run to stop")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.kill(pid, signal.SIGCONT)
                return False
            return True
        wait_until(is_frozen, "the run to be between two transactions")


class SendingBench(QueueBench):
    """Both binaries, and bundles of a device whose public key the servers know. No two bundles have the same photo."""

    def __init__(self, capqueue, capbundle, folder, seed):
        self._lock, self._made = threading.RLock(), {}  # families run side by side
        super().__init__(capqueue, capbundle, folder, seed, every=False)
        self.public = pathlib.Path(self.template.key + ".pub").read_bytes()

    def rig(self, empty=False):
        with self._lock:
            rig = SendingRig(self, self.folder / f"rig{next(self.numbers)}")
            if not empty:
                shutil.copytree(self.template.home, rig.home, dirs_exist_ok=True)
        return rig

    def packed(self, name, photo=PHOTO, options=(), **members):
        with self._lock:
            return super().packed(name, photo, options, **members)

    def bundles(self, count, start=0):
        """Returns bundles of the stock, and makes more if it has too few."""
        with self._lock:
            for number in range(len(self.stock), start + count):
                self.stock.append(self.packed(f"stock{number}", photo_of(number, 3000 + number)))
            return self.stock[start:start + count]

    def big(self, size=BIG):
        """Returns a bundle of about `size` bytes, which is made on the first call."""
        with self._lock:
            if size not in self._made:
                self._made[size] = self.packed(f"big{size}", PHOTO[:-2] + b"\x37" * size + PHOTO[-2:])
            return self._made[size]

    def photo(self, bundle):
        """Returns the SHA-256 of a bundle's photo in hex, from its manifest."""
        with tarfile.open(bundle.path, "r:") as archive:
            manifest = json.load(archive.extractfile("manifest.json"))
        found, = (entry["sha256"] for entry in manifest["entries"] if entry["role"] == "photo")
        return found

    def body(self, bundle):
        """Returns the upload body of a bundle, as `capbundle multipart` writes it."""
        target = bundle.path.with_suffix(".body")
        with self._lock:
            if not target.exists():
                self.template.run("multipart", bundle.path, "-o", target, seconds=PATIENCE).must(0, about="multipart")
        return target.read_bytes()


class SendingRig(QueueRig):
    """A new queue, with methods that run the tool on it and read the results."""

    def __init__(self, bench, folder):
        super().__init__(bench, folder)
        self.env |= {"XDG_DATA_HOME": str(self.home / ".local/share"), "XDG_CONFIG_HOME": str(self.home / ".config")}

    # Methods for the actions of a user.

    def dest(self, name, kind, *options, code=0):
        """Runs `dest add`."""
        return self.run("dest", "add", name, "--kind", kind, *options).must(code, about=f"dest add --kind {kind}")

    def http(self, url, *options, name="api", retry=AT_ONCE):
        """Adds a destination of kind http, for the device that the servers know."""
        table = ("--retry", retry) if retry else ()
        return self.dest(name, "http", "--url", url, "--key", self.key, "--device-id", DEVICE, *table, *options)

    def send(self, *options, code=None, seconds=PATIENCE, about="run"):
        """Runs `run` to its end; `code` is the expected exit code, or several that are allowed."""
        result = self.run("run", *options, seconds=seconds)
        if code is not None:
            result.must(*([code] if isinstance(code, int) else code), about=about)
        return result

    def start(self, *words):
        """Starts a command in the background: `with rig.start("run", "--watch") as running`."""
        return Running(self, words)

    # Methods that read the results.

    def deliveries(self):
        """Returns all deliveries with all columns, in the order of their creation."""
        with self._rows() as database:
            return [_record(row) for row in database.execute(DELIVERIES + " ORDER BY deliveries.id")]

    def delivery(self, bundle, destination=None):
        """Returns the delivery of a bundle, for one destination if there are several."""
        found = [row for row in self.deliveries() if row.bundle == bundle.id
                 and destination in (None, row.destination_name)]
        expect(len(found) == 1, f"{len(found)} deliveries of {bundle.id} instead of one")
        return found[0]

    def states(self):
        """The set of states of all deliveries."""
        return {row.state for row in self.deliveries()}

    def tries(self, bundle):
        """Returns the recorded attempts to send a bundle."""
        return self._of("attempts", bundle)

    def changes(self, bundle):
        """Returns all recorded changes of the state of the bundle's delivery."""
        return self._of("transitions", bundle)

    def destination(self, name="api"):
        with self._rows() as database:
            row = database.execute("SELECT * FROM destinations WHERE name = ?", (name,)).fetchone()
        expect(row is not None, f"no destination {name}")
        return _record(row)

    def receipt(self, bundle, destination=None):
        """Returns the receipt, parsed as JSON."""
        text = self.delivery(bundle, destination).receipt
        expect(text, f"{bundle.id} has no receipt")
        return json.loads(text)

    def status(self):
        return json.loads(self.run("status", "--json").must(0, about="status --json").out)

    def _of(self, table, bundle):
        delivery = self.delivery(bundle).id
        with self._rows() as database:
            return [_record(row) for row in
                    database.execute(f"SELECT * FROM {table} WHERE delivery = ? ORDER BY id", (delivery,))]

    @contextlib.contextmanager
    def _rows(self):
        with self.database() as database:
            database.row_factory = sqlite3.Row
            yield database


def _record(row):
    return types.SimpleNamespace(**dict(row))


def completed(rig, *bundles, attempts=1, about="run"):
    """Checks that each bundle is completed after this number of attempts, and not in doubt."""
    for bundle in bundles:
        row = rig.delivery(bundle)
        expect((row.state, row.attempts, row.in_doubt) == ("completed", attempts, 0), f"{about}: {row.state} after "
               f"{row.attempts} attempts, in doubt {row.in_doubt}: {row.error_code} {row.error_message}")


def failed(rig, bundle):
    """Checks that the bundle will be tried again, is not recorded as landed, and that `prune` keeps its bytes."""
    row = rig.delivery(bundle)
    expect((row.state, row.attempts) == ("failed", 1) and not row.receipt, f"is {row.state} after {row.attempts} "
           f"attempts, {row.error_code} {row.error_message}, receipt {row.receipt}")
    rig.run("prune", "--older-than", "0s").must(0, about="prune")
    expect(rig.spool_file(bundle).read_bytes() == bundle.data, "prune has deleted the only copy")
    return row


class Running:
    """A command of a rig that runs beside the test. Its output goes into files, so it never waits for a reader."""

    def __init__(self, rig, words):
        number = next(rig.bench.numbers)
        self.out, self.err = rig.folder / f"out{number}", rig.folder / f"err{number}"
        self.words = " ".join(map(str, words))
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen([*rig.before, *rig.argv(*words)], env=rig.env, cwd=rig.out, stdin=subprocess.DEVNULL,
                                            stdout=out, stderr=err, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    @property
    def pid(self):
        return self.process.pid

    @property
    def is_alive(self):
        return self.process.poll() is None

    @property
    def cpu_seconds(self):
        """The processor time that the command has used, inside and outside the kernel."""
        after_name = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, after_name[11:13])) / os.sysconf("SC_CLK_TCK")

    def tell(self, number=signal.SIGTERM):
        if self.is_alive:
            os.kill(self.pid, number)

    def kill(self):
        """Kills the command if it still runs."""
        self.tell(signal.SIGKILL)
        self.process.wait()

    def end(self, seconds=PATIENCE):
        """Waits until the command ends by itself, and returns its result."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"hangs: {seconds} s of capqueue {self.words}: {self.err.read_text()[-200:]!r}") from None
        return Result(code, self.out.read_bytes(), self.err.read_bytes())

    def stop(self, number=signal.SIGTERM, seconds=PATIENCE):
        """Sends a signal, waits until the command ends, and returns its result."""
        self.tell(number)
        return self.end(seconds)

    def events(self):
        """Returns the events that `run --json` has printed so far, from whole lines only."""
        lines = self.out.read_bytes().split(b"\n")[:-1]
        return [json.loads(line) for line in lines]

    def saw(self, event, **members):
        """Returns the events of one name so far that have these members."""
        return [line for line in self.events() if line["event"] == event
                and all(line.get(name) == value for name, value in members.items())]
