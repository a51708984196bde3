"""Checks every line of the table of status codes in Spec/upload.md section 4.1, for http and put.

Each scenario is a separate destination, at its own path of one scripted server; one run sends one bundle to many of
them. The tests read the expected results from the table in the specification and have no copy of it.
"""
import dataclasses
import functools
import pathlib
import re
import time

from capture_api import Answer, CaptureAPI
from checks import every, expect
from fault_proxy import Fault, FaultProxy
from status_server import StatusServer

SECONDS = 30
SPEC = pathlib.Path(__file__).resolve().parents[3] / "Spec/upload.md"
STATUSES = [*range(200, 209), 226, 299, *range(300, 309), 399, *range(400, 419), 421, 422, 423, 424, 425, 426, 428, 429,
            431, 451, 499, *range(500, 512), 520, 522, 599, 600, 999]
BATCH = 16  # how many destinations one queue has


@dataclasses.dataclass(frozen=True)
class Scenario:
    """An answer, with all that decides its class besides the status."""

    kind: str
    status: int
    code: str | None = None
    is_edge: bool = False
    token: bool = False
    after: str | None = None  # the value of Retry-After
    to: str | None = None  # where a redirect leads: to the "same" origin or an "other" one
    is_fetched: bool = False
    is_whole: bool = True

    def __str__(self):
        more = [f"{field.name} {value}" for field in dataclasses.fields(self)[2:]
                if (value := getattr(self, field.name)) != field.default]
        return " ".join([f"{self.kind} {self.status}", *more])


CONDITIONS = {
    "": lambda it: True,
    "same origin, 307 or 308, at most 5 in a row": lambda it: it.to == "same" and it.status in (307, 308),
    "307 or 308 to another origin, no credentials in the request, not from https to http, at most 5 in a row":
        lambda it: it.to == "other" and it.status in (307, 308) and not it.token,
    "code `TIMESTAMP_EXPIRED`, `TIMESTAMP_INVALID`, `REPLAY_DETECTED`":
        lambda it: it.code in ("TIMESTAMP_EXPIRED", "TIMESTAMP_INVALID", "REPLAY_DETECTED"),
    "a bearer token was sent": lambda it: it.token,
    "S3 code `RequestTimeTooSkewed`": lambda it: False,
    "the URL is fetched, or its time is over": lambda it: it.is_fetched,
    "an edge": lambda it: it.is_edge,
    "code `DEVICE_UNVERIFIED` or `FORBIDDEN`, or none":
        lambda it: it.code in ("DEVICE_UNVERIFIED", "FORBIDDEN", None),
    "code `DEVICE_NOT_FOUND`": lambda it: it.code == "DEVICE_NOT_FOUND",
    "Retry-After": lambda it: it.after is not None,
    "the whole body was sent": lambda it: it.is_whole,
    "not the whole body was sent": lambda it: not it.is_whole,
}


@functools.cache
def table():
    """Returns the lines of the table: kinds, a test of the status, condition, class."""
    text = SPEC.read_text().partition("<!-- statuses -->")[2].partition("<!-- end of statuses -->")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.strip().splitlines()[2:]]
    found = []
    for kinds, statuses, condition, name in lines:
        expect(condition in CONDITIONS, f"the table has a condition that this test does not know: {condition!r}")
        numbers = set()
        for part in re.sub("below 100", "0–99", statuses).split(","):
            low, _, high = part.strip().partition("–")
            numbers |= set(range(int(low), int(high or low) + 1))
        found.append((kinds.split(", "), numbers, condition, name.strip("`")))
    return found


def line_of(it):
    """Returns the index of the first line that matches a scenario."""
    for place, (kinds, numbers, condition, _) in enumerate(table()):
        if ("any" in kinds or it.kind in kinds) and it.status in numbers and CONDITIONS[condition](it):
            return place
    expect(False, f"the table has no line for {it}")
    return None


def scenarios():
    made = [Scenario(kind, status) for kind in ("http", "put") for status in STATUSES]
    for kind in ("http", "put"):
        made += [Scenario(kind, status, after="120") for status in (429, 503)]
        made += [Scenario(kind, status, to=to) for status in (301, 302, 303, 307, 308) for to in ("same", "other")]
        made += [Scenario(kind, status, token=True) for status in (401, 403)]
        made += [Scenario(kind, 307, to="other", token=True), Scenario(kind, 403, is_edge=True)]
        made += [Scenario(kind, status, is_whole=False) for status in (200, 201, 202, 400, 413, 500, 502, 503, 507)]
    made += [Scenario("http", 401, code=code) for code in
             ("TIMESTAMP_EXPIRED", "TIMESTAMP_INVALID", "REPLAY_DETECTED", "SIGNATURE_INVALID", "DEVICE_AUTH_REQUIRED")]
    made += [Scenario("http", 403, code=code) for code in ("DEVICE_UNVERIFIED", "FORBIDDEN", "NOT_THIS_ONE")]
    made += [Scenario("http", 404, code=code) for code in ("DEVICE_NOT_FOUND", "CAPTURE_NOT_FOUND")]
    return [*made, Scenario("put", 403, is_fetched=True)]


def complete(_):
    met = {line_of(it) for it in scenarios()}
    missed = [f"{' '.join(kinds)} {condition or 'always'} → {name}"
              for place, (kinds, numbers, condition, name) in enumerate(table())
              if place not in met and kinds != ["s3"] and max(numbers) >= 200]
    expect(not missed, f"no scenario meets {missed}")


