"""put: no other bytes than those that were pushed are ever whole on the server, and what is there can be asked for."""
import json
import os
import signal

from checks import every, expect
from fault_proxy import FaultProxy
from nginx import fresh
from rigs import AT_ONCE, wait_until
from scripted import Reply, Scripted


def filled(bench, server, *bundles, options=()):
    """A rig whose bundles are on the server."""
    rig = bench.rig()
    rig.dest("web", "put", "--url", server.template(), *options)
    rig.push(*bundles)
    rig.send(code=0)
    server.keeps(*bundles)
    return rig


def pruned(rig, *bundles):
    rig.aged(*bundles, days=8)
    rig.run("prune").must(0, about="prune")
    expect(not any(rig.spool_file(bundle).exists() for bundle in bundles), "prune keeps what has landed")


def fetched(bench):
    """What prune let go comes back from the server, hashed before it is released."""
    with fresh(bench) as server:
        rig = filled(bench, server, *bench.stock[:2])
        pruned(rig, *bench.stock[:2])
        one = bench.stock[0]
        expect(rig.run("get", one.id, "-o", "-").must(0, about="get").out == one.data, "get gives other bytes")
        rig.run("get", one.id, "-o", rig.out / "back.bundle").must(0, about="get -o")
        expect((rig.out / "back.bundle").read_bytes() == one.data, "get -o writes other bytes")
        result = rig.run("get", one.id, "--local", "-o", "-").must(66, about="get --local")
        expect(not result.out, "get --local gives bytes")
        expect(rig.spool() == {}, "get keeps what it fetched")


def fetched_wrong(bench):
    """A server with other bytes under the name, or fewer, or none: refused, and no byte of it is given out."""
    bundle = bench.stock[0]
    spoilt = {"one bit": bundle.data[:-600] + bytes([bundle.data[-600] ^ 1]) + bundle.data[-599:],
              "cut": bundle.data[:-512], "appended": bundle.data + b"\0" * 512, "another bundle": bench.stock[1].data,
              "nothing": b"", "gone": None}

    def judge(name, data):
        with fresh(bench) as server:
            rig = filled(bench, server, bundle)
            pruned(rig, bundle)
            path = server.path(f"store/{bundle.sha256}.bundle")
            path.unlink() if data is None else path.write_bytes(data)
            for target in ("-", rig.out / "back.bundle"):
                result = rig.run("get", bundle.id, "-o", target).must(1, 2, 66, 74, about="get")
                expect(not result.out and not (rig.out / "back.bundle").exists(), "bytes are given out")
                expect(result.text.strip(), "without a word")

    every(spoilt, judge)


def lost(bench):
    """check --remote finds what the server lost, and it is sent again; what is there still is left alone."""
    one, two, three = bench.stock[:3]
    with fresh(bench) as server:
        rig = filled(bench, server, one, two, three)
        rig.run("check", "--remote").must(0, about="check --remote with nothing lost")
        server.path(f"store/{two.sha256}.bundle").unlink()
        tried = rig.run("check", "--remote", "--dry-run", "--json").must(0, 1, 2, 14, 15, 66, 74, about="--dry-run")
        expect(rig.delivery(two).state == "completed", "--dry-run changes a state")
        expect([line["id"] for line in findings(tried)] == [two.id], f"--dry-run finds {findings(tried)}")
        found = findings(rig.run("check", "--remote", "--json"))
        expect([(line["kind"], line["id"]) for line in found] == [("lost", two.id)], f"check finds {found}")
        expect(rig.delivery(two).state == "pending", f"it is {rig.delivery(two).state}")
        expect(rig.delivery(one).state == rig.delivery(three).state == "completed", "others are sent again, too")
        rig.run("prune", "--older-than", "0s").must(0, about="prune")
        expect(rig.spool_file(two).exists(), "prune deletes the only copy")
        rig.send(code=0)
        server.keeps(one, two, three)
        row = rig.delivery(two)
        expect((row.state, row.attempts) == ("completed", 2) or row.attempts == 1, f"{row.state}, {row.attempts}")


