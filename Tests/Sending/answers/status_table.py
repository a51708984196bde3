"""What an answer of each class does to a capture and its destination, for http and put.

The Swift tests compare the class of every answer with the table in Spec/upload.md. Here each line of the table has one
answer for each kind that it names. Each answer is a destination, at its own path of one server.
"""
import dataclasses
import functools
import time

from Kit.outcomes import every, expect
from Kit.servers.status_server import StatusServer
from Sending.answers.tries import some


@dataclasses.dataclass(frozen=True)
class Scenario:
    """An answer, with all that decides its class besides the status."""

    kind: str
    name: str  # the class
    status: int
    code: str | None = None
    is_edge: bool = False
    token: bool = False
    after: str | None = None  # the value of Retry-After
    to: str | None = None  # where a redirect leads: to the "same" origin or an "other" one
    is_fetched: bool = False
    is_whole: bool = True  # for the server: whether it reads the body before it answers

    def __str__(self):
        more = [f"{field.name} {value}" for field in dataclasses.fields(self)[3:]
                if (value := getattr(self, field.name)) != field.default]
        return " ".join([f"{self.kind} {self.status}", *more])


# What both kinds understand in the same way. The short form of the tests uses the first ones, and only for http.
SCENARIOS = [made for kind in some(["http", "put"], 1) for made in some([
    Scenario(kind, "followed", 307, to="same"), Scenario(kind, "endpoint", 302, to="same"),
    Scenario(kind, "again", 401, token=True), Scenario(kind, "credentials", 401), Scenario(kind, "outage", 429),
    Scenario(kind, "final", 413), Scenario(kind, "wait", 503, after="120"), Scenario(kind, "full", 507),
    Scenario(kind, "endpoint", 404), Scenario(kind, "outage", 408), Scenario(kind, "wait", 429, after="120"),
    Scenario(kind, "endpoint", 505), Scenario(kind, "outage", 999)], 8)]
SCENARIOS += [
    Scenario("http", "outage", 403, is_edge=True), Scenario("http", "present", 409), Scenario("http", "unclear", 500),
    Scenario("put", "outage", 403, is_edge=True), Scenario("put", "present", 412), Scenario("put", "unclear", 500),
    Scenario("put", "endpoint", 505), Scenario("put", "outage", 502), Scenario("http", "outage", 511),
    Scenario("http", "landed", 202), Scenario("http", "unclear", 200), Scenario("http", "endpoint", 307, to="other"),
    Scenario("http", "again", 401, "TIMESTAMP_INVALID"), Scenario("http", "credentials", 403, "FORBIDDEN"),
    Scenario("http", "final", 403, "NOT_THIS_ONE"), Scenario("http", "credentials", 404, "DEVICE_NOT_FOUND"),
    Scenario("put", "landed", 204), Scenario("put", "unclear", 206), Scenario("put", "followed", 308, to="other"),
    Scenario("put", "endpoint", 307, to="other", token=True), Scenario("put", "again", 403, is_fetched=True),
    Scenario("put", "credentials", 403)]


def walk(bench, kind, hundreds):
    """Sends to all scenarios of one kind with statuses of some hundreds in one run, and checks each result."""
    chosen = [it for it in SCENARIOS if it.kind == kind and it.status // 100 in hundreds]
    rig, bundle = bench.rig(), bench.stock[0]
    with StatusServer(chosen) as server:
        for number, it in enumerate(chosen):
            url = server.url(number)
            # The command prints a new token each time, because a token that did not change need not be tried again.
            options = ["--token-command", "cat /proc/sys/kernel/random/uuid"] if it.token else []
            if kind == "http":
                rig.http(url, "--verify-url", server.verify_url(number), *options, name=f"d{number}", retry=None)
            else:
                place = ("--url-command", f"echo {url}/$CAPQUEUE_SHA256")
                place = place if it.is_fetched else ("--url", url + "/{sha256}")
                rig.dest(f"d{number}", "put", *place, *options)
        rig.push(bundle, options=[word for number in range(len(chosen)) for word in ("--dest", f"d{number}")])
        rig.send("--once")
        every({str(it): number for number, it in enumerate(chosen)}, lambda _, number: judge(
            chosen[number], rig.delivery(bundle, f"d{number}"), rig.destination(f"d{number}"), server.log(number)))


def judge(it, row, destination, log):
    """Checks that the delivery and its destination are as the class of the answer demands."""
    state, attempts = {
        "landed": ("completed", 1), "followed": ("completed", 1), "again": ("completed", 1),
        "final": ("permanently_failed", 1), "retry": ("failed", 1), "unclear": ("failed", 1), "present": ("failed", 1),
    }.get(it.name, ("pending", 0))
    about = f"as `{it.name}`"
    if it.name == "present" and it.kind == "put":
        state = row.state if row.state in ("failed", "conflict") else state  # no answer here tells what the server has
    expect((row.state, row.attempts) == (state, attempts), f"{about}: is {row.state} after {row.attempts} attempts, "
           f"not {state} after {attempts}; {row.error_code}: {(row.error_message or '')[:100]}")
    asked = log.count("HEAD") + log.count("ASK")
    if it.name == "unclear":
        expect(row.in_doubt or asked, f"{about}: is not in doubt, and no question was sent")
    elif it.name == "present":
        expect(asked, f"{about}: the server is not asked")
    elif it.name == "outage":
        expect(row.in_doubt and row.error_code == f"edge.{it.status}", f"{about}: {row.in_doubt} {row.error_code}")
    elif state != "completed":
        expect(not row.in_doubt, f"{about}: is in doubt")
    sends = len(log) - asked
    expect(sends == (2 if it.name in ("again", "followed") else 1), f"{about}: {sends} requests: {log}")
    held = destination.blocked_reason if destination.blocked_until else None
    wanted = "failing" if it.name == "outage" else it.name if it.name in ("wait", "full", "credentials", "endpoint") else None
    expect(held == wanted, f"{about}: the destination is blocked as {held}")
    if wanted:
        seconds = destination.blocked_until / 1000 - time.time()
        low, high = {"wait": (60, 120), "outage": (0, 15)}.get(it.name, (240, 300))
        expect(low <= seconds <= high, f"{about}: it is blocked for {seconds:.0f} s")
        expect(destination.blocked_message, f"{about}: no reason is kept")
    if state in ("failed", "permanently_failed"):
        expect(row.error_code and row.error_message, f"{about}: no reason is kept")


TESTS = [(f"{kind}: answers of {title}", functools.partial(walk, kind=kind, hundreds=hundreds))
         for kind in ("http", "put")
         for title, hundreds in (("2xx and 3xx", (2, 3)), ("4xx", (4,)), ("5xx and beyond", (5, 9)))]
