"""The queue asks about a capture that may have landed; it never sends in a loop, and sends twice only if it must."""
import functools
import threading

from capture_api import Answer, CaptureAPI
from checks import every, expect
from fault_proxy import Fault, FaultProxy
from rigs import wait_until

SECONDS = 35
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


def lost(server, bench):
    """The capture lands after each way to lose the answer, at one kind of server."""
    def lands(name, answer):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            offering(api, server)
            api.answer(answer)
            rig.http(api.url)
            rig.push(bundle)
            rig.send("--until-empty", code=0)
            row = rig.delivery(bundle)
            expect((row.state, row.in_doubt) == ("completed", 0), f"is {row.state}")
            held, sends = [capture.photo for capture in api.stored], api.seen()
            most = 2 if server == "neither" else 1
            expect(1 <= len(held) <= most and set(held) == {bench.photo(bundle)}, f"the server holds {len(held)}")
            expect(row.remote_id in [capture.id for capture in api.stored], f"the id {row.remote_id} is not its own")
            expect(len({one.key for one in sends}) == 1, "another Idempotency-Key for the second try")
            expect(len({one.digest for one in sends}) == 1, "another body for the second try")
            wanted = 1 if api.can_verify else 2
            expect(len(sends) == wanted, f"{len(sends)} uploads instead of {wanted}")
            expect(len(api.seen("verify")) <= 2, f"{len(api.seen('verify'))} questions")
            expect(row.attempts <= 2, f"{row.attempts} attempts")
            api.content()
        kind = rig.receipt(bundle)["confirmed_by"]
        expect(kind == ("verify-file" if wanted == 1 else "answer"), f"the receipt is from {kind}")

    every(LOST, lands)


def by_the_proxy(bench):
    """The capture lands after a 202 that never reached us."""
    for server in SERVERS:
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
            offering(api, server)
            proxy.plan(Fault(reply="lose"))
            rig.http(proxy.url)
            rig.push(bundle)
            rig.send("--until-empty", code=0)
            expect(rig.delivery(bundle).state == "completed", f"{server}: is {rig.delivery(bundle).state}")
            expect(len(api.stored) <= (2 if server == "neither" else 1), f"{server}: {len(api.stored)} are stored")


def kept_connection(bench):
    """If a kept connection ends after the second upload was stored, libcurl must not send it again by itself."""
    for then in ("cut", "reset"):
        rig, bundles = bench.rig(), bench.stock[:2]
        with CaptureAPI(bench.public) as api:
            api.is_idempotent, api.duplicates = False, "twice"
            api.answer(None, Answer(when="stored", then=then))
            rig.http(api.url)
            rig.push(*bundles)
            rig.send("--until-empty", code=0)
            expect(len({request.port for request in api.seen()[:2]}) == 1, "the connection was not kept")
            api.holds(*map(bench.photo, bundles), about=f"the connection was {then}")
            expect(len(api.seen()) == 2 and len(api.seen("verify")) == 1, f"{len(api.seen())} uploads of two")


def not_stored(bench):
    """If the connection broke after the last byte and the server stored nothing, the queue asks and sends again."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        api.answer(Answer(202, then="cut"), Answer(500))
        rig.http(api.url)
        rig.push(bundle)
        rig.send("--until-empty", code=0)
        api.holds(bench.photo(bundle))
        words = [request.path.rpartition("/")[2] for request in api.requests]
        # It does not matter whether the queue asks twice in a row, if it asks at all.
        words = [word for place, word in enumerate(words) if word != "verify-file" or words[place - 1] != word]
        expect(words == ["captures", "verify-file", "captures", "verify-file", "captures"], f"requests are {words}")
        row = rig.delivery(bundle)
        expect((row.state, row.attempts) == ("completed", 3), f"is {row.state} after {row.attempts} attempts")


def killed_before_commit(server, bench):
    """After a kill between the server's answer and our commit, the next run asks, or sends with the same key."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        offering(api, server)
        api.answer(Answer(when="stored", then="hang"))
        rig.http(api.url)
        rig.push(*bench.stock[:2])
        with rig.start("run", "--until-empty") as running:
            wait_until(lambda: api.stored, "the server stores the first")
            running.kill()
        expect(rig.delivery(bundle).state in ("uploading", "pending"), f"is {rig.delivery(bundle).state}")
        rig.send("--until-empty", code=0)
        expect(rig.states() == {"completed"}, f"after the next run: {rig.states()}")
        row = rig.delivery(bundle)
        expect(1 <= row.attempts <= 2 and not row.in_doubt, f"{row.attempts} attempts, in doubt {row.in_doubt}")
        if server == "neither":
            expect(len(api.stored) <= 3, f"{len(api.stored)} are stored of two")
        else:
            api.holds(*map(bench.photo, bench.stock[:2]))
        keys = {one.key for one in api.seen() if one.digest == api.seen()[0].digest}
        expect(len(keys) == 1, "another Idempotency-Key after the restart")


