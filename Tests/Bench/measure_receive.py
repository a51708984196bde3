"""The receiver of Samples/Receiver: captures of several devices at once, to acknowledgement, against nginx that stores
the same bodies, with two runs of openssl and a sync for each.

The receiver hashes and verifies each body, and syncs it and its rows. Meanwhile it passes captures on to a folder.
"""
from Bench import bench
from Bench import send_servers as servers
from Bench.bench import PEERS, WITHOUT_SHA
from Bench.measure_send import expect_stored
from Bench.results import Row
from Kit.outcomes import ROOT, Failed
from Receiver.support import CAPTURES, Receiver, Rig, Tools

PROGRAM = ROOT / ".build-receiver/release/receiver"
DEVICES = 8
MEMORY = (120, 60)  # MiB: required, desired
QUIET = 'output = "/dev/null"\nsilent\nshow-error\nfail\n'


def receive(rig):
    if not PROGRAM.is_file():
        raise Failed("the receiver was not built: .ci/build Samples/Receiver .build-receiver")
    raws, peaks, folder = rig.raws(rig.scaled(300, 16)), [], rig.folder / "devices"
    folder.mkdir()
    tools = Tools(rig.binary, rig.beside("capqueue"), PROGRAM, folder)
    shares = [bodies_of(rig, Rig(tools, f"device-{number}"), raws[number::DEVICES]) for number in range(DEVICES)]
    total = sum(bench.size(bodies) for _, bodies in shares)
    with servers.nginx(rig) as nginx:
        rows = rig.compare(
            {"receiver": lambda _: ours(rig, tools, shares, len(raws), peaks),
             "nginx": lambda _: theirs(rig, shares, len(raws), *nginx)}, 4,
            (f"receive, {len(raws)} from {DEVICES} devices / nginx PUT, 2 openssl dgst, sync", 1.50, 1.20), hashes=True,
            sha=total, wire=total, disk=total)
    return [*rows, Row("peak memory of the receiver", max(peaks), *MEMORY, unit="MiB")]


def bodies_of(rig, device, raws):
    """Returns a device and the files of its upload bodies, each with its headers beside it."""
    device.run("pack", *raws, "--out-dir", device.folder / "bundles")
    bodies = []
    for bundle in sorted((device.folder / "bundles").iterdir()):
        bodies.append(device.folder / f"{bundle.stem}.body")
        device.run("multipart", bundle, "-o", bodies[-1], "--headers", bodies[-1].with_suffix(".headers"))
    rig.run("rm", "-r", device.folder / "bundles")
    return device, bodies


def ours(rig, tools, shares, count, peaks):
    """Returns the seconds until a new receiver has acknowledged all captures."""
    for name in WITHOUT_SHA:
        tools.env.pop(name, None)
    tools.env |= {name: rig.env[name] for name in WITHOUT_SHA if name in rig.env}
    receiver = Receiver(tools).start()
    lists = []
    for device, bodies in shares:
        device_id = receiver.device(device)
        lists.append(curl_list(device.folder / "ours", bodies,
                               lambda body: signed(body, device, device_id, receiver.url)))
    seconds = rig.timed("sh", "-ec", f'printf "%s\\n" "$@" | xargs -P {DEVICES} -n 1 curl --fail-early -K', "sh", *lists)
    peaks.append(receiver.status_of("VmHWM") / 1024)
    receiver.stop()
    expect_stored((receiver.folder / "queue/spool").rglob("*.bundle"), count)
    rig.run("rm", "-r", receiver.folder)
    return seconds


def signed(body, device, device_id, url):
    """Returns curl's settings for one upload that the device signs now."""
    headers = device.signed(body.read_bytes(), device_id)
    lines = "".join(f'header = "{name}: {value}"\n' for name, value in headers.items())
    return f'url = "{url}{CAPTURES}"\nrequest = "POST"\nheader = "@{body.with_suffix(".headers")}"\n{lines}'


def theirs(rig, shares, count, url, folder):
    """Returns the seconds until nginx has stored all bodies, and each is hashed twice and synced."""
    rig.run("rm", "-rf", folder / "dav/captures")
    words = []
    for number, (device, bodies) in enumerate(shares):
        target = f'url = "{url}/dav/captures/{number}/"\n'
        words += [curl_list(device.folder / "theirs", bodies, lambda _: target), folder / f"dav/captures/{number}"]
    seconds = rig.timed("sh", "-ec", f'script=$0; printf "%s\\n" "$@" | xargs -P {DEVICES} -n 2 "$script"',
                        PEERS / "receive.sh", *words)
    expect_stored((folder / "dav/captures").rglob("*.body"), count)
    return seconds


def curl_list(path, bodies, settings):
    """Writes a list of uploads for one curl, which sends them over one connection."""
    path.write_text("next\n".join(f'upload-file = "{body}"\n{settings(body)}{QUIET}' for body in bodies))
    return path


MEASURES = [("receive", receive)]
