"""An archive in SeaweedFS: 20,000 bundles while workers are killed, what cannot be fetched, groups and scratch space."""
import argparse
import collections
import contextlib
import errno
import os
import pathlib
import signal
import subprocess
import sys
import time

import pyarrow.parquet
import verify_archive
from Kit import disks, processes
from Kit.outcomes import Failed, expect
from Kit.servers import seaweed
from Kit.servers.capture_http import ScriptedServer

from Spark.archive import PROGRAMS, SAMPLES, agree, parts, rows, wait_for

COUNT, STORED = 20_000, f"s3://{seaweed.BUCKET}/many"
CLUSTER = "local-cluster[2,1,1024]"  # two executors with a core each, in processes of their own


def stored(archive):
    """Returns the variables with which s3fs finds the store, and the folder of files that the store has; makes both once."""
    store, folder = seaweed.shared(archive), archive.folder / "many"
    if not folder.exists():
        archive.varied(folder, COUNT)
        filer = dict(zip((f"{name}{kind}" for name in seaweed.PORTS for kind in ("", ".grpc")), store.ports))
        bucket = f"http://127.0.0.1:{filer['filer']}.{filer['filer.grpc']}/buckets/{seaweed.BUCKET}/"
        archive.call(PROGRAMS / "weed", "filer.copy", "-c", "16", folder, bucket, seconds=600).must(0, about="filer.copy")
    return store.keys.environment | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{store.port}"}, folder


def judged(archive, folder):
    return {f"{STORED}/{path.relative_to(folder)}": report for path, report in archive.judged(archive.found(folder)).items()}


def killed_workers(archive):
    """20,000 bundles while a Python worker and an executor are killed; then the same again, which reads nothing."""
    env, folder = stored(archive)
    archive.listing(STORED, **env)
    reports, scratch = archive.folder / "many-reports", archive.folder / "scratch"
    words = ["list.parquet", reports, scratch, "--part", "500", "--group", "100"]
    job = archive.start(SAMPLES / "verify_archive.py", *words, "--", "--trust", archive.trust, master=CLUSTER, **env)
    try:
        for count, find in ((4, lambda: holder_of(scratch, job.pid)), (12, lambda: executor_of(job))):
            wait_for(job, lambda: len(parts(reports)) >= count, f"{count} parts were written")
            wait_for(job, lambda: killed_at_work(find(), scratch), "a process was killed")
    finally:
        done = archive.ended(job)
    done.must(0, about="verify_archive.py")
    found = rows(reports)
    agree(found, judged(archive, folder))
    verdicts = collections.Counter(row["verdict"] for row in found.values())
    expect(len(verdicts) == 5 and min(verdicts.values()) > 100, f"{verdicts}")
    expect(not list(scratch.iterdir()), "scratch was not emptied")
    before = {path: path.stat().st_mtime_ns for path in parts(reports)}
    with ScriptedServer() as nothing:
        env["AWS_ENDPOINT_URL"] = nothing.url
        archive.verify(reports, **env).must(0, about="the second run")
        expect(not nothing.connections, f"the second run asked the store {nothing.connections} times")
    expect({path: path.stat().st_mtime_ns for path in parts(reports)} == before, "the second run wrote reports")


def killed_at_work(pid, scratch):
    """Kills a worker or an executor if its task is not finished: it is stopped first, so that this stays true."""
    if pid is None:
        return None
    with contextlib.suppress(OSError):  # the process, or one of its threads, has ended
        os.kill(pid, signal.SIGSTOP)
        threads = pathlib.Path(f"/proc/{pid}/task")
        while any(stat.read_text().rpartition(") ")[2][0] not in "TZ" for stat in threads.glob("*/stat")):  # not stopped yet
            time.sleep(0.001)
        works = holder_of(scratch, pid)
        os.kill(pid, signal.SIGKILL if works else signal.SIGCONT)
        return works
    return None  # and the next try finds it stopped


def holder_of(scratch, leader):
    """Returns the Python worker that has locked a folder in scratch, among a process and its descendants."""
    for pid in [leader, *processes.descendants(leader)]:
        try:
            if any(f"{scratch}/" in os.readlink(handle) for handle in pathlib.Path(f"/proc/{pid}/fd").iterdir()):
                return pid
        except OSError:  # it has ended meanwhile
            continue
    return None


def executor_of(job):
    for pid in processes.descendants(job.pid):
        try:
            if b"CoarseGrainedExecutorBackend" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
        except OSError:
            continue
    return None


def killed_job(archive):
    """The whole job is killed. What has a report then is not read again: the store does not even have it any more."""
    env, folder = stored(archive)
    urls = {f"{STORED}/{path.relative_to(folder)}": path for path in archive.found(folder / "07")}
    pyarrow.parquet.write_table(pyarrow.table({"url": list(urls)}), archive.folder / "some.parquet")
    reports, scratch = archive.folder / "some-reports", archive.folder / "scratch"
    words = ["some.parquet", reports, scratch, "--part", "50", "--group", "25"]
    job = archive.start(SAMPLES / "verify_archive.py", *words, "--", "--trust", archive.trust, **env)
    wait_for(job, lambda: len(parts(reports)) >= 4 and holder_of(scratch, job.pid), "four parts were written")
    processes.kill([job.pid, *processes.descendants(job.pid)])
    archive.ended(job)
    finished = rows(reports)
    expect(0 < len(finished) < len(urls) and list(scratch.iterdir()), f"{len(finished)} rows when the job was killed")
    client = seaweed.shared(archive).client()
    for url in finished:
        client.delete(url.removeprefix(f"s3://{seaweed.BUCKET}/"))
    archive.verify(reports, "--part", "50", listed="some.parquet", **env).must(0, about="the second run")
    for url in finished:
        client.put(url.removeprefix(f"s3://{seaweed.BUCKET}/"), urls[url].read_bytes())
    agree(rows(reports), {url: report for url, report in judged(archive, folder).items() if url in urls})
    expect(not list(scratch.iterdir()), "the scratch space of the killed job is still there")