def shortened(bench):
    """An object that lost its end is not taken for the bundle."""
    bundle = bench.stock[0]
    with fresh(bench) as server:
        rig = filled(bench, server, bundle)
        server.path(f"store/{bundle.sha256}.bundle").write_bytes(bundle.data[:1000])
        found = findings(rig.run("check", "--remote", "--json"))
        expect([line["id"] for line in found] == [bundle.id], f"check finds {found}")
        expect(rig.spool_file(bundle).exists(), "the bytes are gone")


def unconfirmed(bench):
    """A server that cannot be asked, or will not say: told, and nothing is changed."""
    bundle = bench.stock[0]
    answers = {"HEAD is not allowed": 405, "refused": 403, "broken": 500}

    def judge(name, status):
        rig = bench.rig()
        with Scripted(lambda request: Reply(status if request.method == "HEAD" else 201)) as server:
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", AT_ONCE)
            rig.push(bundle)
            if status == 500:  # an answer to the first HEAD, so that it lands at all
                server.answer = lambda request: Reply(405 if request.method == "HEAD" else 201)
            rig.send("--until-empty", code=0)
            server.answer = lambda request: Reply(status if request.method == "HEAD" else 201)
            found = findings(rig.run("check", "--remote", "--json"))
        expect([(line["kind"], line["id"]) for line in found] == [("unconfirmed", bundle.id)], f"check finds {found}")
        found = findings(rig.run("check", "--remote", "--json"))
        expect([line["kind"] for line in found] == ["unconfirmed"], f"with nobody there check finds {found}")
        expect(rig.delivery(bundle).state == "completed", f"it is {rig.delivery(bundle).state}")

    every(answers, judge)


def findings(result):
    """The lines of `check --json` that name a capture."""
    lines = [json.loads(line) for line in result.out.splitlines()]
    expect(lines, f"check --json prints nothing: {result.text[:200]!r}")
    return [line for line in lines if line["kind"] != "summary"]


def changed(path, how, data):
    """Changes a file as its owner might, with its old times where that can be."""
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


def referred(bench, name, bundle):
    """A file of our own that a rig refers to."""
    rig = bench.rig()
    path = rig.folder / f"{name.replace(' ', '-')}.bundle"
    path.write_bytes(bundle.data)
    return rig, path


def changed_before(bench):
    """A referred file that changed after the push: nothing whole arrives, and the capture is set aside."""
    bundle = bench.big(1_000_000)

    def judge(name, how):
        rig, path = referred(bench, name, bundle)
        with fresh(bench) as server:
            rig.dest("web", "put", "--url", server.template())
            rig.run("push", "--reference", path).must(0, about="push --reference")
            changed(path, how, bundle.data)
            rig.send("--until-empty", code=14)
            expect(not server.holds(), f"the server holds {server.holds()}")
        expect(rig.delivery(bundle).state == "quarantined", f"it is {rig.delivery(bundle).state}")

    every({how: how for how in CHANGES}, judge)


def changed_amid(bench):
    """The same while it is being sent: the last bytes are held back until the hash is right."""
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
                is_late = bool(server.holds())  # this machine was slow: then there is nothing to see
                changed(path, how, bundle.data)
                running.tell(signal.SIGCONT)
                running.end().must(0, 14, about="run")
            state = rig.delivery(bundle).state
            if state == "completed":
                # Bytes that were read before they changed, or a file that is still open: then all of them are right.
                server.keeps(bundle)
                expect(is_late or how not in ("one bit at the end", "truncated"), "landed without its last bytes")
            else:
                expect(state == "quarantined", f"it is {state}")
                expect(not server.holds(), f"the server holds {server.holds()}")

    every({how: how for how in CHANGES}, judge)


TESTS = [
    ("get of what was pruned brings it back", fetched),
    ("get refuses what the server has instead", fetched_wrong),
    ("check --remote finds what the server lost", lost),
    ("check --remote finds what the server shortened", shortened),
    ("check --remote where the server cannot be asked", unconfirmed),
    ("a referred file that changed before it is sent", changed_before),
    ("a referred file that changes while it is sent", changed_amid),
]
