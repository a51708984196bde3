"""One capture, one command or one full disk that spoils a destination: the others land, runs end, and it is told."""
import json
from signal import SIGTERM

from capture_api import Answer, CaptureAPI
from checks import every, expect
from early_success import Bare, answer, received
from hooks import cleaned, left
from markers import Store, end, rig_to
from mounts import mounted, small
from rigs import AT_ONCE, wait_until
from running import ENDED
from scripted import Reply, Scripted

FLOOD = "echo $$ >> pids; exec yes 4242"  # the number is what `left` knows it by


def lands_the_others(rig, bundles, is_resumed):
    """Three runs are enough for all but the first bundle, which stays; what the destination was held for at first."""
    for number in range(3):
        if number and is_resumed:
            rig.run("resume", "--dest", "web").must(0, about="resume")
        rig.send("--until-empty", code=(14, 15))
        held = held if number else rig.destination("web").held_code
    states = [rig.delivery(bundle).state for bundle in bundles]
    expect(states[1:] == ["completed"] * (len(bundles) - 1), f"after three runs they are {states}")
    expect(states[0] in ("pending", "failed") and rig.spool_file(bundles[0]).exists(), f"the first is {states[0]}")
    return held


def refused_alone(bench):
    """404 and 403 to one capture hold the destination, for nobody can tell; each run begins with another one."""
    bundles = bench.stock[:3]

    def judge(name, case):
        status, is_resumed, code = case

        def reply(request):
            if bundles[0].sha256 in request.path:
                return Reply(status)
            return Reply(201 if request.method == "PUT" else 405)

        with Scripted(reply) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", AT_ONCE)
            rig.push(*bundles)
            held = lands_the_others(rig, bundles, is_resumed)
            expect(held == code, f"held as {held}")
            puts = [request.path.strip("/") for request in server.seen("PUT")]
            expect(puts.count(bundles[0].sha256) <= 3, f"the first is sent {puts.count(bundles[0].sha256)} times")

    every({f"{status}, {name}": (status, is_resumed, code) for status, code in ((404, "endpoint"), (403, "credentials"))
           for name, is_resumed in (("resumed", True), ("run again", False))}, judge)


def no_url_for_one(bench):
    """The same of a command that has no URL for one capture."""
    bundles = bench.stock[:3]

    def judge(name, is_resumed):
        with Scripted(lambda request: Reply(201 if request.method == "PUT" else 405)) as server:
            rig = bench.rig()
            command = f'test "$CAPQUEUE_ID" != {bundles[0].id} && echo {server.url}/$CAPQUEUE_SHA256'
            rig.dest("web", "put", "--url-command", command, "--retry", AT_ONCE)
            rig.push(*bundles)
            lands_the_others(rig, bundles, is_resumed)
            paths = sorted(request.path.strip("/") for request in server.seen("PUT"))
            expect(paths == sorted(bundle.sha256 for bundle in bundles[1:]), f"put were {paths}")

    every({"resumed": True, "run again": False}, judge)


def refusing_proxy(bench):
    """A proxy that makes no connection: the destination waits, and the message names what the proxy said."""
    def judge(name, code):
        with Bare(lambda client, _: (received(client), client.sendall(answer(name, "Connection: close")))) as proxy:
            rig = bench.rig()
            rig.dest("web", "put", "--url", "https://captures.invalid/{sha256}", "--proxy", proxy.url)
            rig.push(bench.stock[0])
            rig.send("--once", code=15)
        row, place = rig.delivery(bench.stock[0]), rig.destination("web")
        expect((row.state, row.attempts) == ("pending", 0), f"is {row.state} after {row.attempts} attempts: "
               f"{row.error_code} {row.error_message}")
        expect(place.held_code == code and name in (place.held_reason or ""), f"held as {place.held_code}: "
               f"{place.held_reason!r}")

    every({"503": "offline", "407": "credentials"}, judge)


def full_folder(bench):
    """A drop folder on a full disk: held for want of room, nothing burned; with room it lands."""
    rig, bundle = bench.rig(), bench.big(200_000)
    folder = rig.folder / "disk"
    with mounted(rig, folder, small("1m")) as place:
        place.run("dest", "add", "disk", "--kind", "folder", "--path", folder).must(0, about="dest add")
        place.shell('head -c 9999999 /dev/zero > "$0/filler"')
        rig.push(bundle)
        place.run("run", "--once", seconds=60).must(15, about="run")
        row, held = rig.delivery(bundle), rig.destination("disk")
        expect((row.state, row.attempts) == ("pending", 0), f"is {row.state} after {row.attempts} attempts: "
               f"{row.error_code} {row.error_message}")
        expect(held.held_code == "full" and held.held_reason, f"held as {held.held_code}: {held.held_reason!r}")
        names = {path.name for path in place.inside.iterdir()}
        expect(names == {".capqueue-destination", "filler"}, f"the folder has {names}")
        place.shell('rm "$0/filler"').must(0, about="rm")
        place.run("resume", "--dest", "disk").must(0, about="resume")
        place.run("run", "--until-empty", seconds=60).must(0, about="run with room")
        expect((place.inside / f"{bundle.id}.bundle").read_bytes() == bundle.data, "other bytes are there")


