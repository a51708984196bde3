"""What the reviews found after the first regression tests: answers that stray, hooks that write, holds that starve."""
import contextlib
import hashlib
import json
import shlex
import tarfile
from signal import SIGTERM

from capture_api import Answer, CaptureAPI
from checks import every, expect
from early_success import Bare, ID, answer, received
from markers import markers
from poison import lands_the_others
from put_bytes import findings, referred
from rigs import AT_ONCE, DEVICE, wait_until
from running import ENDED
from scripted import Reply, Scripted, in_json
from secrets_kept import outputs
from tls_trust import TOKEN, token_of


class Shelf:
    """What a plain store answers, and the bodies that it has, by path; `refuses` are paths that it takes no more."""

    def __init__(self):
        self.kept, self.refuses = {}, set()

    def __call__(self, request):
        if request.method == "HEAD":
            return Reply(200, {"Content-Length": str(len(self.kept[request.path]))}) if request.path in self.kept \
                else Reply(404)
        if request.method != "PUT":
            return Reply(500)
        if request.path in self.refuses:
            return Reply(413)
        self.kept[request.path] = request.body
        return Reply(201)


class Stammering:
    """An endpoint that names URLs, for `Bare`. `again` says its last answer once more, over the same connection."""

    def __init__(self, url):
        self.url, self.asked, self.last = url, 0, None

    def __call__(self, client, _):
        while heard := received(client):
            body = json.dumps({"url": f"{self.url}/{json.loads(heard.body)['sha256']}"}).encode()
            self.asked += 1
            self.last = client, answer(200, "Content-Type: application/json", body=body)
            client.sendall(self.last[1])

    def again(self):
        client, data = self.last
        with contextlib.suppress(OSError):  # a client that has closed its end does not hear it
            client.sendall(data)


def answered_twice(bench):
    """put: an answer of the URL endpoint that comes again, while its capture is put, is not the next one's answer."""
    bundles, shelf = bench.stock[:3], Shelf()

    def reply(request):
        if request.method == "PUT":
            desk.again()
        return shelf(request)

    with Scripted(reply) as store:
        desk = Stammering(store.url)
        with Bare(desk) as endpoint:
            rig = bench.rig()
            rig.dest("web", "put", "--url-endpoint", endpoint.url + "/sign", "--retry", AT_ONCE)
            rig.push(*bundles)
            rig.send("--until-empty", code=0)
    expect(rig.states() == {"completed"}, f"they are {rig.states()}")
    wrong = [bundle.id for bundle in bundles if shelf.kept.get(f"/{bundle.sha256}") != bundle.data]
    expect(not wrong and len(shelf.kept) == 3, f"{len(wrong)} of 3 are not under their URLs: {list(shelf.kept)}")
    expect(desk.asked == 3, f"the endpoint was asked {desk.asked} times")


def changed_by_a_hook(bench):
    """http, by reference: wrong bytes when the body is laid out, right ones when it is sent: none of them arrives."""
    bundle = bench.stock[0]
    whole = bench.body(bundle)
    with tarfile.open(bundle.path, "r:") as archive:
        ends = {member.name: member.offset_data + member.size - 1 for member in archive.getmembers() if member.size}
    expect({"manifest.json", "assertion.cbor"} <= set(ends), f"members are {sorted(ends)}")
    yes = in_json({"data": {"capture_id": ID, "status": "complete"}}, 202)

    def judge(name, case):
        place, is_signed = case
        rig, path = referred(bench, "referred", bundle)
        command = f"cat {shlex.quote(str(bundle.path))} 1<> {shlex.quote(str(path))}; echo {TOKEN}"
        # Without a signature the body is read once only: as it is sent.
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

    every({f"{name}, {word}": (place, is_signed) for name, place in ends.items()
           for word, is_signed in (("signed", True), ("not signed", False))}, judge)


def urgent_poison(bench):
    """A capture of high priority that is refused with 403 holds nobody up for longer than the next runs."""
    first, *others = bundles = bench.stock[:3]

    def pushed(rig):
        rig.push(first, options=("--priority", "5"))
        rig.push(*others)
        lands_the_others(rig, bundles, False)

    def put():
        shelf = Shelf()
        with Scripted(lambda request: Reply(403) if first.sha256 in request.path else shelf(request)) as server:
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", AT_ONCE)
            pushed(rig)

    def http():
        with CaptureAPI(bench.public) as api:
            api.poison[hashlib.sha256(bench.body(first)).hexdigest()] = Answer(403, "FORBIDDEN")
            rig = bench.rig()
            rig.http(api.url, name="web")
            pushed(rig)
            api.holds(*map(bench.photo, others))

    every({"put": put, "http": http}, lambda _, send: send())