def walk(bench, kind, hundred):
    """Sends to all scenarios of one kind with statuses of one hundred, and checks each result."""
    chosen = [it for it in scenarios() if it.kind == kind and it.status // 100 in hundred]
    seen = {}
    with StatusServer(chosen) as server:
        for is_whole in (True, False):
            wanted = [number for number, it in enumerate(chosen) if it.is_whole == is_whole]
            for start in range(0, len(wanted), BATCH):
                seen |= sent(bench, server, wanted[start:start + BATCH], bench.stock[0] if is_whole else bench.big())
    every({str(chosen[number]): number for number in seen},
          lambda _, number: judge(chosen[number], *seen[number], server.log(number)))


def sent(bench, server, numbers, bundle):
    """Runs a queue that has these scenarios as destinations; returns the rows of each delivery and destination."""
    rig = bench.rig()
    for number in numbers:
        it, url = server.scenarios[number], server.url(number)
        # The command prints a new token each time, because a token that did not change need not be tried again.
        options = ["--token-command", "cat /proc/sys/kernel/random/uuid"] if it.token else []
        if it.kind == "http":
            rig.http(url, "--verify-url", server.verify_url(number), *options, name=f"d{number}", retry=None)
        else:
            place = ("--url-command", f"echo {url}") if it.is_fetched else ("--url", url + "/{sha256}")
            rig.dest(f"d{number}", "put", *place, *options)
    rig.push(bundle, options=[word for number in numbers for word in ("--dest", f"d{number}")])
    rig.send("--once")
    return {number: (rig.delivery(bundle, f"d{number}"), rig.destination(f"d{number}")) for number in numbers}


def judge(it, row, destination, log):
    """Checks that the delivery and its destination are as the class of the answer demands."""
    name = table()[line_of(it)][3]
    state, attempts = {
        "landed": ("completed", 1), "followed": ("completed", 1), "again": ("completed", 1),
        "final": ("permanently_failed", 1), "retry": ("failed", 1), "unclear": ("failed", 1), "present": ("failed", 1),
    }.get(name, ("pending", 0))
    about = f"as `{name}`"
    if name == "present" and it.kind == "put":
        state = row.state if row.state in ("failed", "conflict") else state  # no answer here tells what the server has
    expect((row.state, row.attempts) == (state, attempts), f"{about}: is {row.state} after {row.attempts} attempts, "
           f"not {state} after {attempts}; {row.error_code}: {(row.error_message or '')[:100]}")
    asked = log.count("HEAD") + log.count("ASK")
    if name == "unclear":
        expect(row.in_doubt or asked, f"{about}: is not in doubt, and no question was sent")
    elif name == "present":
        expect(asked, f"{about}: the server is not asked")
    elif state != "completed":
        expect(not row.in_doubt, f"{about}: is in doubt")
    sends = len(log) - asked
    expect(sends == (2 if name in ("again", "followed") else 1), f"{about}: {sends} requests: {log}")
    held = destination.blocked_reason if destination.blocked_until else None
    wanted = name if name in ("wait", "full", "credentials", "endpoint") else None
    expect(held == wanted, f"{about}: the destination is blocked as {held}")
    if wanted:
        seconds = destination.blocked_until / 1000 - time.time()
        low, high = (60, 120) if name == "wait" else (240, 300)
        expect(low <= seconds <= high, f"{about}: it is blocked for {seconds:.0f} s")
        expect(destination.blocked_message, f"{about}: no reason is kept")
    if state in ("failed", "permanently_failed"):
        expect(row.error_code and row.error_message, f"{about}: no reason is kept")


def no_status_is_ignored(bench):
    """Whatever the status, no delivery stays in `uploading`; the answer may come in pieces, or to a later run."""
    def settles(status, _):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            api.answer(Answer(status))
            rig.http(api.url, "--verify-url", "none")
            rig.push(bundle)
            rig.send("--once", code=(14, 15))
            expect(rig.delivery(bundle).state in ("failed", "pending", "permanently_failed"), f"{rig.states()}")

    every({status: None for status in (400, 403, 404, 413, 429, 500, 503)}, settles)
    rig, bundle = bench.rig(), bench.stock[0]
    with CaptureAPI(bench.public) as api, FaultProxy(api.port) as proxy:
        proxy.plan(Fault(reply_rate=100))
        rig.http(proxy.url)
        rig.push(bundle)
        rig.send(code=0)
        expect(rig.delivery(bundle).remote_id == api.stored[0].id, "an answer in pieces is not understood")


def classes_differ(bench):
    """The statuses 403, 408, 409, 425, 501 and 507 do not all mean the same."""
    def ends(status, wanted):
        rig, bundle = bench.rig(), bench.stock[0]
        with CaptureAPI(bench.public) as api:
            api.answer(Answer(status))
            rig.http(api.url)
            rig.push(bundle)
            rig.send("--once", code=(14, 15))
            row = rig.delivery(bundle)
            found = (row.state, rig.destination().blocked_reason, len(api.seen("verify")))
            expect(found == wanted, f"state, hold and questions are {found}, not {wanted}")

    every({403: ("permanently_failed", None, 0), 408: ("failed", None, 0), 409: ("failed", None, 1),
           425: ("failed", None, 0), 501: ("permanently_failed", None, 0), 507: ("pending", "full", 0)}, ends)


FAMILY = [
    ("every line of the table for http and put has a scenario", complete),
    *((f"{kind}: answers of {title}", functools.partial(walk, kind=kind, hundred=hundred))
      for kind in ("http", "put")
      for title, hundred in (("2xx and 3xx", (2, 3)), ("4xx", (4,)), ("5xx and beyond", (5, 6, 9)))),
    ("every status ends a try, and an answer in fragments is read completely", no_status_is_ignored),
    ("403, 408, 409, 425, 501 and 507 differ", classes_differ),
]