def flood(bench):
    """A command that prints without end stops no run from ending, and goes with it."""
    def judge(option, is_hook):
        with CaptureAPI(bench.public) as api:
            rig = bench.rig()
            with cleaned(rig):
                if is_hook:
                    rig.http(api.url)
                elif option == "--token-command":
                    rig.http(api.url, option, FLOOD)
                else:
                    rig.dest("web", "put", option, FLOOD, "--retry", "0,600")
                rig.push(bench.stock[0])
                words = ("--watch", option, FLOOD) if is_hook else ("--until-empty",)
                with rig.start("run", "--grace", "1s", *words) as running:
                    wait_until((rig.out / "pids").exists, "the command to be run")
                    # Less than the 30 seconds that a command has in any case.
                    running.stop(seconds=20).must(0, 14, *ENDED[SIGTERM], about=f"run {option}")
                wait_until(lambda: not left(rig), "what prints goes with the run", seconds=20)
            if not is_hook:
                row = rig.delivery(bench.stock[0])
                expect(row.state in ("pending", "failed") and row.attempts <= 1, f"is {row.state}, {row.attempts}")

    every({"--on-event": True, "--url-command": False, "--token-command": False}, judge)


def tested(bench):
    """`dest test`: what the server says decides: 0 usable, 15 not now, 78 not so."""
    codes = {"put": {200: 0, 404: 0, 405: 0, 302: 78, 400: 78, 429: 15, 500: 15, 503: 15}, "http": {429: 15, 503: 15}}

    def judge(name, case):
        kind, status, code = case
        with Scripted(lambda request: Reply(status, {"Location": "/login"} if status == 302 else {})) as server:
            rig = bench.rig()
            if kind == "http":
                rig.http(server.url, name="it")
            else:
                rig.dest("it", "put", "--url", server.url + "/{sha256}")
            result = rig.run("dest", "test", "it").must(code, about="dest test")
            expect(str(status) in result.text + result.out.decode(), f"it says {result.out!r}, {result.text!r}")
            expect(not server.seen("PUT"), "dest test sends a capture")

    every({f"{kind}, {status}": (kind, status, code) for kind, told in codes.items()
           for status, code in told.items()}, judge)


def end_not_taken(bench):
    """The end of a session that the server does not take is work left, and due, until it does."""
    def phase():
        name, word, *_ = rig.run("session", "list").must(0, about="session list").out.decode().split()
        return name, word

    with Store() as server:
        server.says = [Reply(500)] * 9
        rig = rig_to(bench, server, bundles=bench.stock[:1])
        end(rig)
        for _ in range(2):
            rig.send("--once", code=15)
            expect(rig.states() == {"completed"} and server.ends, f"the member is {rig.states()}")
            expect(phase() == ("roof", "due"), f"session list says {phase()}")
        server.says = [Reply(204)]
        rig.send("--until-empty", code=0)
        expect(phase() == ("roof", "told"), f"then session list says {phase()}")
        count = len(server.ends)
        rig.send("--once", code=0)
        expect(len(server.ends) == count, "it is told again")


def state_of_a_failure(bench):
    """A try that failed is told as `failed`, however soon the next one is."""
    bundle = bench.stock[0]
    for words in (["--json"], []):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            api.always(Answer(503))
            rig.http(api.url, "--verify-url", "none", retry="0,0,0,0,0,0")
            rig.push(bundle)
            result = rig.send("--until-empty", *words, code=14)
        if words:
            events = [event for event in map(json.loads, result.out.splitlines()) if event.get("id") == bundle.id]
            told = [(event["event"], event["state"]) for event in events if event["event"] != "attempt"]
            wanted = [("failed", "failed")] * 5 + [("permanently_failed",) * 2]
        else:
            told = [tuple(line.split()) for line in result.out.decode().splitlines()]
            wanted = [(bundle.id, "failed")] * 5 + [(bundle.id, "permanently_failed")]
        expect(told == wanted, f"run {' '.join(words)} tells {told}")


FAMILY = [
    ("a status for one capture alone", refused_alone),
    ("--url-command that fails for one capture alone", no_url_for_one),
    ("a proxy that refuses", refusing_proxy),
    ("a folder on a full disk", full_folder),
    ("commands that print without end", flood),
    ("dest test goes by what the server says", tested),
    ("a session's end that is not taken", end_not_taken),
    ("a failed try is told as failed", state_of_a_failure),
]
