"""Bytes that are missing or damaged, and databases that cannot be used."""
import fcntl
import shutil
import tarfile

from Alarms.lines import Causes
from Kit.disks import mounted
from Kit.outcomes import ROOT
from QueueFaults.damaged_indexes import without_index
from QueueFaults.file_systems import IMAGE

line = Causes()


def waiting(scene):
    scene.folder()
    return scene.push()[0]


@line("its bytes in the spool are damaged", quick=True)
def damaged(scene):
    bundle = waiting(scene)
    scene.rig.spool_file(bundle).write_bytes(bundle.data[:-1] + b"\1")
    scene.judge()


@line("its file in the spool is missing")
def missing(scene):
    waiting(scene)
    other = scene.bench.stock[1]
    scene.rig.push(other)
    scene.rig.spool_file(scene.bench.stock[0]).unlink()
    scene.judge()


@line("the spool is missing or empty")
def no_spool(scene):
    waiting(scene)
    shutil.rmtree(scene.rig.queue / "spool")
    scene.judge()


def reference(title, spoil):
    def cause(scene):
        scene.folder()
        card = scene.rig.out / "card"
        card.mkdir()
        for number in (0, 1):
            shutil.copy(scene.bench.stock[number].path, card / f"{number}.bundle")
        scene.run("push", "--reference", card / "0.bundle").must(0, about="push")
        spoil(card)
        scene.judge()
    line(title)(cause)


reference("the file of a `--reference` was changed", lambda card: (card / "0.bundle").write_bytes(b"other bytes"))
reference("the file of a `--reference` was deleted", lambda card: (card / "0.bundle").unlink())
reference("the disk of a `--reference` is not mounted", shutil.rmtree)


@line("the database is damaged")
def damaged_database(scene):
    waiting(scene)
    path = scene.rig.queue / "queue.sqlite"
    data = path.read_bytes()
    path.write_bytes(data[:4096] + bytes(len(data) - 4096))
    scene.judge()


@line("an index of the database lacks it")
def no_index(scene):
    scene.folder()
    with without_index(scene.rig, "deliveries_waiting"), without_index(scene.rig, "deliveries_untried"):
        scene.push()
    scene.judge()


@line("the database is missing")
def no_database(scene):
    waiting(scene)
    for path in scene.rig.queue.glob("queue.sqlite*"):
        path.unlink()
    scene.judge()


@line("a newer version made the queue")
def newer(scene):
    waiting(scene)
    scene.rig.change("INSERT INTO grdb_migrations VALUES ('v99')")
    scene.judge()


@line("an older version still runs on the queue")
def older(scene):
    with tarfile.open(ROOT / "Tests/Data/1.0/queue.tar.gz") as archive:
        archive.extractall(scene.rig.folder / "old", filter="data")
    scene.rig.env["CAPQUEUE_DIR"] = str(scene.rig.folder / "old/queue")
    (scene.rig.folder / "old/queue").chmod(0o700)
    with open(scene.rig.folder / "old/queue/run.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        scene.judge()


@line("other users can write the queue")
def open_to_others(scene):
    waiting(scene)
    scene.rig.queue.chmod(0o777)
    scene.judge()


@line("the queue is on ext4 without a journal, where a power cut can take it")
def no_journal(scene):
    with scene.on_a_disk(IMAGE.format(make="mkfs.ext4 -q -F -O ^has_journal", options="")):
        scene.judge()


@line("the queue is on FAT, where a power cut can take it")
def on_fat(scene):
    waiting(scene)
    scene.rig.env["CAPQUEUE_DIR"] = str(scene.rig.folder / "disk/queue")
    disk = scene.rig.folder / "disk"
    with mounted(scene.rig, disk, IMAGE.format(make="mkfs.vfat", options=",umask=077")) as scene.place:
        shutil.copytree(scene.rig.queue, scene.place.inside / "queue", copy_function=shutil.copyfile)
        scene.judge()


@line("the queue is a backup, which sends nothing")
def backup(scene):
    waiting(scene)
    scene.run("backup", scene.rig.folder / "backup").must(0, about="backup")
    scene.rig.env["CAPQUEUE_DIR"] = str(scene.rig.folder / "backup")
    scene.judge()


TESTS = line.tests
