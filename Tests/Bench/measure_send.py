"""capqueue run: sending bundles that were pushed before, against curl and rclone with a list of files to send.

capqueue records what it does: it syncs claim and receipt of each bundle, and confirms what landed (by HEAD for put, by
reading size and checksum back for s3). The peers only send, except the curl that puts: it sends HEAD, too.
"""
import contextlib
import hashlib
import os
import pathlib
import subprocess
import time

from Bench import captures
from Bench import send_servers as servers
from Bench.bench import Side
from Bench.measure_one import pair
from Bench.results import Row
from Kit.outcomes import Failed
from Kit.servers.seaweed import BUCKET
from Kit.servers.sigv4 import REGION

DEVICE = "3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c"
AT_A_TIME = 4
TINY_PHOTO_BYTES = 4_000
MEMORY = (48, 32)  # MiB: required, desired
MINUTE, TICK = 60, 1 / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def stock(rig, count, group="raws", options=(), **sizes):
    """Yields bundles for one measure, and deletes them and everything made from them afterwards."""
    try:
        yield rig.pack_all(rig.raws(group, count, **sizes), "bundles", *options)
    finally:
        rig.remove("bundles", "bodies", "queue", "transfers", "fetched")


def filled(rig, bundles, kind, *options):
    """Makes a queue with one destination and these bundles."""
    capqueue = rig.beside("capqueue")
    rig.run("rm", "-rf", "queue")
    rig.run(capqueue, "dest", "add", "there", "--kind", kind, *options, "--queue", "queue")
    for start in range(0, len(bundles), 500):
        rig.run(capqueue, "push", "--queue", "queue", *bundles[start:start + 500])
    return [capqueue, "run", "--until-empty", "--quiet", "--queue", "queue"]


def expect_completed(rig, count):
    listed = rig.folder / "completed"
    with open(listed, "wb") as file:
        rig.run(rig.beside("capqueue"), "list", "--state", "completed", "--queue", "queue", stdout=file)
    if (found := listed.read_bytes().count(b"\n")) != count:
        raise Failed(f"{found} of {count} bundles are completed")


def expect_stored(files, count, hashed=lambda file: True):
    """Checks that there are `count` files, and that those with a hash as their name have that hash."""
    files = list(files)
    if len(files) != count or not all(map(hashed, files)):
        raise Failed(f"{len(files)} of {count} bundles landed, or others than those that were sent")


def is_named_by_hash(file):
    return hashlib.sha256(file.read_bytes()).hexdigest() == file.stem


def one_curl(rig, name, url, files, *options, asks=False):
    """Returns one curl command for all files, over one kept connection. With `asks` it sends HEAD after each file."""
    transfers = []
    for file in files:
        transfers.append(f'upload-file = "{file}"\nurl = "{url(file)}"\nsilent\nshow-error\nfail\n'
                         + "".join(f"{option(file)}\n" for option in options))
        if asks:
            transfers.append(f'head\nurl = "{url(file)}"\noutput = "/dev/null"\nsilent\nshow-error\nfail\n')
    (rig.folder / name).write_text("next\n".join(transfers))
    return ["curl", "--fail-early", "-K", name]


def compared(title, sides, together_does, must, aim):
    """Returns a row against curl with one connection, and one against a separate curl for each file."""
    (_, ours), (_, together), (_, alone) = sides.items()
    return [pair(f"{title} / one curl, one connection, {together_does}", {"capqueue run": ours, "curl": together}, must, aim),
            pair(f"{title} / one curl a file", {"capqueue run": ours, "curl in a loop": alone}, 0.5, 0.4)]


def signed(rig):
    """Returns options of a destination where the device signs each request."""
    return "--key", rig.key, "--device-id", DEVICE