def still_at_work(bench):
    """If the second request arrives while the server processes the first, it gets 409, and later the first answer."""
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api:
        api.work = threading.Event()
        rig.http(api.url, retry="0,1,1,1,1,1,1,1,1,1")
        rig.push(bundle)
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
        "no id": Answer(200, body={"data": {"status": "verified"}}),
        "an empty id": Answer(200, body={"data": {"status": "verified", "capture_id": ""}}),
        "another word": Answer(200, body={"data": {"status": "maybe", "capture_id": "x"}}),
        "a login page": Answer(200, body="<html>verified</html>", type="text/html"),
        "a yes under 404": Answer(404, body=yes), "a yes under 500": Answer(500, body=yes),
        "garbage": Answer(raw=b"\x15\x16\x17 garbage\r\n\r\n", then="close"), "cut": Answer(200, then="cut"),
        "half a yes": Answer(200, body=yes, then="cut", only=150), "401": Answer(401), "413": Answer(413),
        "429": Answer(429, headers={"Retry-After": "1"}),
    }

    def adopts_nothing(name, answer):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            api.answer(Answer(202, then="cut"))
            api.answer(answer, to="verify")
            rig.http(api.url)
            rig.push(bundle)
            rig.send("--until-empty", code=(0, 15))
            rig.run("resume", "--dest", "api").must(0)
            rig.send("--until-empty", code=0)
            api.holds(bench.photo(bundle))
            row = rig.delivery(bundle)
            expect((row.state, row.remote_id) == ("completed", api.stored[0].id), f"is {row.state}, {row.remote_id}")
            expect(len(api.requests) <= 8, f"{len(api.requests)} requests")

    every(cases, adopts_nothing)


def never_a_loop(bench):
    """If a server loses every answer, or its service always fails, there are no more attempts than the table has."""
    for name, prepare in {
        "every answer is lost": lambda api: api.always(Answer(202, then="cut")),
        "always 500, and the service too": lambda api: (api.always(Answer(500)), api.always(Answer(500), to="verify")),
        "always 409": lambda api: api.always(Answer(409, "DUPLICATE")),
        "always 200": lambda api: api.always(Answer(200, body={})),
    }.items():
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            prepare(api)
            rig.http(api.url)
            rig.push(bundle)
            rig.send("--until-empty", code=14, about=name)
            row = rig.delivery(bundle)
            expect((row.state, row.attempts) == ("permanently_failed", 10), f"{name}: {row.state}, {row.attempts}")
            expect(len(api.seen()) <= 10 and len(api.seen("verify")) <= 11, f"{name}: {len(api.seen())} uploads, "
                   f"{len(api.seen('verify'))} questions")
            expect(len({one.key for one in api.seen()}) == 1, f"{name}: the key changed between attempts")


def keys_of_retries(bench):
    """A retry by the user has the old key, but after a final refusal a new one."""
    for name, answers, is_new in (("refused for good", [Answer(400)], True),
                                  ("attempts used up", [Answer(503)] * 2, False)):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            api.answer(*answers)
            rig.http(api.url, retry="0,0")
            rig.push(bundle)
            rig.send("--until-empty", code=14, about=name)
            rig.run("retry", "--reset", bundle.id).must(0, about="retry")
            rig.send("--until-empty", code=0, about=f"{name}: again")
            keys = [request.key for request in api.seen()]
            expect((keys[-1] != keys[0]) == is_new, f"{name}: keys are {keys}")


def other_service(bench):
    """--verify-url names another service, or none; with none the queue asks nothing."""
    for name, value, asked in (("none", "none", 0), ("another", "/api/v1/verify-file?by=us", 1)):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            api.answer(Answer(when="stored", then="cut"))
            rig.http(api.url, "--verify-url", value if value == "none" else api.url + value)
            rig.push(bundle)
            rig.send("--until-empty", code=0)
            api.holds(bench.photo(bundle))
            questions = api.seen("verify")
            expect(len(questions) == asked and all("by=us" in one.path for one in questions), f"{name}: {questions}")


FAMILY = [
    *((f"the answer is lost in twelve ways: a server with {server}", functools.partial(lost, server))
      for server in SERVERS),
    ("the network eats the answer", by_the_proxy),
    ("a kept connection ends: the server is asked before anything is sent again", kept_connection),
    ("a cut after the last byte, and the server stored nothing", not_stored),
    *((f"killed between their yes and our commit: a server with {server}",
       functools.partial(killed_before_commit, server)) for server in SERVERS),
    ("the key is in use", still_at_work),
    ("only a clear yes adopts a capture", bad_proofs),
    ("no endless loop", never_a_loop),
    ("which retries have a new key", keys_of_retries),
    ("--verify-url", other_service),
]
