"""The operator's list: its token, its search, its pages of 50 captures."""
import re
import stat
import urllib.parse

from Kit.outcomes import expect
from Receiver.pages import page, text_of, upload
from Receiver.support import receiving

LIST_OPTIONS = ("--operator-port", "0")


class Operator:
    """The operator of a running receiver, who opened the printed address."""

    def __init__(self, receiver):
        line = receiver.process.stdout.readline().decode().strip()
        expect(line.startswith("operator http://127.0.0.1:"), f"the receiver printed {line!r}")
        self.address = urllib.parse.urlsplit(line.split()[1])
        self.port, self.receiver = self.address.port, receiver
        self.token = urllib.parse.parse_qs(self.address.query)["token"][0]
        self.cookie = None

    def get(self, path, cookie=None):
        headers = {"Cookie": cookie or self.cookie} if cookie or self.cookie else {}
        return self.receiver.ask("GET", path, headers, port=self.port)

    def open(self):
        answer = self.get(f"/?{self.address.query}")
        expect(answer.status == 303 and answer.headers["Location"] == "/", f"the token: {answer.status}")
        self.set_cookie = answer.headers["Set-Cookie"]
        self.cookie = self.set_cookie.split(";")[0]
        return self

    def captures(self, **query):
        """The ids of the captures in the list, in its order, and the address of the next page."""
        answer = self.get("/?" + urllib.parse.urlencode(query))
        expect(answer.status == 200, f"the list: {answer.status}")
        source = answer.bytes.decode()
        older = re.search(r'href="/\?([^"]*before=[0-9]+)"', source)
        ids = re.findall(r'<img src="/thumbnails/([0-9a-f.-]+)"', source)
        return ids, dict(urllib.parse.parse_qsl(older[1].replace("&amp;", "&"))) if older else None


def needs_the_token(tools):
    with receiving(tools, *LIST_OPTIONS) as receiver:
        operator = Operator(receiver)
        file = receiver.folder / "operator-token"
        expect(stat.S_IMODE(file.stat().st_mode) == 0o600 and file.read_text() == operator.token, "the file differs")
        wrong = operator.token[:-1] + ("0" if operator.token[-1] != "0" else "1")
        for path, status in [("/", 401), (f"/?token={wrong}", 403), ("/?token=", 403), ("/thumbnails/" + "0" * 36, 401)]:
            answer = operator.get(path)
            expect(answer.status == status and "Set-Cookie" not in answer.headers, f"{path}: {answer.status}")
            expect("for the operator" in text_of(answer), text_of(answer))
        operator.open()
        name = operator.cookie.split("=")[0]
        for attribute in ("HttpOnly", "SameSite=Strict", "Path=/"):
            expect(attribute in operator.set_cookie, f"the cookie is {operator.set_cookie}")
        expect(operator.get("/").status == 200, "the cookie is refused")
        for cookie in (f"{name}={wrong}", f"{name}=", f"other={operator.token}"):
            expect(operator.get("/", cookie).status == 401, f"{cookie[:12]} is accepted")
        # The list is not on the public port, and captures cannot be sent to the operator's.
        expect(receiver.ask("GET", "/", {"Cookie": operator.cookie}).status == 404, "the list is public")
        expect(receiver.ask("POST", "/api/v1/captures", port=operator.port).status == 404, "the operator's port has the API")
        receiver.stop()
        receiver.start()
        expect(Operator(receiver).token == operator.token, "a restart changes the token")


def finds_captures(tools):
    first, second = tools.rig("list-1"), tools.rig("list-2")
    with receiving(tools, *LIST_OPTIONS) as receiver:
        operator = Operator(receiver).open()
        expect("No capture fits" in text_of(operator.get("/")), "an empty list is not explained")
        ids = {}
        for rig, name, day in [(first, "a", "2026-03-13"), (first, "b", "2026-03-14"), (second, "c", "2026-03-14")]:
            ids[name], _ = upload(receiver, rig, name, lambda metadata, day=day: metadata.update(
                captured_at=f"{day}T12:00:00Z"))
        devices = {rig: receiver.device(rig) for rig in (first, second)}
        for query, names in [({}, "cba"), ({"day": "2026-03-14"}, "cb"), ({"device": devices[first]}, "ba"),
                             ({"day": "2026-03-14", "device": devices[first]}, "b"), ({"day": "2026-03-15"}, ""),
                             ({"verdict": "verified"}, "cba"), ({"verdict": "revoked"}, ""),
                             ({"day": "' OR 1=1 --", "device": "\"><script>", "before": "x"}, "cba")]:
            expect(operator.captures(**query)[0] == [ids[name] for name in names], f"{query} does not find {names!r}")
        receiver.command("revoke", devices[second])
        expect(operator.captures(verdict="revoked")[0] == [ids["c"]], "the revoked device's capture is not found")
        expect(operator.captures(verdict="verified")[0] == [ids["b"], ids["a"]], "it still counts as verified")
        expect("device revoked" in text_of(operator.get("/")), "the list does not show the revocation")
        thumbnail = operator.get(f"/thumbnails/{ids['a']}")
        expect(thumbnail.headers["Content-Type"] == "image/jpeg" and thumbnail.bytes[:2] == b"\xff\xd8", "no thumbnail")
        expect(len(thumbnail.bytes) < 30_000 and b"Exif" not in thumbnail.bytes, "the thumbnail is not small and bare")
        address = re.search(r'<th scope="row"><a href="([^"]+)"', operator.get("/").bytes.decode())[1]
        expect(address == f"{receiver.url}/verify/{ids['c']}", f"the list links to {address}")
        page(receiver, ids["c"])


def has_pages_of_50(tools):
    rig = tools.rig("list-many")
    with receiving(tools, *LIST_OPTIONS) as receiver:
        operator = Operator(receiver).open()
        ids = [receiver.taken(rig, rig.capture(f"many-{number}")) for number in range(103)][::-1]
        found, query = operator.captures()
        expect(found == ids[:50], f"the first page has {len(found)} captures")
        device = receiver.device(rig)
        second, query = operator.captures(**query)
        expect(second == ids[50:100], "the second page differs")
        expect(operator.captures(**query) == (ids[100:], None), "the last page differs")
        _, query = operator.captures(device=device, day="2026-03-13")
        expect(query["device"] == device and query["day"] == "2026-03-13", f"the next page forgets the search: {query}")
        expect(operator.captures(**query)[0] == ids[50:100], "the next page of a search differs")


TESTS = [
    ("the list needs the operator's token, which becomes a cookie", needs_the_token),
    ("the list finds captures by day, device and verdict", finds_captures),
    ("the list has pages of 50 captures", has_pages_of_50),
]
