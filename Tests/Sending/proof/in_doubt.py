"""The queue asks about a capture that may have landed; it never sends in a loop, and sends twice only if it must."""
import functools
import threading

from Kit.outcomes import IS_LONG, every, expect
from Kit.sending import wait_until
from Kit.servers.capture_api import Answer
from Sending.scenes import Many, sending

# How the answer to an upload can be lost, after the server has stored the capture.
LOST = {
    "the connection ends": Answer(when="stored", then="cut"),
    "the connection is reset": Answer(when="stored", then="reset"),
    "half a status line": Answer(when="stored", then="cut", only=11),
    "half a head": Answer(when="stored", then="cut", only=60),
    "half a body": Answer(when="stored", then="cut", only=250),
    "half a body, reset": Answer(when="stored", then="reset", only=250),
    "500": Answer(500, when="stored"), "502": Answer(502, when="stored", body="<html>", type="text/html"),
    "504": Answer(504, when="stored"),
    "200": Answer(200, body={}, when="stored"), "202 without a body": Answer(202, body=b"", when="stored"),
    "invalid JSON": Answer(202, body='{"data":', when="stored"),
}
# What a server supports: keys, questions, and its answer to a photo that it has.
SERVERS = {
    "keys and questions": (True, True, "500"), "keys only": (True, False, "500"),
    "questions only": (False, True, "500"),
    "questions only, 409 to twins": (False, True, "409"), "neither": (False, False, "twice"),
}


def offering(api, server):
    api.is_idempotent, api.can_verify, api.duplicates = SERVERS[server]


def lost(bench):
    """The capture lands after each way to lose the answer, at each kind of server."""
    ways, servers, bundle = list(LOST), list(SERVERS), bench.stock[0]
    for turn in range(len(servers) if IS_LONG else 1):
        cases = {way: servers[(place + turn) % len(servers)] for place, way in enumerate(ways)}
        with Many(bench, cases) as many:
            for way, server in cases.items():
                offering(many.apis[way], server)
                many.apis[way].answer(LOST[way])
            many.push(bundle)
            many.rig.send("--until-empty", code=0)
            every(cases, functools.partial(lands, many, bundle))


def lands(many, bundle, way, server):
    api, row = many.apis[way], many.row(way, bundle)
    expect((row.state, row.in_doubt) == ("completed", 0), f"{server}: is {row.state}")
    held, sends = [capture.photo for capture in api.stored], api.seen()
    most, wanted = 2 if server == "neither" else 1, 1 if api.can_verify else 2
    expect(1 <= len(held) <= most and set(held) == {many.bench.photo(bundle)}, f"{server} holds {len(held)}")
    expect(row.remote_id in [capture.id for capture in api.stored], f"{server}: the id {row.remote_id} is not its own")
    expect(len({one.key for one in sends}) == 1, f"{server}: another Idempotency-Key for the second try")
    expect(len({one.digest for one in sends}) == 1, f"{server}: another body for the second try")
    expect(len(sends) == wanted, f"{server}: {len(sends)} uploads instead of {wanted}")
    expect(len(api.seen("verify")) <= 2 and row.attempts <= 2, f"{server}: {row.attempts} attempts, "
           f"{len(api.seen('verify'))} questions")
    api.content()
    kind = many.receipt(way, bundle)["confirmed_by"]
    expect(kind == ("verify-file" if wanted == 1 else "answer"), f"{server}: the receipt is from {kind}")


def kept_connection(bench):
    """If a kept connection ends after the second upload was stored, libcurl must not send it again by itself.

    Below 64 KiB the queue does so, under the same key (Spec/upload.md section 4.5)."""
    for then in ("cut", "reset"):
        bundles = [bench.stock[0], bench.big(70_000)]
        with sending(bench, bundles) as (rig, api):
            api.is_idempotent, api.duplicates = False, "twice"
            api.answer(None, Answer(when="stored", then=then))
            rig.send("--until-empty", code=0)
            expect(len({request.port for request in api.seen()[:2]}) == 1, "the connection was not kept")
            api.holds(*map(bench.photo, bundles), about=f"the connection was {then}")
            expect(len(api.seen()) == 2 and len(api.seen("verify")) == 1, f"{len(api.seen())} uploads of two")


