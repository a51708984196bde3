"""put: what an interrupted upload of ours left at a fetched URL, on a server that keeps the beginning under the name."""
import dataclasses

from Kit.outcomes import every, expect
from Kit.servers.raw_server import Bare, answer, received
from Sending.answers.tries import added, is_left, some


@dataclasses.dataclass
class Dav:
    """A WebDAV server as wsgidav 4.4.0: it obeys conditions, and keeps what arrived of a torn PUT."""

    torn_at: int | None  # it breaks the connection of the first PUT after these bytes
    kept: bytes | None = None
    version: int = 0
    etag: str = '"v{}"'  # none if it is empty
    knows_match: bool = True
    is_changed: bool = False  # by somebody else, after each look

    def __post_init__(self):
        self.puts, self.looks = [], []

    def __call__(self, client, _):
        while heard := received(client, self.torn_at if not self.puts else None):
            headers = dict(heard.headers)
            if heard.method == "PUT":
                self.puts.append(headers)
                if self.torn_at is not None and len(self.puts) == 1:
                    self.keep(heard.body[:self.torn_at])
                    return
            else:
                self.looks.append((heard.method, headers.get("if-match")))
            client.sendall(self.reply(heard, headers))

    def reply(self, heard, headers):
        is_there = self.kept is not None
        match, none = headers.get("if-match"), headers.get("if-none-match")
        if self.knows_match and match and match != self.tag or none == "*" and is_there and heard.method == "PUT":
            return answer(412)
        if heard.method == "PUT":
            self.keep(heard.body)
            return answer(204 if is_there else 201)
        if not is_there:
            return answer(404)
        told = [f"Content-Length: {len(self.kept)}", *([f"ETag: {self.tag}"] if self.etag else [])]
        body, self.version = self.kept if heard.method == "GET" else b"", self.version + self.is_changed
        return answer(200, *told, body=body)

    def keep(self, data):
        self.kept, self.version = data, self.version + 1

    @property
    def tag(self):
        return self.etag.format(self.version)


def replaced(bench):
    """What our own torn PUT left is replaced by the next try, under the ETag that was seen, after the server has
    refused an ETag that nothing has."""
    bundle = bench.stock[0]
    dav = Dav(torn_at=len(bundle.data) - 600)
    with Bare(dav) as server:
        rig = added(bench, "put", None, "--url-command", f"echo {server.url}/$CAPQUEUE_ID.bundle", retry="0,0,600")
        rig.send("--until-empty", code=0)
    is_left(rig, "completed", 2)
    expect(dav.kept == bundle.data, f"it holds {len(dav.kept)} of {len(bundle.data)} bytes")
    expect([put.get("if-match") for put in dav.puts] == [None, None, '"v1"'], f"{dav.puts}")
    expect(("HEAD", '"capqueue-none"') in dav.looks, f"looked with {dav.looks}")


def not_replaced(bench):
    """Where a server would replace anything, has no ETag, holds less than the manifest, or holds what we did not send,
    nothing is replaced: the message says that it is a torn upload."""
    bundle = bench.stock[0]
    cut = len(bundle.data) - 600
    cases = {"it ignores If-Match": (Dav(cut, knows_match=False), cut), "no ETag": (Dav(cut, etag=""), cut),
             "of another queue": (Dav(None, bundle.data[:cut]), cut),
             "a weak ETag": (Dav(cut, etag='W/"{}"'), cut), "not the whole manifest": (Dav(700), 700)}

    def judge(name, case):
        dav, length = case
        with Bare(dav) as server:
            rig = added(bench, "put", None, "--url-command", f"echo {server.url}/$CAPQUEUE_ID", retry="0,0,600")
            said = rig.send("--until-empty", code=14)
        is_left(rig, "conflict", 1 if dav.torn_at is None else 2)
        words = f"holds the first {length} of {len(bundle.data)} bytes: a torn upload"
        expect(words in said.text, f"run says {said.text!r}")
        expect(dav.kept == bundle.data[:length] and not any("if-match" in put for put in dav.puts), "it was replaced")

    every(some(cases, 3), judge)


def changed_meanwhile(bench):
    """If somebody changes it after it was read, nothing is replaced, and the next try looks again."""
    bundle = bench.stock[0]
    dav = Dav(torn_at=len(bundle.data) - 600, is_changed=True)
    with Bare(dav) as server:
        rig = added(bench, "put", None, "--url-command", f"echo {server.url}/$CAPQUEUE_ID", retry="0,0,600")
        for _ in range(2):
            rig.send("--once", code=15)
        row = is_left(rig, "failed", 2)
    expect("412" in row.error_message and row.in_doubt, f"{row.error_message}, in doubt {row.in_doubt}")
    expect(dav.kept == bundle.data[:-600], "it was replaced")


TESTS = [
    ("what a torn upload of ours left is replaced", replaced),
    ("a torn upload that cannot be replaced for sure is a conflict that says so", not_replaced),
    ("a torn upload that somebody changes meanwhile is not replaced", changed_meanwhile),
]
