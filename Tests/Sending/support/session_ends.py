"""A server that accepts bundles and ends of sessions, and rigs that report session ends to it."""
import uuid

from checks import expect
from rigs import AT_ONCE
from scripted import Reply, Scripted, in_json


class Store(Scripted):
    """Accepts bundles and ends of sessions. `says` lists the next answers to ends, `refuses` the hashes to refuse.

    With a `gate` it waits for that before it answers an end; `told` lists the ends that it received.
    """

    def __init__(self):
        super().__init__(self._reply)
        self.says, self.refuses, self.gate, self.told = [], set(), None, []

    def _reply(self, request):
        if request.method == "PUT":
            return Reply(422 if request.path.strip("/") in self.refuses else 201)
        if request.method != "POST":
            return Reply(405)
        if self.gate:
            self.told.append(request)
            self.gate.wait(30)
        return self.says.pop(0) if self.says else in_json({"ok": True})

    @property
    def ends(self):
        return self.seen("POST")


def rig_to(bench, server, *options, bundles=()):
    rig = bench.rig()
    add(rig, "web", server, *options)
    if bundles:
        rig.push(*bundles, options=("--session", "roof"))
    return rig


def add(rig, name, server, *options):
    rig.dest(name, "put", "--url", f"{server.url}/{{sha256}}", "--session-end-url", f"{server.url}/sessions/roof",
             "--retry", AT_ONCE, *options)


def end(rig, *options):
    rig.run("session", "end", "roof", *options).must(0, about="session end")


def markers(rig):
    with rig.database() as database:
        return database.execute("SELECT key, attempts, sent_at, answer FROM markers ORDER BY destination").fetchall()


def told(request, bundles, incomplete=False):
    """Checks the body of a session end."""
    body = request.json
    expect(set(body) == {"captures", "ended_at", "incomplete", "session"}, f"members are {sorted(body)}")
    expect((body["session"], body["incomplete"]) == ("roof", incomplete), f"it says {body}")
    wanted = [{"id": bundle.id, "sha256": bundle.sha256} for bundle in bundles]
    expect(sorted(body["captures"], key=str) == sorted(wanted, key=str), f"its captures are {body['captures']}")
    expect(uuid.UUID(request.headers["idempotency-key"]), "no key")
    expect(request.headers["content-type"].startswith("application/json"), f"{request.headers}")