def put(rig):
    count = rig.scaled(300, 4)
    with stock(rig, count) as bundles, servers.nginx(rig) as (url, folder):
        def ours(_):
            rig.run("rm", "-rf", folder / "dav/ours")
            return rig.timed(*filled(rig, bundles, "put", "--url", f"{url}/dav/ours/{{sha256}}.bundle"))

        def peer(*command):
            rig.run("rm", "-rf", folder / "dav/theirs")
            seconds = rig.timed(*command)
            expect_stored((folder / "dav/theirs").iterdir(), count)
            return seconds

        theirs = f"{url}/dav/theirs/"
        together = one_curl(rig, "transfers", lambda file: theirs + pathlib.Path(file).name, bundles, asks=True)
        alone = ["sh", "-ec", 'for file in bundles/*; do curl -sS -f -T "$file" "$0"; done', theirs]
        sides = rig.alternate({"capqueue": ours, "one": lambda _: peer(*together), "each": lambda _: peer(*alone)},
                              runs=5)
        expect_completed(rig, count)
        expect_stored((folder / "dav/ours").iterdir(), count, is_named_by_hash)
    return compared(f"run, {count} of 1.6 MB by put to nginx", sides, "that HEADs each too", 1.4, 1.1)


def bodies_of(rig, bundles):
    """Writes the upload body of each bundle, with its Content-Type beside it."""
    (rig.folder / "bodies").mkdir()
    bodies = [bundle.replace("bundles/", "bodies/") for bundle in bundles]
    for bundle, body in zip(bundles, bodies, strict=True):
        rig.capbundle("multipart", bundle, "-o", body, "--headers", f"{body}.headers")
    return bodies


def http(rig):
    """capqueue makes the body of each bundle while it sends; curl sends finished bodies without a signature."""
    count = rig.scaled(300, 4)
    with stock(rig, count) as bundles, servers.nginx(rig) as (url, _):
        bodies, api = bodies_of(rig, bundles), f"{url}/api/v1/captures"

        def ours(*options):
            return rig.timed(*filled(rig, bundles, "http", "--url", api, "--verify-url", "none", *options))

        together = one_curl(rig, "transfers", lambda _: api, bodies, lambda _: 'request = "POST"',
                            lambda body: f'header = "@{body}.headers"')
        alone = ["sh", "-ec", "for file in bodies/*.headers; do "
                              'curl -sS -f -X POST -T "${file%.headers}" -H "@$file" "$0"; done', api]
        sides = rig.alternate({"capqueue": lambda _: ours(), "one": lambda _: rig.timed(*together),
                               "each": lambda _: rig.timed(*alone), "signed": lambda _: ours(*signed(rig))}, runs=5)
        expect_completed(rig, count)
    title = f"run, {count} of 1.6 MB by http to nginx"
    with_signature = {"capqueue run": sides.pop("signed"), "curl": sides["one"]}
    return [*compared(title, sides, "premade bodies", 1.5, 1.15),
            pair(f"{title}, signed / one curl, one connection, premade bodies", with_signature, 1.5, 1.15)]


def s3(rig):
    """Each turn writes below its own name, since existing objects would not be sent again."""
    count = rig.scaled(300, 4)
    with stock(rig, count) as bundles, servers.seaweed(rig) as (url, credentials):
        rig.env |= credentials | servers.rclone(url, credentials)
        remote = f"seaweed:{BUCKET}"

        def ours(turn):
            return rig.timed(*filled(rig, bundles, "s3", "--url", f"{url}/ours{turn}", "--region", REGION,
                                     "--concurrency", AT_A_TIME))

        def theirs(turn):
            return rig.timed("rclone", "copy", "--transfers", AT_A_TIME, "bundles", f"{remote}/theirs{turn}")

        try:
            sides = rig.alternate({"capqueue run": ours, "rclone copy": theirs}, runs=4)
            expect_completed(rig, count)
            rig.run("rclone", "copy", f"{remote}/ours0", "fetched")
            expect_stored((rig.folder / "fetched").iterdir(), count, is_named_by_hash)
        finally:
            for name in (*credentials, *servers.rclone(url, credentials)):
                del rig.env[name]
    return [pair(f"run, {count} of 1.6 MB by s3 to SeaweedFS, {AT_A_TIME} at a time / rclone copy", sides, 1.0, 0.8)]


