"""A server never gets a complete file with other bytes than the pushed ones, whatever happens to the local file."""
import os
import shlex
import signal
import tarfile

from Kit.outcomes import IS_LONG, every, expect
from Kit.sending import DEVICE, wait_until
from Kit.servers.fault_proxy import FaultProxy
from Kit.servers.nginx import fresh
from Kit.servers.scripted import Scripted, in_json
from Sending.captures import referred
from Sending.secrecy import TOKEN


def changed(path, how, data):
    """Changes a file as its owner might, and restores its times where possible."""
    before = path.stat()
    if how == "another inode":
        other = path.with_suffix(".new")
        other.write_bytes(data[:-600] + bytes([data[-600] ^ 1]) + data[-599:])
        os.replace(other, path)
    elif how == "deleted":
        return path.unlink()
    else:
        with open(path, "r+b") as file:
            if how == "one bit at the end":
                file.seek(-600, os.SEEK_END)
                file.write(bytes([data[-600] ^ 1]))
            elif how == "one bit at the start":
                file.seek(700)
                file.write(bytes([data[700] ^ 1]))
            elif how == "truncated":
                file.truncate(len(data) - 512)
            elif how == "appended":
                file.seek(0, os.SEEK_END)
                file.write(b"\0" * 512)
    return os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES = ("one bit at the end", "one bit at the start", "truncated", "appended", "another inode", "deleted")


def changed_before(bench):
    """If a referenced file changes after the push, no complete file arrives, and the capture is quarantined."""
    rig, bundles = bench.rig(), {how: bench.big(100_000 + place) for place, how in
                              enumerate(CHANGES if IS_LONG else CHANGES[::2])}
    with fresh(bench) as server:
        rig.dest("web", "put", "--url", server.template())
        for how, bundle in bundles.items():
            path = rig.folder / f"{bundle.sha256}.bundle"
            path.write_bytes(bundle.data)
            rig.run("push", "--reference", path).must(0, about="push --reference")
            changed(path, how, bundle.data)
        rig.send("--until-empty", code=14)
        expect(not server.holds(), f"the server holds {server.holds()}")
    states = {how: rig.delivery(bundle).state for how, bundle in bundles.items()}
    expect(set(states.values()) == {"quarantined"}, f"they are {states}")


def changed_amid(bench):
    """If the file changes while it is sent, no complete file arrives: its last bytes wait until the hash is right."""
    bundle = bench.big()

    def judge(name, how):
        rig, path = referred(bench, name, bundle)
        with fresh(bench) as server, FaultProxy(server.ports["plain"]) as proxy:
            rig.dest("web", "put", "--url", f"{proxy.url}/store/{{sha256}}.bundle", "--bwlimit", "8MB",
                     "--retry", "0,0")
            rig.run("push", "--reference", path).must(0, about="push --reference")
            with rig.start("run", "--until-empty") as running:
                wait_until(lambda: any(one.up > 500_000 for one in proxy.connections), "the transfer to begin")
                running.tell(signal.SIGSTOP)
                # on a slow machine the transfer is already over, and the test shows nothing
                is_late = bool(server.holds())
                changed(path, how, bundle.data)
                running.tell(signal.SIGCONT)
                running.end().must(0, 14, about="run")
            state = rig.delivery(bundle).state
            if state == "completed":
                # The bytes were read before the change, or the old file is still open: then all of them are right.
                server.keeps(bundle)
                expect(is_late or how not in ("one bit at the end", "truncated"), "landed without its last bytes")
            else:
                expect(state == "quarantined", f"it is {state}")
                expect(not server.holds(), f"the server holds {server.holds()}")

    every({how: how for how in (CHANGES if IS_LONG else CHANGES[:1])}, judge)


def changed_by_a_hook(bench):
    """http, by reference: the bytes are wrong when the body is laid out and right when it is sent; nothing arrives."""
    bundle = bench.stock[0]
    whole = bench.body(bundle)
    with tarfile.open(bundle.path, "r:") as archive:
        ends = {member.name: member.offset_data + member.size - 1 for member in archive.getmembers() if member.size}
    expect({"manifest.json", "assertion.cbor"} <= set(ends), f"members are {sorted(ends)}")
    yes = in_json({"data": {"capture_id": "7e57ab1e-0000-4000-8000-000000000051", "status": "complete"}}, 202)

    def judge(name, case):
        place, is_signed = case
        rig, path = referred(bench, "referred", bundle)
        command = f"cat {shlex.quote(str(bundle.path))} 1<> {shlex.quote(str(path))}; echo {TOKEN}"
        # Without a signature the body is read only once, as it is sent.
        device = ("--key", rig.key, "--device-id", DEVICE) if is_signed else ()
        with Scripted(lambda request: yes) as server:
            rig.dest("api", "http", "--url", server.url, "--verify-url", "none", "--token-command", command, *device)
            rig.run("push", "--reference", path).must(0, about="push --reference")
            with open(path, "r+b") as file:
                file.seek(place)
                file.write(bytes([bundle.data[place] ^ 1]))
            rig.send("--once", code=(0, 14, 15))
            arrived = [request.body for request in server.requests
                       if len(request.body) == int(request.headers["content-length"])]
            expect(all(body == whole for body in arrived), f"another body has arrived whole, and it is "
                   f"{rig.delivery(bundle).state}")
            expect(arrived or rig.delivery(bundle).state != "completed", "completed, and nothing has arrived")

    every({f"{name}, {word}": (place, is_signed) for name, place in ends.items() if IS_LONG or name == "manifest.json"
           for word, is_signed in (("signed", True), ("not signed", False))}, judge)


TESTS = [
    ("a referred file that changed before it is sent", changed_before),
    ("a referred file that changes while it is sent", changed_amid),
    ("http by reference: a hook that writes", changed_by_a_hook),
]
