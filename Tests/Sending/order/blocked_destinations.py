"""What blocks a destination, and what this costs a capture: nothing if the destination is at fault."""
import time

from capture_api import Answer, CaptureAPI
from checks import every, expect
from nginx import free_port
from rigs import AT_ONCE, wait_until
from scripted import Reply, Scripted

LATER = Reply(429, {"Retry-After": "1"})


def put_to(bench, server, *bundles, options=("--retry", AT_ONCE)):
    rig = bench.rig()
    rig.dest("web", "put", "--url", server.url + "/{sha256}", *options)
    for bundle in bundles:
        rig.push(bundle)
    return rig


def sent(server):
    """Returns the hashes in the order of the PUTs."""
    return [request.path.strip("/") for request in server.seen("PUT")]


def taking(request):
    return Reply(201 if request.method == "PUT" else 405)


def over(rig):
    """Ends the block of the destination, so that no test waits five minutes."""
    with rig.database() as database:
        database.execute("UPDATE destinations SET blocked_until = 1 WHERE blocked_until IS NOT NULL")


def between_tries(rig, bundle):
    """Returns the delivery once no try is under way; a running try counts until its result is known."""
    return wait_until(lambda: (row := rig.delivery(bundle)).state != "uploading" and row, "the try to end")


def burned(rig):
    return sum(row.attempts for row in rig.deliveries())


def always_told_to_wait(bench):
    """If the most urgent capture is always told to wait, the others land first, and then it uses its attempts."""
    bad, *others = bench.stock[:5]

    def reply(request):
        return LATER if bad.sha256 in request.path and request.method == "PUT" else taking(request)

    with Scripted(reply) as server:
        rig = put_to(bench, server)
        rig.push(bad, options=("--priority", "10"))
        rig.push(*others)
        with rig.start("run", "--watch") as running:
            wait_until(lambda: all(rig.delivery(one).state == "completed" for one in others), "the others to land")
            order = sent(server)
            expect(order[0] == bad.sha256, "the most urgent is not the first")
            expect(order[1:5] == [one.sha256 for one in others], f"it comes before others: {order}")
            wait_until(lambda: sent(server).count(bad.sha256) >= 3, "it to be tried again")
            # No other capture landed since its last try but one.
            before = between_tries(rig, bad).attempts
            expect(before <= 1, f"{before} attempts are used")
            rig.push(bench.stock[5])
            wait_until(lambda: between_tries(rig, bad).attempts > before, "an attempt to be used after a landing")
            running.stop()


def too_large_for_the_server(bench):
    """After 507 to one capture alone the others land at the next try, and only this one uses an attempt."""
    bad, *others = bench.stock[:5]
    with Scripted(lambda request: Reply(507) if bad.sha256 in request.path and request.method == "PUT"
                  else taking(request)) as server:
        rig = put_to(bench, server, bad, *others)
        rig.send("--once", code=15)
        expect((rig.delivery(bad).attempts, rig.destination("web").blocked_reason) == (0, "full"), "not blocked")
        rig.send("--once", code=15)
        expect(sent(server)[1:5] == [one.sha256 for one in others], "it keeps others back")
        expect((rig.delivery(bad).state, rig.delivery(bad).attempts) == ("failed", 1), "it uses no attempt")


def wrong_url(bench):
    """With a mistake in the URL nothing fails for good and the run ends; all captures land once the URL is right."""
    bundles = bench.bundles(20)
    with Scripted(lambda request: Reply(400) if "/wrong/" in request.path else taking(request)) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/wrong/{sha256}", "--concurrency", "4")
        rig.push(*bundles)
        start = time.monotonic()
        result = rig.send("--until-empty", code=15)
        expect(time.monotonic() - start < 60, "the run waits for what only the user can put right")
        expect({(row.state, row.attempts) for row in rig.deliveries()} == {("pending", 0)}, f"{rig.states()}")
        expect(len(sent(server)) < 10, f"{len(sent(server))} transfers to a server that refuses all")
        place = rig.destination("web")
        expect(place.blocked_reason == "refusing" and "400" in place.blocked_message, f"{place.blocked_message!r}")
        expect("refuses" in result.text, f"there is no message about it: {result.text[-300:]!r}")
        result = rig.run("status", "--check").must(15, about="status --check")
        expect(result.out.startswith(b"20 captures cannot be sent, because web is blocked (refusing): "), f"{result.out!r}")
        rig.run("dest", "set", "web", "--url", server.url + "/{sha256}").must(0, about="dest set")
        rig.send("--until-empty", code=0)
        expect({(row.state, row.attempts) for row in rig.deliveries()} == {("completed", 1)}, f"{rig.states()}")
        rig.run("status", "--check").must(0, about="status --check when all landed")


