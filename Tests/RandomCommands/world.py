"""The world of one sequence: a queue in a folder, its model, and a transcript of the commands so far."""
import collections
import os
import pathlib
import shlex
import shutil

from Kit import clocks
from Kit.kills import KILLED
from Kit.outcomes import Result, expect
from Kit.rigs import Home
from RandomCommands.model import Model
from RandomCommands.web import Web

DISKS = 2


class Ended(Result):
    """The result of one run of the tool."""

    def __init__(self, words, result, existed):
        super().__init__(result.code, result.out, result.err)
        self.words, self.existed = words, existed  # whether there was a queue before
        # timeout answers 124 if the command ended in the moment of the signal.
        self.killed = result.code in (*KILLED, 124)

    @property
    def lines(self):
        return self.out.decode("utf-8", "replace").splitlines()

    def must(self, *codes):
        return super().must(*codes, about=self.words)

    def finding(self, code):
        """Checks the exit code; without a queue it must be 66, or may be 64 if `code` is 64."""
        return self.must(code) if self.existed else self.must(66, *([64] if code == 64 else []))

    def printing(self, lines, about="ids"):
        expect(self.lines == list(lines), f"{self.words}: {about} {self.lines}, expected {list(lines)}")
        return self


class World(Home):
    def __init__(self, folder, bench):
        super().__init__(folder)
        self.env |= {"CAPBUNDLE_TRUST": str(bench.pool.trust),
                     "XDG_DATA_HOME": str(folder / "data")}
        self.folder, self.bench, self.pool = folder, bench, bench.pool
        self.queue, self.own = self.folder / "data/capqueue", self.folder / "own"
        self.own.mkdir()
        (self.own / "notes").touch()  # an empty folder counts as a disk that is not there (Spec/queue.md)
        self.disks = [self.folder / f"disk{number}" for number in range(DISKS)]
        for disk in self.disks:
            disk.mkdir()
        self.disk_files = [{} for _ in self.disks]  # the files that a run made: bytes by name
        self.model, self.crash, self.transcript = Model(), None, []
        self.counts = collections.Counter()
        self.unmade = False  # a kill left an incomplete database, which the tool treats as missing
        self.clock = ""  # by how much the clock of the step is wrong, as faketime writes it
        self.askew = False  # a clock was ahead: what was stored then lies in the future
        self._web = None
        self.saved = None  # the last backup: its folder, and the model of then
        self.pushing = []  # bundles whose bytes a killed push may have left in the spool

    @property
    def exists(self):
        return (self.queue / "queue.sqlite").exists() and not self.unmade

    @property
    def web(self):
        """The server of this sequence."""
        if not self._web:
            self._web = Web().__enter__()
        return self._web

    def close(self):
        if self._web:
            self._web.gate.set()
            self._web.__exit__()

    # Actions

    def read(self, *words, stdin=b""):
        """Runs a command that is never killed."""
        return self._run(words, stdin, None)

    def write(self, *words, stdin=b""):
        """Runs the command of the current step, with the crash that was chosen for it, if any."""
        crash, self.crash = self.crash, None
        offset, self.clock = self.clock, ""
        clock = clocks.shifted(offset, "--exclude-monotonic") if offset and clocks.is_there() else ()
        self.askew = self.askew or bool(clock)
        crash = None if clock else crash  # faketime hides the signal
        return self._run(words, stdin, crash, clock)

    def _run(self, words, stdin, crash, clock=()):
        words = [os.fspath(word) for word in words]
        prefix, moment = self.bench.where(crash, words[0]) if crash else ((), "")
        said, existed = shlex.join([*clock, "capqueue", *words]), self.exists
        result = self.call(*clock, *prefix, self.bench.capqueue, *words, input=stdin)
        ended = Ended(said, result, existed)
        self.note(f"{said}{_piped(stdin)}    # exit {result.code}{moment}")
        self.counts["commands"] += 1
        self.counts["thrown"] += crash is not None
        self.counts["crashes"] += ended.killed
        expect(not ended.killed or crash, f"{said}: ended by a signal")
        expect(result.code != 70, f"{said}: exit 70, a bug of its own: {result.err[:400]!r}")
        # `adopt` ends with 66 over a link, and has made the queue.
        self.unmade = self.unmade and (ended.killed or result.code == 64 or result.code == 66 and words[0] != "adopt")
        return ended

    def note(self, line):
        self.transcript.append(line)

    def shell(self, line, action, *arguments):
        """Does something by hand; `line` shows a person how to repeat it."""
        self.note(line)
        return action(*arguments)

    def copy(self, bundle, name):
        """Makes a copy of a bundle for the user, to be moved or referenced."""
        target = self.own / name
        self.shell(f"mkdir -p {shlex.quote(str(target.parent.relative_to(self.folder)))}; cp {self.source(bundle)} "
                   f"{target.relative_to(self.folder)}", _copy, bundle.path, target)
        return target

    def source(self, bundle):
        """Returns the path of a pool bundle for the command line."""
        return os.path.relpath(bundle.path, self.folder)

    # Paths

    def spool(self, bundle, suffix=".bundle"):
        return self.queue / "spool" / bundle.sha256[:2] / (bundle.sha256 + suffix)

    def file(self, capture):
        """Returns the path of the file that must contain a capture's bytes."""
        return pathlib.Path(capture.reference) if capture.reference else self.spool(capture.bundle)

    def on_web(self, capture):
        """Whether the server has the bytes of a capture."""
        return f"/{capture.bundle.sha256}" in self.web.kept

    def on_disk(self, capture):
        """Returns what the disk has of a capture, in the model's words."""
        try:
            data = self.file(capture).read_bytes()
        except FileNotFoundError:
            return "gone"
        if data == capture.bundle.data:
            return "whole"
        return "flipped" if len(data) == capture.bundle.bytes else "cut"


def _copy(source, target):
    target.parent.mkdir(exist_ok=True)
    shutil.copyfile(source, target)


def _piped(stdin):
    if not stdin:
        return ""
    if len(stdin) < 400:
        return f" <<< {stdin.decode('utf-8', 'replace')!r}"
    return f" < (a bundle of {len(stdin)} bytes)"
