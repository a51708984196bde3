"""What the tests share: kernel and initramfs, and the trial of a set of file systems."""
import contextlib
import dataclasses
import functools
import itertools
import random
import threading
import time

from Kit.outcomes import expect
from PowerCut import cuts, initramfs, kernels
from PowerCut.disk import Disk
from PowerCut.examination import Examination
from PowerCut.filesystems import FILE_SYSTEMS
from PowerCut.guest import Guest, accelerator
from PowerCut.promises import of
from PowerCut.recording import Machine, record
from PowerCut.servers import Servers
from PowerCut.workload import Rig

AGAIN, CUTS_AGAIN = 4, 2  # of so many images one is recovered from, and the power is cut so often during that
STEPS_AGAIN = 5
FAULTS_KEPT = 3
KEPT = kernels.KEPT / "faults"


@dataclasses.dataclass
class Figures:
    """What a trial found. `faults` begin with the cut."""

    images: int = 0
    second: int = 0
    captures: int = 0
    unmountable: list = dataclasses.field(default_factory=list)
    faulty: int = 0
    faults: list = dataclasses.field(default_factory=list)

    def __str__(self):
        return (f"{self.images} images ({self.second} of a second cut), {self.captures} captures compared, "
                f"{len(self.unmountable)} images without a mount, {self.faulty} with faults")


class PowerBench:
    """`capbundle` and `capqueue` are the programs under test."""

    def __init__(self, options, folder):
        self.options, self.folder, self.seed = options, folder, options.seed
        self.tools = [options.capbundle, options.capqueue, options.capbundle.with_name("capbundle-decode")]
        self._lock, self._numbers = threading.Lock(), itertools.count()

    @functools.cached_property
    def _guest(self):
        """The arguments of every guest."""
        kernels.require_tools()
        kernel = kernels.newest_backport() if self.options.backports else kernels.newest()
        archive = self.folder / "initramfs.gz"
        initramfs.make(self.folder, kernel, self.tools, archive)
        how = accelerator(self.folder, kernel, archive)
        print(f"{kernels.versions(kernel)}; {how}", flush=True)
        return {"kernel": kernel, "initramfs": archive, "accelerator": how}

    @contextlib.contextmanager
    def machine(self, systems, processes=1):
        """Boots a guest with new file systems, not yet mounted."""
        with self._lock:
            how = self._guest
        folder = self.folder / f"machine{next(self._numbers)}"
        folder.mkdir()
        with contextlib.ExitStack() as stack:
            disks = []
            for number, system in enumerate(systems):
                disk = Disk(folder / f"disk{number}", number, system.size, self.seed)
                stack.callback(disk.close)
                disk.content = system.make(folder / "new")
                disks.append(disk)
            guest = Guest(folder, disks=disks, processes=processes, **how)
            stack.callback(guest.kill)
            yield guest, disks

    def chance(self, title):
        return random.Random(f"{self.seed} {title}")


class Trial:
    """Records a rig on file systems, cuts the power, and examines. With two file systems the second has the folder
    destination."""

    def __init__(self, bench, *names, keeps=True, settings=""):
        """`settings` are lines of shell before each command of the recording."""
        self.bench, self.title, self.keeps, self.settings = bench, " and ".join(names), keeps, settings
        self.systems, self.random = [FILE_SYSTEMS[name] for name in names], bench.chance(self.title)
        self.figures, self.began = Figures(), time.monotonic()

    def play(self, images, processes=1):
        """Examines about `images` images, a third of them after a second cut, and returns the figures."""
        with self.bench.machine(self.systems, processes) as (guest, disks), contextlib.closing(Servers()) as servers:
            self.machine = Machine(guest, disks, self.systems, servers)
            self.rig = Rig(self.random, servers)
            self.machine.shell.must(f"echo '{self.settings}' >/tmp/settings")
            recording = record(self.machine, self.rig, self.machine.make(), [], 0,
                               self.bench.options.steps, self.rig.begin)
            self.machine.shell.must("rm /tmp/settings")
            expect(recording, "a new file system cannot be mounted")
            expect(not self.rig.odd, f"{len(self.rig.odd)} commands of the recording failed: {self.rig.odd[:2]}")
            firsts = images * AGAIN // (AGAIN + CUTS_AGAIN)
            for number, cut in enumerate(cuts.chosen(recording.log, firsts, self.random)):
                contents = self.examine(recording, cut, f"{cut}")
                if self.figures.second * AGAIN <= number * CUTS_AGAIN:
                    self.cut_again(recording, cut, contents)
        print(f"     {self.title}: {self.figures}; {time.monotonic() - self.began:.0f} s", flush=True)
        return self.figures

    def examine(self, recording, cut, title):
        """Makes an image, examines it, and returns its contents."""
        contents = [cuts.image(base, recording.log, number, cut, self.random)
                    for number, base in enumerate(recording.bases)]
        how = {"repairs": self.random.random() < 0.5, "sends": self.random.random() < 0.4,
               "sweeps": self.random.random() < 0.2}
        outcome = Examination(self.machine, self.rig, recording, cut.moment).examine(contents, recording.boots + 1, **how)
        self.figures.images += 1
        self.figures.captures += outcome.captures
        if outcome.unmountable:
            self.figures.unmountable.append(f"cut {title}: {outcome.unmountable[-200:]}")
        self.report(contents, title, outcome.faults)
        return contents

    def cut_again(self, recording, cut, contents):
        """Records the recovery from a cut, cuts the power during that too, and examines."""
        examination = Examination(self.machine, self.rig, recording, cut.moment)
        if not of(examination.promises, "destinations"):
            return
        self.machine.servers.restore(recording.history, cut.moment)
        rig = self.rig.recovering(examination.promises)
        again = record(self.machine, rig, contents, examination.promises, recording.boots + 1, STEPS_AGAIN)
        if again is None:  # counted by the examination of this image
            return
        self.report(contents, f"{cut}, worked on", rig.odd)
        for second in cuts.chosen(again.log, CUTS_AGAIN, self.random):
            self.examine(again, second, f"{cut}, then {second}")
            self.figures.second += 1

    def report(self, contents, title, faults):
        """Counts an image with faults; the first ones are kept for people."""
        if not faults:
            return
        self.figures.faulty += 1
        self.figures.faults.append(f"cut {title}: {'; '.join(faults[:3])[:600]}")
        if self.keeps and self.figures.faulty <= FAULTS_KEPT:
            folder = KEPT / f"{self.title}, seed {self.bench.seed}, cut {title}"
            folder.mkdir(parents=True, exist_ok=True)
            for number, content in enumerate(contents):
                content.save(folder / f"disk{number}")
            (folder / "faults").write_text("\n".join(faults))


def sound(bench, *names):
    """Plays a trial, and fails if anything was lost, or if too many images cannot be mounted."""
    images = bench.options.images
    figures = Trial(bench, *names).play(images, bench.options.processes)
    expect(not figures.faults, f"{figures}: {' | '.join(figures.faults[:3])}")
    expect(len(figures.unmountable) <= max(1, images // 50), f"{figures}: {figures.unmountable[:2]}")
    expect(figures.captures > 0, f"nothing was compared: {figures}")
