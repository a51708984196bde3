"""Hostile requests: nothing wrong is stored, memory stays bounded, and honest devices are served afterwards."""
import gzip

from Kit.outcomes import every, expect
from Kit.sending import wait_until
from Receiver.links import BOUNDARY, FORM_TYPE, chunks, form, head
from Receiver.sieges import LIMIT, besieged
from Receiver.support import CAPTURES, REGISTER, UNKNOWN, VERIFY_FILE, same


def cut_bodies(tools):
    """A body that ends early, by FIN or by RST, is never stored; the whole body is accepted afterwards."""
    with besieged(tools) as siege:
        body = siege.body()
        data, request = body.data, siege.honest_upload(body)
        framing = [position + shift for position in range(0, len(data) - 1, max(1, len(data) // 12)) for shift in (0, 1)]
        for number, size in enumerate([*framing, len(data) - 1, len(data) - 2]):
            with siege.link() as link:
                link.send(request + data[:size])
                if number % 2:
                    link.reset()
                    continue
                link.finish()
                answer = link.answer()
                expect(answer.is_refusal, f"{size} of {len(data)} bytes: {answer}")
        chunked = chunks(data)
        start = siege.honest_upload(body, Content_Length=[], Transfer_Encoding="chunked")
        for size in (0, 1, 3, len(chunked) // 2, len(chunked) - 5, len(chunked) - 2, len(chunked) - 1):
            answer = siege.answer(start + chunked[:size], finishes=True)
            expect(answer.is_refusal, f"{size} of {len(chunked)} chunked bytes: {answer}")
        expect(len(siege.receiver.held()) == 0, f"{len(siege.receiver.held())} cut bodies are stored")
        wait_until(lambda: not siege.receiver.arriving(), "cut bodies are deleted")
        wait_until(lambda: siege.receiver.slots() == 0, "the slots of cut bodies are free")
        answer = siege.answer(start + chunked)
        expect(answer.status == 202, f"the whole body, chunked, is answered {answer}")
        expect(len(siege.receiver.held()) == 1, f"{len(siege.receiver.held())} captures are stored after one upload")


LENGTHS = {"negative": {"Content_Length": "-1"}, "plus": {"Content_Length": "+10"}, "hex": {"Content_Length": "0x10"},
           "exponent": {"Content_Length": "1e3"}, "huge": {"Content_Length": "9" * 30},
           "two": {"Content_Length": ["10", "11"]}, "empty": {"Content_Length": ""},
           "list": {"Content_Length": "10, 11"},
           "both": {"Content_Length": "10", "Transfer_Encoding": "chunked"},
           "gzip": {"Content_Length": [], "Transfer_Encoding": "gzip, chunked"},
           "identity": {"Content_Length": [], "Transfer_Encoding": "identity"},
           "chunked twice": {"Content_Length": [], "Transfer_Encoding": ["chunked", "chunked"]},
           "chunked is not last": {"Content_Length": [], "Transfer_Encoding": "chunked, gzip"}}
CHUNKS = {"huge": b"ffffffffffffffff\r\n", "larger": b"fffffffffffffffff\r\n", "negative": b"-5\r\nhello\r\n0\r\n\r\n",
          "no number": b"hello\r\n", "hex mark": b"0x5\r\nhello\r\n0\r\n\r\n",
          "too long": b"5\r\nhello, world\r\n0\r\n\r\n",
          "endless extension": b"5;" + b"a" * 300_000, "endless trailer": b"0\r\nX: " + b"a" * 300_000,
          "many trailers": b"0\r\n" + b"X: a\r\n" * 50_000 + b"\r\n"}


def wrong_lengths(tools):
    """Lengths that are malformed, or differ from the body, are refused or end the connection."""
    with besieged(tools) as siege:
        body = siege.body()
        data = body.data

        def refused(_, request):
            answer = siege.answer(request, finishes=True)
            expect(answer.is_refusal or answer.status == 501, f"answered {answer}")
        every({name: siege.honest_upload(body, **changed) + data for name, changed in LENGTHS.items()}, refused)
        start = siege.honest_upload(body, Content_Length=[], Transfer_Encoding="chunked")
        every({f"chunk {name}": start + chunk for name, chunk in CHUNKS.items()}, refused)
        every({"a byte less": siege.honest_upload(body, Content_Length=str(len(data) - 1)) + data,
               "a byte more": siege.honest_upload(body, Content_Length=str(len(data) + 1)) + data,
               "no length": siege.honest_upload(body, Content_Length=[]) + data}, refused)
        held = siege.receiver.held()
        expect(not held, f"{len(held)} captures with a wrong length are stored")


def a_gigabyte(tools):
    """A gigabyte is refused: by its length before a byte is stored, and without a length once the limit is reached."""
    with besieged(tools) as siege:
        signed = siege.signed(b"") | {"Content-Type": FORM_TYPE}
        for path in (CAPTURES, REGISTER, VERIFY_FILE):
            for length, unit in (({"Content-Length": str(1 << 30)}, bytes(1 << 20)),
                                 ({"Transfer-Encoding": "chunked"}, b"100000\r\n" + bytes(1 << 20) + b"\r\n")):
                with siege.link() as link:
                    link.send(head("POST", path, signed | length))
                    for _ in range(1024):
                        stored = sum(siege.receiver.arriving())
                        expect(stored <= LIMIT, f"{path}: {stored >> 20} MiB are stored")
                        if link.send(unit) < len(unit):
                            break
                    answer = link.answer()
                expect(answer.status in (413, None), f"{path}, {list(length)[0]}: {answer}")
            same(siege.answer(head("POST", path, signed | {"Content-Length": str(1 << 30)})), 413, "PAYLOAD_TOO_LARGE")
        for over, wanted in ((0, 401), (1, 413)):
            answer = siege.answer(head("POST", CAPTURES, signed | {"Transfer-Encoding": "chunked"})
                                  + chunks(bytes(LIMIT + over), 1 << 20))
            expect(answer.status == wanted, f"{over} bytes over the limit, chunked: {answer}")


def nested(depth):
    """Returns a form in a form in a form."""
    data = b"x"
    for level in range(depth):
        mark = f"level{level}"
        data = (f"--{mark}\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: multipart/mixed; "
                f"boundary=level{level - 1}\r\n\r\n").encode() + data + f"\r\n--{mark}--\r\n".encode()
    return form(('Content-Disposition: form-data; name="metadata"\r\nContent-Type: multipart/mixed; '
                 f"boundary=level{depth - 1}", data))


def deep_forms(tools):
    """Forms that are deep, long or swollen are refused as malformed, in little memory."""
    part = 'Content-Disposition: form-data; name="metadata"'
    depth = 'Content-Disposition: form-data; name="depth_map"; filename="depth.gz"\r\nContent-Type: application/gzip'
    bomb = gzip.compress(bytes(1 << 30), 9)
    mark = f"--{BOUNDARY}".encode()
    forms = {"nested 1,000 times": nested(1000), "100,000 parts": form(*[(part, b"{}")] * 100_000),
             "a head of 1 MB": form((part + "; x=" + "a" * 1_000_000, b"{}")),
             "100,000 header lines": form(("\r\n".join([part, *["X: a"] * 100_000]), b"{}")),
             "JSON nested 1,000,000 times": form((part, b"[" * 1_000_000 + b"]" * 1_000_000)),
             "JSON of 15 MB": form((part, b'{"a":"' + b"b" * 15_000_000 + b'"}')),
             "a gigabyte of depth in 1 MB": form((part, b"{}"), (depth, bomb)),
             "boundaries only": (mark + b"\r\n") * 300_000, "nearly boundaries": (b"\r\n" + mark[:-1]) * 500_000,
             "no boundary": b"a" * 5_000_000, "nothing": b""}
    with besieged(tools) as siege:
        def refused(_, data):
            request = head("POST", VERIFY_FILE, {"Content-Type": FORM_TYPE, "Content-Length": str(len(data))})
            for start in (siege.upload(data), request):
                answer = siege.answer(start + data)
                expect((answer.status, answer.code) in ((400, "VALIDATION_ERROR"), (413, "PAYLOAD_TOO_LARGE")), answer)
        every(forms, refused)
        expect(len(siege.receiver.held()) == 0, f"{len(siege.receiver.held())} hostile forms are stored")


def pipelined(tools):
    """Requests that are sent before the first answer are answered in order."""
    with besieged(tools) as siege:
        with siege.link() as link:
            link.send(head("GET", "/healthz", {}) * 100)
            statuses = [link.answer().status for _ in range(100)]
        expect(statuses == [200] * 100, f"100 requests at once are answered {statuses}")
        first, second = siege.body(), siege.body()
        with siege.link() as link:
            link.send(siege.honest_upload(first) + first.data + siege.honest_upload(second) + second.data
                      + head("GET", "/healthz", {}))
            answers = [link.answer() for _ in range(3)]
        statuses = [answer.status for answer in answers]
        expect(statuses == [202, 202, 200], f"two captures and a request: {statuses}")
        ids = {answer.data["capture_id"] for answer in answers[:2]}
        held = siege.receiver.held()
        expect(len(ids) == 2 and set(held) == ids, f"two pipelined captures: the ids {ids}, stored {held}")
        # The body of a refused request is never read as a request.
        smuggled = head("GET", "/metrics", {})
        with siege.link() as link:
            link.send(siege.upload(smuggled, X_Device_Id=UNKNOWN) + smuggled + head("GET", "/healthz", {}))
            answer, following = link.answer(), link.answer()
        expect(answer.status == 404 and following.bytes in (b"ok\n", b""), f"a refused body: {answer}, then {following}")


def odd_heads(tools):
    """Heads that are too large or malformed are refused."""
    heads = {"10,000 headers": head("GET", "/healthz", {f"X-{number}": "a" for number in range(10_000)}),
             "a header of 10 MB": head("GET", "/healthz", {"X": "a" * 10_000_000}),
             "a path of 10 MB": head("GET", "/" + "a" * 10_000_000, {}),
             "an endless method": b"A" * 10_000_000, "no HTTP": b"\x16\x03\x01\x02\x00" * 1000,
             "a header without a colon": b"GET /healthz HTTP/1.1\r\nHost\r\n\r\n",
             "a folded header": b"GET /healthz HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
             "a zero byte": b"GET /healthz HTTP/1.1\r\nHost: a\0b\r\n\r\n"}
    with besieged(tools) as siege:
        def refused(_, request):
            answer = siege.answer(request, finishes=True)
            expect(answer.is_refusal, f"answered {answer}")
        every(heads, refused)


TESTS = [("bodies are cut anywhere", cut_bodies), ("lengths are wrong", wrong_lengths),
         ("a gigabyte where 20 MiB are allowed", a_gigabyte), ("forms are deep, long or swollen", deep_forms),
         ("requests are pipelined", pipelined), ("heads are too large or malformed", odd_heads)]