def not_fetched(archive):
    """What cannot be fetched is a row with its error, and the others are verified."""
    env, folder = stored(archive)
    good = f"{STORED}/03/00003.bundle"
    bad = {f"{STORED}/none.bundle": "FileNotFoundError", "s3://none/x.bundle": "FileNotFoundError",
           f"http://127.0.0.1:{seaweed.free_ports(1)[0]}/x.bundle": "ClientConnectorError", "gopher://x/y": "ValueError"}
    pyarrow.parquet.write_table(pyarrow.table({"url": [good, *bad]}), archive.folder / "bad.parquet")
    archive.verify("bad-reports", listed="bad.parquet", **env).must(0, about="verify_archive.py")
    found = rows(archive.folder / "bad-reports")
    for url, error in bad.items():
        row = found.pop(url)
        expect(row["verdict"] is None and row["report"] is None and row["error"].startswith(f"{error}: "), f"{row}")
    agree(found, {good: judged(archive, folder)[good]})


def groups(archive):
    """Groups end by bytes as well as by count, whether sizes are listed or not, and fetching goes on after a failure."""
    env, folder = stored(archive)
    os.environ.update(env)
    paths = archive.found(folder / "04")[:200]
    sizes = {f"{STORED}/{path.relative_to(folder)}": path.stat().st_size for path in paths}
    most = max(sizes.values()) * verify_archive.STREAMS
    for known in (True, False):
        for count, limit in ((50, 1 << 30), (1000, 40_000), (1000, 1)):
            limits = argparse.Namespace(group=count, group_bytes=limit)
            waiting, fetched = collections.deque((url, sizes[url] if known else None) for url in sizes), []
            while (group := verify_archive.fetch_group(waiting, archive.folder, limits))[1]:
                expect(all(error is None for _, _, error in group[1]), f"{group[1]}")
                bytes_now = sum(file.stat().st_size for file in pathlib.Path(group[0]).iterdir())
                expect(bytes_now <= limit + most and len(group[1]) < count + verify_archive.STREAMS, f"{bytes_now} bytes")
                fetched += [url for url, _, _ in group[1]]
            expect(sorted(fetched) == sorted(sizes), f"{len(fetched)} of {len(sizes)} are in groups")


def full_disk(archive):
    """A full disk is not the fault of a bundle: the task fails."""
    env, folder = stored(archive)
    os.environ.update(env)
    waiting = collections.deque((f"{STORED}/{path.relative_to(folder)}", None) for path in archive.found(folder / "05")[:200])
    limits = argparse.Namespace(group=1000, group_bytes=1 << 30)
    with disks.mounted(argparse.Namespace(out=archive.folder), archive.folder / "small", disks.small("256k")) as disk:
        try:
            _, group = verify_archive.fetch_group(waiting, str(disk.inside), limits)
        except OSError as reason:
            expect(reason.errno == errno.ENOSPC, f"{reason}")
        else:
            raise Failed(f"200 bundles fit: {group[-1]}")


def scratch_space(archive):
    """A task removes the folders of killed tasks, and nothing else that is there."""
    place = archive.folder / "own-scratch"
    (place / "photos").mkdir(parents=True)
    (place / "notes").touch()
    program = ("import sys, time, verify_archive\nwith verify_archive.scratch_folder(sys.argv[1]) as folder:\n"
               "    open(f'{folder}/x', 'w').close()\n    print(folder, flush=True)\n    time.sleep(1000)\n")
    tasks = [subprocess.Popen([sys.executable, "-c", program, place], env=archive.env, stdout=subprocess.PIPE, text=True)
             for _ in range(2)]
    try:
        folders = [pathlib.Path(task.stdout.readline().strip()) for task in tasks]
        tasks[0].kill()
        tasks[0].wait()
        with verify_archive.scratch_folder(place) as ours:
            wanted = sorted([place / "notes", place / "photos", pathlib.Path(ours), folders[1]])
            expect(sorted(place.iterdir()) == wanted, f"{list(place.iterdir())}")
        wanted.remove(pathlib.Path(ours))
        expect(sorted(place.iterdir()) == wanted and list(folders[1].iterdir()), "another task lost its files")
    finally:
        for task in tasks:
            task.kill()
            task.communicate()


TESTS = [("20,000 bundles, and killed workers", killed_workers), ("a killed job goes on", killed_job),
         ("what cannot be fetched", not_fetched), ("groups by bytes and count", groups), ("a full disk", full_disk),
         ("scratch space", scratch_space)]