def session(rig):
    """Each of three destinations keeps the order of a session; a delivery must not cost more in a long session."""
    few, many, sides = rig.scaled(200, 3), rig.scaled(20_000, 6), {}
    names = ("one", "two", "three")
    with stock(rig, many, "tiny", ["--no-depth"], photo_bytes=TINY_PHOTO_BYTES, with_depth=False) as bundles:
        def ours(count):
            for name in names:
                rig.run("rm", "-rf", f"copies-{name}")
                (rig.folder / f"copies-{name}").mkdir(mode=0o700)
            capqueue = rig.beside("capqueue")
            rig.run("rm", "-rf", "queue")
            to = []
            for name in names:
                rig.run(capqueue, "dest", "add", name, "--kind", "folder", "--path", f"copies-{name}", "--queue", "queue")
                to += ["--dest", name]
            for start in range(0, count, 500):
                chosen = bundles[start:min(start + 500, count)]
                rig.run(capqueue, "push", "--session", "long", *to, "--queue", "queue", *chosen)
            seconds = rig.timed(capqueue, "run", "--once", "--quiet", "--queue", "queue")
            expect_completed(rig, count)
            return seconds / (count * len(names))

        sides = {f"a session of {many:,}": Side.of([ours(many)]),
                 f"of {few:,}": Side.of([ours(few) for _ in range(rig.scaled(5, 1))])}
        rig.remove(*(f"copies-{name}" for name in names))
    return [pair(f"run, time a delivery of a session of {many:,}, {len(names)} destinations / of {few:,}", sides, 1.3, 1.1)]


def memory(rig):
    """Memory must not grow with the sent bundles: a queue ten times as long would show what is kept of each."""
    few, many = rig.scaled(300, 3), rig.scaled(3000, 6)
    rows, peaks, small = [], {}, captures.SMALL_PHOTO_BYTES
    with stock(rig, many, "small", photo_bytes=small) as bundles, servers.nginx(rig) as (url, _):
        kinds = {"put": ("--url", f"{url}/dav/{{sha256}}.bundle"),
                 "http": ("--url", f"{url}/api/v1/captures", "--verify-url", "none", *signed(rig))}
        for kind, options in kinds.items():
            for count in (few, many):
                peaks[kind, count] = rig.peak_memory(filled(rig, bundles[:count], kind, *options))
                expect_completed(rig, count)
            rows.append(Row(f"peak memory of run, {many:,} by {kind}", peaks[kind, many], *MEMORY, unit="MiB"))
            rows.append(Row(f"peak memory of run by {kind}, {many:,} / {few:,}", peaks[kind, many] / peaks[kind, few],
                            1.1, 1.02, detail=f"{peaks[kind, few]:.1f} MiB with {few:,}"))
    return rows


def idle(rig):
    """Measures the CPU time of a run that has nothing to do, as the kernel counts it: in ticks of 10 ms."""
    seconds = rig.scaled(MINUTE, 5)
    with stock(rig, 1, "small", photo_bytes=captures.SMALL_PHOTO_BYTES) as bundles, servers.nginx(rig) as (url, _):
        command = filled(rig, bundles, "put", "--url", f"{url}/dav/{{sha256}}.bundle")
        with watching(rig, command) as process:
            used = busy(process)
            time.sleep(seconds)
            used = busy(process) - used
    return [Row(f"CPU seconds of an idle run --watch in {seconds} s", used, TICK, 0)]


@contextlib.contextmanager
def watching(rig, command):
    """Runs `run --watch` during the `with` block, which begins when all bundles are sent."""
    command = [str("--watch" if word == "--until-empty" else word) for word in command]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=rig.env, cwd=rig.folder)
    try:
        rig.run(rig.beside("capqueue"), "wait", "--all", "--timeout", "60s", "--queue", "queue")
        # wait for the work after the last transfer: closing connections, writing the status file
        time.sleep(rig.scaled(5, 1))
        yield process
        if process.poll() is not None:
            raise Failed(f"run --watch ended, with exit {process.returncode}")
    finally:
        process.terminate()
        process.wait(60)


def busy(process):
    """Returns the seconds of CPU time that all threads of a process have used so far."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


MEASURES = [("send put", put), ("send http", http), ("send s3", s3), ("send session", session), ("send memory", memory),
            ("send idle", idle)]
