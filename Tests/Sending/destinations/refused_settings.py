"""Settings that cannot work are refused by `dest add` and `dest set`."""
import re

from checks import every, expect
from rigs import DEVICE


def bad_settings(bench):
    """`dest add` refuses settings that cannot work, and stores nothing."""
    rig = bench.rig()
    device = ("--device-id", DEVICE)
    key = ("--key", rig.key)
    cases = {
        "no URL": (78, *key, *device), "no device id": (78, "--url", "http://a.example", *key),
        "no UUID": (78, "--url", "http://a.example", *key, "--device-id", "7"),
        "another scheme": (78, "--url", "ftp://a.example/x", *key, *device),
        "a file": (78, "--url", "file:///etc/passwd", *key, *device),
        "a password in it": (78, "--url", "http://me:pass@a.example/", *key, *device),
        "a retry table of words": (78, "--url", "http://a.example", *key, *device, "--retry", "soon"),
        "a header with a line in it": (78, "--url", "http://a.example", *key, *device, "--header", "A: b\r\nC: d"),
        "a header without a colon": (78, "--url", "http://a.example", *key, *device, "--header", "nothing"),
    }

    def refused(name, case):
        code, *options = case
        rig.dest("x", "http", *options, code=code)
        expect("pass@" not in rig.run("dest", "list").out.decode(), f"{name}: the password is shown")

    every(cases, refused)
    expect(rig.run("dest", "list").out == b"", "a destination that was refused is listed")


ID = "7e57ab1e-0000-4000-8000-000000000051"


def fragments(bench):
    """Clients do not send a fragment, so with an id in the fragment each capture would replace the one before."""
    urls = {"put, the id": ("put", "http://127.0.0.1:9/x#{id}"),
            "put, a word": ("put", "http://127.0.0.1:9/{sha256}#x"),
            "put, the hash": ("put", "http://127.0.0.1:9/x#{sha256}"), "s3": ("s3", "http://127.0.0.1:9/b/{sha256}#x"),
            "http": ("http", "http://127.0.0.1:9/api/v1/captures#x")}

    def judge(name, case):
        rig = bench.rig()
        kind, url = case
        options = ("--key", rig.key, "--device-id", ID) if kind == "http" else ()
        rig.dest("web", kind, "--url", url, *options, code=78)

    every(urls, judge)


def own_headers(bench):
    """--header refuses the names of headers that the tool or libcurl sets itself, in any spelling."""
    names = ["Content-Length", "Transfer-Encoding", "Host", "Connection", "Expect", "Idempotency-Key", "TE",
             "Trailer", "Upgrade", "Content-Range", "content-length", "HOST"]

    def judge(name, _):
        rig = bench.rig()
        result = rig.dest("web", "put", "--url", "http://127.0.0.1:9/{sha256}", "--header", f"{name}: 5", code=78)
        expect(re.search(rf"\b{name}\b", result.text, re.IGNORECASE), f"the message does not name it: {result.text!r}")

    every({name: None for name in names}, judge)


FAMILY = [
    ("settings that cannot work are refused", bad_settings),
    ("a URL with a fragment is refused", fragments),
    ("--header refuses headers that the tool sets", own_headers),
]
