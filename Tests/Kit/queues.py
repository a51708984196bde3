"""Code that all families share: both binaries, a stock of bundles, and rigs with their own queues.

Tests check bytes in the spool's files and rows in the database with Python; they check the output of the tool as well.
"""
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import tarfile

from Kit.rigs import Bench, PHOTO, Rig, write_raw
from Kit.outcomes import IS_LONG, expect

DAY = 86_400_000  # milliseconds
STOCK = 64
BEGUN = "run.begun"  # in the folder of a queue: which claims of a run have begun
# The names of Spec/queue.md section 2; any other name in a queue at rest was left over.
KNOWN = re.compile(r"queue\.sqlite(-wal|-shm)?|queue\.lock|run\.lock|run\.begun|run\.bell|run\.json|settings\.json|reserve(?:\.2)?"
                   r"|queue\.sqlite\.damaged-\d+|spool/([0-9a-f]{2})/\2[0-9a-f]{62}\.(bundle|json)"
                   r"|quarantine/[0-9a-f]{64}\.\d+\.bundle")


@dataclasses.dataclass(frozen=True)
class Bundle:
    """A sound bundle of the stock; its id is read from its manifest."""

    path: pathlib.Path
    data: bytes
    sha256: str
    id: str

    @classmethod
    def at(cls, path):
        data = path.read_bytes()
        with tarfile.open(path, "r:") as archive:
            manifest = json.load(archive.extractfile("manifest.json"))
        return cls(path, data, hashlib.sha256(data).hexdigest(), manifest["id"])


class QueueBench(Bench):
    """Both binaries, and bundles of a device that the rigs trust. No two bundles have the same photo."""

    def __init__(self, capqueue, capbundle, folder, seed, every):
        super().__init__(capbundle, folder)
        self.seed, self.every = seed, every
        self.capqueue = folder / "capqueue"
        shutil.copy(capqueue, self.capqueue)
        self.capqueue.chmod(0o755)
        raws = [write_raw(folder / f"raws/{number:02}", photo_of(number)) for number in range(STOCK)]
        self.template.run("pack", *raws, "--out-dir", folder / "stock").must(0, about="pack")
        self.stock = [Bundle.at(path) for path in sorted((folder / "stock").iterdir())]

    def rig(self, empty=False):
        rig = QueueRig(self, self.folder / f"rig{next(self.numbers)}")
        if not empty:
            shutil.copytree(self.template.home, rig.home, dirs_exist_ok=True)
            for folder in (".local", ".local/share"):  # other users must get as far as the queue, to be refused there
                (rig.home / folder).chmod(0o755)
        return rig

    def chance(self, title):
        """Returns random choices for one test, which depend only on the seed and the title."""
        return random.Random(f"{self.seed} {title}")

    def packed(self, name, photo=PHOTO, options=(), **members):
        """Packs one more bundle, with a new capture."""
        raw = write_raw(self.folder / f"raws/{name}", photo, **members)
        target = self.folder / f"{name}.bundle"
        self.template.pack(target, *options, raw=raw).must(0, about="pack")
        return Bundle.at(target)


def few(cases, count=1):
    """Returns the first cases of a dictionary or list, one of each kind of fault; `make test-all` keeps them all."""
    chosen = list(cases)[:None if IS_LONG else count]
    return {name: cases[name] for name in chosen} if isinstance(cases, dict) else chosen


def photo_of(number, size=3000):
    return PHOTO[:-2] + bytes([number % 200 + 1]) * size + PHOTO[-2:]