def killed_before_commit(bench):
    """After a kill between the server's answer and our commit, the next run asks, or sends with the same key."""
    first, second = bench.stock[:2]
    with Many(bench, SERVERS) as many:
        for server, api in many.apis.items():
            offering(api, server)
            api.answer(Answer(when="stored", then="hang"))
        many.push(first, second)
        with many.rig.start("run", "--until-empty") as running:
            wait_until(lambda: all(api.stored for api in many.apis.values()), "each server stores the first")
            running.kill()
        for server in SERVERS:
            expect(many.row(server, first).state in ("uploading", "pending"), f"{server}: not in doubt")
        many.rig.send("--until-empty", code=0)
        expect(many.rig.states() == {"completed"}, f"after the next run: {many.rig.states()}")

        def judge(server, _):
            api, row = many.apis[server], many.row(server, first)
            expect(1 <= row.attempts <= 2 and not row.in_doubt, f"{row.attempts} attempts, in doubt {row.in_doubt}")
            if server == "neither":
                expect(len(api.stored) <= 3, f"{len(api.stored)} are stored of two")
            else:
                api.holds(*map(bench.photo, (first, second)))
            keys = {one.key for one in api.seen() if one.digest == api.seen()[0].digest}
            expect(len(keys) == 1, "another Idempotency-Key after the restart")

        every(SERVERS, judge)


def still_at_work(bench):
    """If the second request arrives while the server processes the first, it gets 409, and later the first answer."""
    bundle = bench.stock[0]
    with sending(bench, [bundle], retry="0,1,1,1,1,1,1,1,1,1") as (rig, api):
        api.work = threading.Event()
        with rig.start("run", "--until-empty") as running:
            wait_until(lambda: api.seen() and api.seen()[0].digest, "the body has arrived")
            running.kill()
        with rig.start("run", "--until-empty") as running:
            wait_until(lambda: any(one.status == 409 for one in api.seen()), "the key is in use")
            expect(rig.delivery(bundle).state != "completed", "409 is a success")
            api.work.set()
            running.end().must(0, about="the second run")
        api.holds(bench.photo(bundle))
        expect(rig.delivery(bundle).remote_id == api.stored[0].id, "another id")


def bad_proofs(bench):
    """Only a clear yes of the service counts: no other answer adopts a capture, and none causes an endless loop."""
    yes = {"data": {"status": "verified", "capture_id": "7e57ab1e-0000-4000-8000-000000000031"}}
    cases = {
        "no record": None,
        "no id": Answer(200, body={"data": {"status": "verified"}}),
        "an empty id": Answer(200, body={"data": {"status": "verified", "capture_id": ""}}),
        "another word": Answer(200, body={"data": {"status": "maybe", "capture_id": "x"}}),
        "a login page": Answer(200, body="<html>verified</html>", type="text/html"),
        "a yes under 404": Answer(404, body=yes), "a yes under 500": Answer(500, body=yes),
        "garbage": Answer(raw=b"\x15\x16\x17 garbage\r\n\r\n", then="close"), "cut": Answer(200, then="cut"),
        "half a yes": Answer(200, body=yes, then="cut", only=150), "401": Answer(401), "413": Answer(413),
        "429": Answer(429, headers={"Retry-After": "1"}),
    }

    bundle = bench.stock[0]
    with Many(bench, cases) as many:
        for case, answer in cases.items():
            many.apis[case].answer(Answer(202, then="cut"))
            many.apis[case].answer(answer, to="verify")
        many.push(bundle)
        many.rig.send("--until-empty", code=(0, 15))
        many.rig.run("resume").must(0)
        many.rig.send("--until-empty", code=0)

        def adopts_nothing(case, _):
            api, row = many.apis[case], many.row(case, bundle)
            api.holds(bench.photo(bundle))
            expect((row.state, row.remote_id) == ("completed", api.stored[0].id), f"is {row.state}, {row.remote_id}")
            expect(len(api.requests) <= 8, f"{len(api.requests)} requests")

        every(cases, adopts_nothing)


def keys_of_retries(bench):
    """A retry by the user has the old key, but after a final refusal a new one."""
    cases = {"refused for good": ([Answer(400)], True), "attempts used up": ([Answer(503)] * 2, False)}
    bundle = bench.stock[0]
    with Many(bench, cases, retry="0,0") as many:
        for case, (answers, _) in cases.items():
            many.apis[case].answer(*answers)
        many.push(bundle)
        many.rig.send("--until-empty", code=14)
        many.rig.run("retry", "--reset", bundle.id).must(0, about="retry")
        many.rig.send("--until-empty", code=0)
        for case, (_, is_new) in cases.items():
            keys = [request.key for request in many.apis[case].seen()]
            expect((keys[-1] != keys[0]) == is_new, f"{case}: keys are {keys}")


TESTS = [
    ("the answer is lost in twelve ways, at five kinds of servers", lost),
    ("a kept connection ends: the server is asked before anything is sent again", kept_connection),
    ("killed between their yes and our commit, at five kinds of servers", killed_before_commit),
    ("the key is in use", still_at_work),
    ("only a clear yes adopts a capture", bad_proofs),
    ("which retries have a new key", keys_of_retries),
]
