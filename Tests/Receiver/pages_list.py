"""The operator's list: its token, its search, its pages of 50 captures, and the state of the stored copies."""
import re
import stat

from Kit.outcomes import expect
from Kit.sending import wait_until
from Receiver.operators import LIST_OPTIONS, Operator
from Receiver.pages import damage, page, text_of, upload
from Receiver.support import receiving


def needs_the_token(tools):
    with receiving(tools, *LIST_OPTIONS) as receiver:
        operator = Operator(receiver)
        file = receiver.folder / "operator-token"
        expect(stat.S_IMODE(file.stat().st_mode) == 0o600 and file.read_text() == operator.token, "the file differs")
        wrong = operator.token[:-1] + ("0" if operator.token[-1] != "0" else "1")
        for path, status in [("/", 401), (f"/?token={wrong}", 403), ("/?token=", 403), ("/thumbnails/" + "0" * 36, 401),
                             ("/verify/" + "0" * 36, 401), (f"/verify/x?token={operator.token}", 401)]:
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
        api = receiver.ask("POST", "/api/v1/captures", {"Cookie": operator.cookie}, port=operator.port)
        expect(api.status == 404, "the operator's port has the API")
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
        expect(address == f"/verify/{ids['c']}", f"the list links to {address}")
        expect(f"{receiver.url}{address}" in page(operator, ids["c"]), "the page lacks the address for others")


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


def shows_the_stored_copies(tools):
    """Only a stored copy that is unchanged is green; what was withheld is amber, on the page too."""
    rig = tools.rig("list-states")
    with receiving(tools, *LIST_OPTIONS) as receiver:
        operator = Operator(receiver).open()
        receiver.queue("pause")

        def row(capture, *words, tones):
            source = operator.get("/").bytes.decode()
            found = next(row for row in source.split("<tr>") if f"/thumbnails/{capture}" in row)
            said = re.sub("<[^>]*>", " ", found)
            expect(all(word in said for word in words), f"the list says {said}, expected {words}")
            expect(re.findall('class="badge ([a-z]+)"', found) == tones, f"{words}: the tones are {found}")

        names = ("whole", "gone", "damaged", "passed on")
        whole, gone, damaged, passed = (
            upload(receiver, rig, name, lambda metadata, hour=hour: metadata.update(captured_at=f"2026-03-14T1{hour}:00:00Z"))[0]
            for hour, name in enumerate(names))
        withheld, _ = upload(receiver, rig, "withheld", redact="location.json")
        receiver.queue("cancel", gone)
        receiver.queue("prune", "--cancelled", gone)
        damage(next((receiver.folder / "queue").rglob(f"{receiver.sha256(damaged)}.bundle")))
        row(whole, "verified", "unchanged", tones=["good"])
        row(withheld, "entries withheld", "unchanged", tones=["doubtful", "good"])
        row(gone, "verified", "gone", tones=["bad"])
        row(damaged, "verified", "damaged", tones=["bad"])
        page(operator, withheld)
        expect(b'class="verdict doubtful"' in operator.get(f"/verify/{withheld}").bytes, "the page of a withheld place is green")
        receiver.queue("resume")
        wait_until(lambda: passed.encode() in receiver.queue("prune", "--older-than", "0s"), "the queue releases the bytes")
        row(passed, "verified", "passed on", tones=[])


TESTS = [
    ("the list needs the operator's token, which becomes a cookie", needs_the_token),
    ("the list finds captures by day, device and verdict", finds_captures),
    ("the list has pages of 50 captures", has_pages_of_50),
    ("the list says what became of the stored copies", shows_the_stored_copies),
]