def refused_run_by_run(bench):
    """Five refusals over five short runs block too; then every five minutes another is tried, until one lands."""
    bundles, answer = bench.stock[:8], [400]
    with Scripted(lambda request: Reply(answer[0]) if request.method == "PUT" else Reply(405)) as server:
        rig = put_to(bench, server)
        for bundle in bundles[:4]:
            rig.push(bundle)
            rig.send("--once", code=14)
        rig.push(*bundles[4:])
        rig.send("--once", code=15)
        expect(len(sent(server)) == 5 and rig.states() == {"pending"}, f"{len(sent(server))} transfers, {rig.states()}")
        rig.send("--once", code=15)
        expect(len(sent(server)) == 5, "a run does not know the result of the one before")
        for number, status in enumerate((400, 503, 413), 5):
            answer[0] = status
            over(rig)
            rig.send("--once", code=15)
            expect(sent(server)[5:] == [one.sha256 for one in bundles[5:number + 1]], f"tried were {sent(server)[5:]}")
            expect(rig.states() == {"pending"} and burned(rig) == 0, f"{rig.states()}, {burned(rig)} attempts")
            left = rig.destination("web").blocked_until / 1000 - time.time()
            expect(240 < left <= 300, f"the next try is in {left:.0f} s")
        answer[0] = 201
        over(rig)
        rig.send("--until-empty", code=0)
        expect(rig.destination("web").blocked_reason is None, "a success does not lift the block")


def few_captures(bench):
    """If only two captures are refused, they fail as the table says."""
    with Scripted(lambda request: Reply(400)) as server:
        rig = put_to(bench, server, *bench.stock[:2])
        rig.send("--until-empty", code=14)
        expect(rig.states() == {"permanently_failed"} and rig.destination("web").blocked_reason is None,
               f"{rig.states()}, blocked as {rig.destination('web').blocked_reason}")


def few_that_are_left(bench):
    """If a destination refuses everything, the last two captures fail for good, each after its own trial."""
    bundles = bench.stock[:7]
    with Scripted(lambda request: Reply(413) if request.method == "PUT" else Reply(405)) as server:
        rig = put_to(bench, server, *bundles)
        rig.send("--once", code=15)
        expect(rig.states() == {"pending"}, f"{rig.states()}")
        rig.run("cancel", *[bundle.id for bundle in bundles[:5]]).must(0, about="cancel")
        for _ in range(2):
            over(rig)
            rig.send("--once", code=(14, 15))
        states = [rig.delivery(bundle).state for bundle in bundles[5:]]
        expect(states == ["permanently_failed"] * 2, f"the last two are {states}")


def outage(bench):
    """If all captures fail, broken connections, pages and 502 to 504 use no attempts, and the trials rotate."""
    bundles = bench.stock[:8]

    def judge(name, reply):
        with Scripted(lambda request: reply) as server:
            rig = put_to(bench, server, *bundles)
            rig.send("--once", code=15)
            expect(rig.destination("web").blocked_reason == "failing" and burned(rig) == 5, f"{burned(rig)} attempts")
            for _ in range(6):
                over(rig)
                rig.send("--once", code=15)
            expect(burned(rig) == 5, f"{burned(rig)} attempts are used; 5 are right, for the tries before the block")
            tries = sorted(len(rig.tries(bundle)) for bundle in bundles)
            expect(tries == [1, 1, 1, 1, 1, 2, 2, 2], f"the trials do not rotate: {tries}")

    page = {"Content-Type": "text/html"}
    every({"a broken connection": Reply(lost=True), "a page": Reply(403, page, b"<html>"),
           **{str(status): Reply(status) for status in (502, 503, 504)}}, judge)