def ends_refused(bench):
    """--until-empty comes to an end though one session's end is refused and another's is not to be told any more."""
    shelf, (whole, kept, lost) = Shelf(), bench.stock[:3]
    with Scripted(shelf) as server:
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--session-end-url", server.url + "/end",
                 "--retry", AT_ONCE)
        rig.push(whole, options=("--session", "whole"))
        rig.push(kept, lost, options=("--session", "torn"))
        for name in ("whole", "torn"):
            rig.run("session", "end", name).must(0, about="session end")
        rig.send("--once", code=15)
        expect(len(markers(rig)) == 2, f"recorded are {markers(rig)}")
        # The server loses one of the second session and refuses it from now on, so that session is torn for good.
        del shelf.kept[f"/{lost.sha256}"]
        shelf.refuses.add(f"/{lost.sha256}")
        found = findings(rig.run("check", "--remote", "--json"))
        expect([(line["kind"], line["id"]) for line in found] == [("lost", lost.id)], f"it finds {found}")
        rig.send("--once", code=(14, 15))
        expect(rig.delivery(lost).state == "permanently_failed", f"it is {rig.delivery(lost).state}")
        rig.send("--until-empty", code=(14, 15))
        told = [request.json["session"] for request in server.seen("POST")]
    expect(told.count("torn") == 1, f"the end of the torn session is told {told.count('torn')} times")
    expect(5 <= told.count("whole") <= 10, f"the other end is told {told.count('whole')} times")
    expect(all(sent is None for _, _, sent, _ in markers(rig)), f"recorded without a yes: {markers(rig)}")


def paced_and_signed(bench):
    """--bwlimit is of what is sent: a signature over 8 MB is not made at that rate, nor counted as sent."""
    bundle, rate = bench.big(), 20_000
    with CaptureAPI(bench.public, buffer=65536) as api:
        rig = bench.rig()
        rig.http(api.url, "--bwlimit", "20kB")
        rig.push(bundle)
        with rig.start("run", "--once", "--grace", "1s") as running:
            # Nearly seven minutes at that rate.
            expect(len(bundle.data) > rate * 300, "too small to tell")
            wait_until(api.seen, "the head of the request")
            running.stop().must(14, 15, *ENDED[SIGTERM], about="run")
    count = sum(row.bytes_sent for row in rig.tries(bundle))
    lines = [line for line in rig.run("status", "--prometheus").must(0).out.decode().splitlines()
             if line.startswith("capqueue_sent_bytes_total")]
    expect(count < len(bundle.data) / 2, f"{count} bytes of {len(bundle.data)} are recorded as sent")
    expect(sum(float(line.rpartition(" ")[2]) for line in lines) == count, f"{count} bytes, and status says {lines}")


def word_in_a_header(bench):
    """An own header that has the word TIMESTAMP: the server's code is still read, and the request signed anew."""
    def judge(code, header):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            api.answer(Answer(401, code))
            rig.http(api.url, "--header", header)
            rig.push(bench.stock[0])
            rig.send("--once", code=0)
            expect([request.status for request in api.seen()] == [401, 202], f"{len(api.seen())} uploads")
            expect(api.seen()[0].headers["x-env"] == header.partition(": ")[2], "the header was not sent")
            api.content()
        row = rig.delivery(bench.stock[0])
        expect((row.state, row.attempts) == ("completed", 1), f"is {row.state} after {row.attempts} attempts")

    every({"TIMESTAMP_EXPIRED": "X-Env: TIMESTAMP", "REPLAY_DETECTED": "X-Env: REPLAY_DETECTED"}, judge)


def told_reasons(bench):
    """The reason of a rejection that repeats the bearer token: it is shown, and the token nowhere."""
    def judge(name, is_polled):
        rig, bundle = bench.rig(), bench.stock[0]
        no = {"data": {"capture_id": ID, "status": "rejected", "reason": f"too flat for Bearer {TOKEN}"}}
        with CaptureAPI(bench.public) as api:
            api.token = TOKEN
            if is_polled:
                api.answer(Answer(202, body={"data": {"capture_id": ID, "status": "processing"}}))
                api.answer(Answer(200, body=no), to="poll")
            else:
                api.answer(Answer(202, body=no))
            rig.http(api.url, *token_of(rig))
            rig.push(bundle)
            result = rig.send("--until-empty", "--json", "--on-event", "cat >> hook", code=14)
        row = rig.delivery(bundle)
        expect(row.state == "permanently_failed" and "too flat" in (row.error_message or ""), f"is {row.state}: "
               f"{row.error_message!r}")
        said = {"the output": result.out, "standard error": result.err, "the hook": (rig.out / "hook").read_bytes(),
                "the database": "\n".join(dumped(rig)).encode(), **outputs(rig, bundle, "api")}
        for words, text in said.items():
            expect(TOKEN.encode() not in text, f"{words} shows the token")

    every({"in the first answer": False, "by a poll": True}, judge)


def dumped(rig):
    """All that the queue keeps, as SQL."""
    with rig.database() as database:
        return list(database.iterdump())


FAMILY = [
    ("put: the URL endpoint answers twice", answered_twice),
    ("http by reference: a hook that writes", changed_by_a_hook),
    ("403 for one capture of high priority", urgent_poison),
    ("a session's end refused beside one that is not due", ends_refused),
    ("http: --bwlimit and a signature", paced_and_signed),
    ("http: --header with a word of the server's codes", word_in_a_header),
    ("http: the reason of a rejection repeats the token", told_reasons),
]
