"""Answers about the login, the network or the edge: no attempt is burned, and a later try lands."""
import re

from Kit.outcomes import every, expect
from Kit.servers.scripted import Reply, Scripted, in_json
from Sending.answers.tries import is_left, sent, some

PAGE = b"<!DOCTYPE html>\n<html><head><title>Welcome to the hotel</title></head><body></body></html>"
HTML = {"Content-Type": "text/html"}
XML = '<?xml version="1.0" encoding="UTF-8"?><Error><Code>{}</Code><Message>m</Message></Error>'
KEYS = {"AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "secret"}


def refused(code):
    return Reply(400, {"Content-Type": "application/xml"}, XML.format(code).encode())


def fetched_urls(bench):
    """A fetched URL that is refused with 400 is fetched once more, unless the answer is about the capture."""
    expired, jwt = refused("ExpiredToken"), Reply(400, {"Content-Type": "application/json"}, b'{"message":"jwt expired"}')
    cases = {"expired": ([expired], "completed", 1, None, 2), "jwt": ([jwt], "completed", 1, None, 2),
             "twice": ([expired, expired], "pending", 0, "credentials", 2),
             "too large": ([refused("EntityTooLarge")], "permanently_failed", 1, None, 1)}

    def judge(name, case):
        replies, state, attempts, held, puts = case
        waiting = list(replies)

        def answer(request):
            return Reply(405) if request.method != "PUT" else waiting.pop(0) if waiting else Reply(201)

        with Scripted(answer) as server:
            command = f"echo {server.url}/$CAPQUEUE_SHA256"
            rig = sent(bench, "put", None, "--url-command", command, "--proof", "status")
            is_left(rig, state, attempts, held)
            expect(len(server.seen("PUT")) == puts, f"{len(server.seen('PUT'))} bodies")

    every(cases, judge)


def portals(bench):
    """A page with 200 for everything is an outage for each kind, also if the portal does not know HEAD."""
    def judge(name, kind):
        head = Reply(405 if "HEAD" in name else 200, HTML)
        with Scripted(lambda request: head if request.method == "HEAD" else Reply(200, HTML, PAGE)) as server:
            url = server.url + {"put": "/{sha256}", "s3": "/bucket", "http": "/api"}[kind]
            rig = bench.rig()
            rig.env |= KEYS
            rig.dest("it", kind, "--url", url)
            rig.push(bench.stock[0])
            for number in range(3):
                rig.send(code=15)
                row = is_left(rig, "pending", 0, "failing")
                expect(row.in_doubt and row.error_code == "edge.200", f"{row.in_doubt} {row.error_code}")
                if not number:
                    expect("Welcome to the hotel" in row.error_message, f"says {row.error_message!r}")
            bodies = server.seen("PUT") + server.seen("POST")
            # The trial is a HEAD. If it gets another answer than the outage, the body follows.
            expect(len(bodies) == (3 if "HEAD" in name else 1), f"{len(bodies)} bodies went into the portal")

    every({"put": "put", "s3": "s3", "http": "http", "put, no HEAD": "put"}, judge)


def short_portals(bench):
    """Pages that only lead on to a login need no `html`; they may be XHTML, or have no type."""
    script = b"<script>top.self.location.href='http://10.0.0.1/eportal/index.jsp'</script>\r\n"
    xhtml = b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title></head></html>'
    pages = {"script": (HTML, script), "no type": ({}, b'<meta http-equiv="refresh" content="1; url=/login">'),
             "XHTML": ({"Content-Type": "application/xhtml+xml"}, xhtml)}
    kinds = {"put": "/{sha256}", "s3": "/bucket", "http": "/api"}

    def judge(name, case):
        page, kind = case
        headers, body = pages[page]
        # HEAD has the length of the body.
        with Scripted(lambda request: Reply(200, headers | {"Content-Length": str(len(body))}, b"")
                      if request.method == "HEAD" else Reply(200, headers, body)) as server:
            rig = bench.rig()
            rig.env |= KEYS
            rig.dest("it", kind, "--url", server.url + kinds[kind])
            rig.push(bench.stock[0])
            rig.send(code=15)
            expect(is_left(rig, "pending", 0, "failing").error_code == "edge.200", "another code")

    cases = {f"{page}, {kind}": (page, kind) for page in pages for kind in kinds}
    every(some(cases, 3), judge)


def portal_for_urls(bench):
    """A login page in place of the url-endpoint is an outage, too: no attempt is used, and a URL is asked for anew."""
    replies = [Reply(200, HTML, PAGE)] * 2

    def answer(request):
        if request.method == "POST":
            return replies.pop() if replies else in_json({"url": f"{server.url}/x"})
        return Reply(201 if request.method == "PUT" else 405)

    with Scripted(answer) as server:
        rig = sent(bench, "put", None, "--url-endpoint", f"{server.url}/ask", "--proof", "status", code=15)
        row = is_left(rig, "pending", 0, "failing")
        expect(row.error_code == "edge.200" and not row.in_doubt and "Welcome to the hotel" in row.error_message,
               f"{row.in_doubt} {row.error_code} {row.error_message}")
        rig.send(code=15)
        is_left(rig, "pending", 0, "failing")
        rig.send(code=0)
        is_left(rig, "completed", 1)


def redirected_questions(bench):
    """A network that begins to redirect everything right after an upload burns nothing: the question blocks, and is asked
    again."""
    def judge(name, kind):
        with Scripted(lambda request: Reply(201) if request.method == "PUT"
                      else Reply(302, {"Location": "http://127.0.0.1:9/login"})) as server:
            rig = bench.rig()
            rig.env |= KEYS
            rig.dest("it", kind, "--url", server.url + ("/{sha256}" if kind == "put" else "/bucket"))
            rig.push(bench.stock[0])
            rig.send(code=15)
            expect(is_left(rig, "pending", 0, "endpoint").in_doubt, "not in doubt")

    every({"put": "put", "s3": "s3"}, judge)


def other_connection(bench):
    """421 is repeated on another connection; if it stays, the place is wrong."""
    for times, state, attempts, held in ((1, "completed", 1, None), (9, "pending", 0, "endpoint")):
        left = [Reply(421)] * times

        def answer(request):
            return Reply(405) if request.method != "PUT" else left.pop() if left else Reply(201)

        with Scripted(answer) as server:
            rig = sent(bench, "put", server.url + "/{sha256}")
            is_left(rig, state, attempts, held)
            expect(len(server.seen("PUT")) == 2, f"{len(server.seen('PUT'))} bodies")


def client_certificate(bench):
    """nginx answers 400 with a page that names the client certificate: the login is wrong, and the title is shown."""
    title = "400 No required SSL certificate was sent"
    page = f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n</body>\r\n</html>\r\n".encode()
    with Scripted(lambda request: Reply(400, HTML, page)) as server:
        rig = sent(bench, "put", server.url + "/{sha256}", code=15)
        is_left(rig, "pending", 0, "credentials")
        expect(title in rig.destination("it").blocked_message, rig.destination("it").blocked_message)
    with Scripted(lambda request: Reply(400, HTML, PAGE)) as server:
        is_left(sent(bench, "put", server.url + "/{sha256}", code=15), "pending", 0, "failing")


def nobody_behind(bench):
    """A port that closes each connection burns nothing, however often it is tried, and gets one body."""
    with Scripted(lambda request: Reply(lost=True)) as server:
        rig = sent(bench, "put", server.url + "/{sha256}", code=15)
        for _ in range(2):
            rig.send(code=15)
        row = is_left(rig, "pending", 0, "failing")
        expect(re.match(r"curl\.5[256]", row.error_code) and "nobody is behind" in rig.destination("it").blocked_message,
               f"{row.error_code}: {row.error_message}")
        expect(len(server.seen("PUT")) == 1, f"{len(server.seen('PUT'))} bodies")


TESTS = [
    ("a fetched URL that is refused with 400 is fetched anew", fetched_urls),
    ("a login page with 200 in place of the server", portals),
    ("a login page that only leads on, of any type", short_portals),
    ("a login page in place of the url-endpoint", portal_for_urls),
    ("a redirect in place of the answer to a question", redirected_questions),
    ("421: another connection", other_connection),
    ("400 about a client certificate, and any other page with 400", client_certificate),
    ("an open port with nobody behind it", nobody_behind),
]