def the_servers_own_errors(bench):
    """A JSON error of the API uses an attempt even if all captures fail."""
    with CaptureAPI(bench.public) as api:
        api.always(Answer(503))
        rig = bench.rig()
        rig.http(api.url, "--verify-url", "none")
        rig.push(*bench.stock[:8])
        rig.send("--once", code=15)
        over(rig)
        rig.send("--once", code=15)
        expect(burned(rig) == 6, f"{burned(rig)} attempts are used")


def whole_table_again(bench):
    """`retry` gives a capture all its attempts again."""
    with Scripted(lambda request: Reply(500) if request.method == "PUT" else Reply(405)) as server:
        rig = put_to(bench, server, bench.stock[0], options=("--retry", "0,0,0"))
        for count in (3, 6):
            rig.send("--until-empty", code=14)
            row = rig.delivery(bench.stock[0])
            expect((row.state, row.attempts, len(sent(server))) == ("permanently_failed", 3, count), f"{row.attempts}")
            rig.run("retry", bench.stock[0].id).must(0, about="retry")


def older_transfer(bench):
    """One of two transfers is told to wait a minute; a later success of the other does not end the wait."""
    slow, second, third = bench.stock[:3]

    def reply(request):
        if request.method != "PUT":
            return Reply(405)
        if slow.sha256 in request.path:
            time.sleep(3)
            return Reply(201)
        return Reply(429, {"Retry-After": "60"})

    with Scripted(reply) as server:
        rig = put_to(bench, server, slow, second, third, options=("--concurrency", "2"))
        with rig.start("run", "--watch") as running:
            wait_until(lambda: rig.delivery(slow).state == "completed", "the older transfer to end")
            time.sleep(2)
            running.stop()
        place = rig.destination("web")
        expect(place.blocked_reason == "wait" and place.blocked_until / 1000 - time.time() > 30, "it is forgotten")
        expect(len(sent(server)) == 2, f"{len(sent(server))} transfers")


def one_outage_for_all_lanes(bench):
    """With four transfers at a time a missing server is found once, and the next probe follows after one second."""
    rig = bench.rig()
    rig.dest("web", "put", "--url", f"http://127.0.0.1:{free_port()}/{{sha256}}", "--concurrency", "4")
    rig.push(*bench.stock[:8])
    rig.send("--once", code=15)
    place = rig.destination("web")
    expect((place.blocked_reason, place.blocked_for) == ("offline", 1000), f"looked for after {place.blocked_for} ms")


def not_such_a_server(bench):
    """404 to POST is not about the capture, whatever its code: it blocks the destination and uses no attempt."""
    def judge(name, code):
        with CaptureAPI(bench.public) as api:
            api.always(Answer(404, code))
            rig = bench.rig()
            rig.http(api.url)
            rig.push(*bench.stock[:3])
            rig.send("--until-empty", code=15)
            reason = "credentials" if code == "DEVICE_NOT_FOUND" else "endpoint"
            expect(rig.destination().blocked_reason == reason, f"blocked as {rig.destination().blocked_reason}")
            expect(rig.states() == {"pending"} and burned(rig) == 0 and len(api.seen()) == 1, f"{rig.states()}")
            # `dest test` asks for a capture that no server has, so a 404 with a code comes from the right server.
            api.always(None)
            rig.run("dest", "test", "api").must(0, about="dest test")

    every({code: code for code in ("HASH_NOT_FOUND", "ROUTE_NOT_FOUND", "DEVICE_NOT_FOUND")}, judge)


FAMILY = [
    ("a capture that is always told to wait does not delay the others", always_told_to_wait),
    ("a capture that is too large for the server does not delay the others", too_large_for_the_server),
    ("with a mistake in a URL no capture fails for good", wrong_url),
    ("a destination that refuses everything is blocked, run by run", refused_run_by_run),
    ("refusals of two captures are obeyed", few_captures),
    ("refusals of the last two captures are obeyed", few_that_are_left),
    ("an outage uses no attempt, and the trials rotate", outage),
    ("an error of the API itself counts in an outage", the_servers_own_errors),
    ("retry allows all attempts of the table again", whole_table_again),
    ("an older transfer's end does not end a newer block", older_transfer),
    ("a missing server is one outage for all transfers", one_outage_for_all_lanes),
    ("404 to POST blocks the destination", not_such_a_server),
]