class QueueRig(Rig):
    """A home folder with a queue in `queue`, and a folder `out` in which the tool runs."""

    def __init__(self, bench, folder):
        super().__init__(bench, folder)
        self.queue = self.home / ".local/share/capqueue"  # the default place, where push makes the queue
        self.before = []  # a prefix for the tool in every run

    def argv(self, *args):
        return [str(self.bench.capqueue), *map(os.fspath, args)]

    def run(self, *args, prefix=(), **how):
        return super().run(*args, prefix=[*prefix, *self.before], **how)

    def begin(self, *args, **how):
        """Starts the tool with pipes for its output, and does not wait for its end."""
        how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.out} | how
        return subprocess.Popen([*self.before, *self.argv(*args)], env=self.env, **how)

    def like(self, other):
        """Copies another rig's queue and folder `out` into this rig; no process may have that queue open."""
        for one, two in ((other.queue, self.queue), (other.out, self.out)):
            if one.exists():
                shutil.copytree(one, two, dirs_exist_ok=True, symlinks=True)
        return self

    # Methods for the actions of a user.

    def push(self, *bundles, options=(), **how):
        """Pushes bundles of the stock, and checks that it prints their ids."""
        result = self.run("push", *options, *(bundle.path for bundle in bundles), **how).must(0, about="push")
        expect(ids(result) == [bundle.id for bundle in bundles], f"push prints {result.out[:200]!r}")
        return result

    def to_folder(self, name="disk"):
        """Adds a destination, which is a folder in `out` of the same name, and returns the folder."""
        place = self.out / name
        place.mkdir(exist_ok=True)
        self.run("dest", "add", name, "--kind", "folder", "--path", place).must(0, about=f"dest add {name}")
        return place

    def prune(self, *options, **how):
        """Runs prune, and returns the ids of the bundles that it deleted."""
        return ids(self.run("prune", *options, **how).must(0, about=f"prune {' '.join(map(str, options))}"))

    def uploaded(self, *bundles, days=None):
        """Marks bundles as uploaded `days` ago."""
        for bundle in bundles:
            receipt = self.folder / "receipt"
            receipt.write_text(f"stored as {bundle.sha256}\n")
            self.run("mark-uploaded", bundle.id, "--receipt", receipt).must(0, about="mark-uploaded")
        if days is not None:
            self.aged(*bundles, days=days)

    def stray(self, bundle, sidecar=True):
        """Puts the files of a bundle into the spool, as a push that was killed before its commit leaves them."""
        other = self.bench.rig()
        other.push(bundle)
        self.spool_file(bundle).parent.mkdir(mode=0o700, exist_ok=True)
        for ending in ("bundle", "json") if sidecar else ("bundle",):
            shutil.copy2(other.spool_file(bundle, ending), self.spool_file(bundle, ending))

    def aged(self, *bundles, days):
        """Moves all recorded times of these captures back by `days`."""
        with self.database() as database:
            for bundle in bundles:
                database.execute("UPDATE captures SET pushed_at = pushed_at - ?1, finished_at = finished_at - ?1, "
                                 "stored_at = stored_at - ?1, removed_at = removed_at - ?1 WHERE id = ?2",
                                 (int(days * DAY), bundle.id))
                database.execute("UPDATE deliveries SET completed_at = completed_at - ?1, due = due - ?1, waits_from = "
                                 "waits_from - ?1 WHERE capture = (SELECT seq FROM captures WHERE id = ?2)",
                                 (int(days * DAY), bundle.id))

    # Methods that read the results.

    @contextlib.contextmanager
    def database(self):
        """Opens the database with Python's sqlite3, and commits changes."""
        with contextlib.closing(sqlite3.connect(self.queue / "queue.sqlite", timeout=20)) as database:
            with database:
                yield database

    def change(self, statement, *values):
        with self.database() as database:
            database.execute(statement, values)

    def query(self, statement, *values):
        with self.database() as database:
            return database.execute(statement, values).fetchall()

    def rows(self, *options, about="list"):
        """Returns the captures of `list` by id."""
        result = self.run("list", "--json", *options).must(0, about=about)
        lines = [json.loads(line) for line in result.out.splitlines()]
        found = {line["id"]: line for line in lines}
        expect(len(found) == len(lines), f"{about}: an id is listed twice")
        return found

    def spool_file(self, bundle, ending="bundle"):
        return self.queue / "spool" / bundle.sha256[:2] / f"{bundle.sha256}.{ending}"

    def names(self):
        """Returns the relative names of all files below the queue."""
        return sorted(str(path.relative_to(self.queue)) for path in self.queue.rglob("*")
                      if path.is_symlink() or not path.is_dir())

    def spool(self):
        """Returns the bytes of each bundle and sidecar, including the quarantine."""
        return {name: (self.queue / name).read_bytes() for name in self.names()
                if name.startswith(("spool/", "quarantine/"))}


def ids(result):
    """Returns the whole lines on standard output."""
    lines = result.out.decode("utf-8", "replace").split("\n")
    expect(not lines[-1] or result.code, f"a last line without its end: {result.out[-80:]!r}")
    return lines[:-1]
