"""Monitoring tells the truth: what stays as it is until a person decides is found by `status --check` and `run`, in every
form of `status`, and by Prometheus."""
import json
import re
import shutil
import subprocess

from checks import Skipped, every, expect
from destinations import folder
from queues import DAY
from wrong_clocks import faked

NEEDS_USER = ("credentials", "endpoint", "tls", "local", "refusing", "unproven", "address")
ENDS_BY_ITSELF = ("wait", "full", "offline", "failing")
SERIES = re.compile(r'(\w+)(?:\{(.*)\})? (\S+)')


def promtool(*words, text=None):
    if not shutil.which("promtool"):
        raise Skipped("promtool is not installed; .ci/promtool prints the folder of one")
    done = subprocess.run(["promtool", *words], input=text, capture_output=True, text=True, timeout=60)
    expect(done.returncode == 0, f"promtool {words[0]} {words[1]} says {(done.stdout + done.stderr).strip()[:300]!r}")


def metrics(rig, *options):
    """The value of each series of `status --prometheus`, of which none is there twice."""
    text = rig.run("status", "--prometheus", *options).must(0, about="status --prometheus").out.decode()
    if shutil.which("promtool"):
        promtool("check", "metrics", text=text)
    series = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, value = SERIES.fullmatch(line).groups()
            key = (name, *sorted(re.findall(r'(\w+)="([^"]*)"', labels or "")))
            expect(key not in series, f"the series {line!r} is there twice")
            series[key] = float(value)
    return series


def finds(rig, code, *wanted, options=(), about=""):
    """All forms of `status` find these concerns, (code, count, destination) each, and --check ends with `code`."""
    shown = json.loads(rig.run("status", "--json", *options).must(0, about=about).out)["concerns"]
    there = [(each["code"], each["count"], each.get("destination")) for each in shown]
    expect(there == list(wanted), f"{about}: finds {there}, expected {list(wanted)}")
    lines = rig.run("status", "--check", *options).must(code, about=about or "status --check").out.decode().splitlines()
    expect(len(lines) == len(shown) and all(line.startswith(f"{one['message']}; ") and line.endswith(one["next"])
                                            for line, one in zip(lines, shown)), f"{about}: --check prints {lines}")
    expect(not shown or min(shown, key=lambda one: [14, 13, 15].index(one["exit_code"]))["exit_code"] == code,
           f"{about}: the codes of {shown} do not make {code}")
    page = rig.run("status", *options).must(0).out.decode()
    expect(all(line in page for line in lines) and ("needs a decision" in page) == bool(lines), f"status prints {page!r}")
    counts = {}
    for name, count, _ in there:
        counts[name] = counts.get(name, 0) + count
    series = {key[1][1]: value for key, value in metrics(rig, *options).items()
              if key[0] == "capqueue_concerns" and value}
    expect(series == counts, f"{about}: --prometheus has {series}, --json {counts}")
    return shown


def rig_to(bench, *names):
    rig = bench.rig()
    for name in names:
        folder(rig, name)
    return rig


def well(bench):
    """Nothing there, something that waits for its turn, and what is sent, released or cancelled: 0."""
    rig = bench.rig()
    rig.run("config", "retention", "7d").must(0)
    finds(rig, 0, about="an empty queue without a destination")
    folder(rig, "a")
    rig.run("pause").must(0)
    finds(rig, 0, about="an empty queue that is paused")
    rig.run("resume").must(0)
    rig.push(*bench.stock[:3])
    finds(rig, 0, about="captures that wait for the next run")
    rig.run("cancel", bench.stock[0].id).must(0)
    rig.run("run").must(0, about="run with one cancelled")
    finds(rig, 0, about="sent")
    rig.run("prune", "--older-than", "0s").must(0)
    rig.run("run").must(0, about="run after prune")
    finds(rig, 0, about="released")


def unassigned(bench):
    """Captures without a destination."""
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    finds(rig, 15, ("captures.unassigned", 2, None))
    rig.run("run").must(15, about="run without a destination")
    expect("unassigned" in json.loads(rig.run("status", "--json").out), "--json does not count them")
    folder(rig, "a")
    rig.run("run").must(0, about="run with one")
    finds(rig, 0)


def held(bench):
    """Captures that the user held: a run that has sent the rest does not answer 0."""
    rig = rig_to(bench, "a", "b")
    rig.push(*bench.stock[:2], options=("--dest", "a", "--dest", "b"))
    rig.run("hold", "--dest", "b").must(0)
    rig.run("run").must(15, about="run with two held")
    finds(rig, 15, ("captures.held", 2, "b"))
    rig.run("run", "--dest", "a").must(0, about="run --dest a")
    rig.run("run", "--dest", "b").must(15, about="run --dest b")
    rig.run("release", "--dest", "b").must(0)
    rig.run("run").must(0, about="run after the release")


def salvaged(bench):
    """What salvage held is told apart from what the user held."""
    rig = rig_to(bench, "a")
    rig.push(*bench.stock[:3])
    rig.run("salvage", "--force").must(0)
    finds(rig, 15, ("captures.salvaged", 3, "a"))
    rig.run("run").must(15, about="run after a salvage")
    rig.run("release", bench.stock[0].id, bench.stock[1].id).must(0)
    rig.run("hold", bench.stock[0].id).must(0)
    finds(rig, 15, ("captures.held", 1, "a"), ("captures.salvaged", 1, "a"))
    rig.run("release", "--dest", "a").must(0)
    finds(rig, 0)
    rig.run("run").must(0, about="run after the release")


def blocked(bench):
    """A block that only the user can end, for each reason; one that ends by itself is no concern."""
    rig = rig_to(bench, "a")
    rig.push(bench.stock[0])

    def judge(reason, needs_user):
        with rig.database() as database:
            database.execute("UPDATE destinations SET blocked_reason = ?, blocked_message = 'found', blocked_until = ?",
                             (reason, 4_000_000_000_000))
        wanted = [("destination.blocked", 1, "a")] if needs_user else []
        shown = finds(rig, 15 if needs_user else 0, *wanted, about=reason)
        expect(not shown or f"({reason}): found" in shown[0]["message"], f"{reason}: says {shown}")
        series = {key[2][1]: value for key, value in metrics(rig).items() if key[0] == "capqueue_destination_blocked"}
        expect(series == {each: float(each == reason) for each in NEEDS_USER + ENDS_BY_ITSELF}, f"series {series}")

    every({reason: reason for reason in NEEDS_USER}, lambda _, reason: judge(reason, True))
    every({reason: reason for reason in ENDS_BY_ITSELF}, lambda _, reason: judge(reason, False))
    rig.run("resume", "--dest", "a").must(0)
    finds(rig, 0)
    rig.run("run").must(0, about="run after resume")


def paused(bench):
    """A paused destination, or queue, for which something waits."""
    rig = rig_to(bench, "a", "b")
    rig.push(bench.stock[0])
    rig.run("pause", "--dest", "b").must(0)
    finds(rig, 0, about="paused, and nothing waits for it")
    rig.run("pause", "--dest", "a").must(0)
    finds(rig, 15, ("destination.paused", 1, "a"))
    expect(metrics(rig)["capqueue_destination_paused", ("destination", "a")] == 1, "no series of the paused destination")
    rig.run("run").must(15, about="run while it is paused")
    rig.run("resume", "--dest", "a").must(0)
    rig.run("pause").must(0)
    finds(rig, 15, ("queue.paused", 1, None))
    rig.run("resume").must(0)
    rig.run("run").must(0, about="run after resume")


def failed(bench):
    """Captures that failed for good: 14 wins over 13 and 15."""
    rig = rig_to(bench, "a", "b")
    first, second = bench.stock[:2]
    rig.push(first, second, options=("--dest", "a", "--dest", "b"))
    (rig.out / "b" / f"{first.id}.bundle").write_text("another")
    rig.run("run").must(14, about="run with a conflict")
    finds(rig, 14, ("captures.failed", 1, "b"))
    rig.run("run", "--dest", "a").must(0, about="run --dest of the other one")
    rig.run("run", "--dest", "b").must(14, about="run --dest of this one")
    rig.push(bench.stock[2])
    rig.run("hold", bench.stock[2].id).must(0)
    rig.run("config", "warn-at", "1B").must(0)
    finds(rig, 14, ("captures.failed", 1, "b"), ("quota.mark", 1, None), ("captures.held", 1, "a"))
    rig.run("run").must(14, about="run with one held, too")
    rig.run("cancel", "--state", "conflict").must(0)
    finds(rig, 13, ("quota.mark", 1, None), ("captures.held", 1, "a"))
    rig.run("run").must(15, about="run with one held")
    rig.run("cancel", bench.stock[2].id).must(0)
    finds(rig, 13, ("quota.mark", 1, None))
    rig.run("run").must(0, about="run of a spool over its mark")


def full(bench):
    """A spool at its limit, or a disk at its floor: push refuses, and 13 says so. `run` does not."""
    rig = rig_to(bench, "a")
    rig.push(bench.stock[0])
    used = json.loads(rig.run("status", "--json").must(0).out)["quota"]["used_bytes"]
    for limit, wanted in (used + 1, []), (used, [("quota.limit", 1, None)]), (used - 1, [("quota.limit", 1, None)]):
        rig.run("config", "limit", str(limit)).must(0)
        shown = finds(rig, 13 if wanted else 0, *wanted, about=f"{used} bytes, a limit of {limit}")
        expect(not shown or shown[0]["next"] == "capqueue run", f"nothing is uploaded: {shown}")
        rig.run("push", bench.stock[1].path).must(12, about=f"push with a limit of {limit}")
    rig.run("run").must(0, about="run of a full spool")
    shown = finds(rig, 13, ("quota.limit", 1, None))
    expect(shown[0]["next"] == "capqueue prune", f"all is uploaded: {shown}")
    expect("deleted 0 bundles, 0 bytes; the next one is due in 7 d 0 h" in rig.run("prune").must(0).text, "prune does not say when one is due")
    rig.run("prune", "--older-than", "0s").must(0)
    finds(rig, 0, about="after prune")
    rig.run("config", "free-floor", "900TB").must(0)
    # The message names the free bytes, which change between two calls.
    found = json.loads(rig.run("status", "--json").must(0).out)["concerns"]
    expect([one["code"] for one in found] == ["quota.disk"], f"a full disk: finds {found}")
    rig.run("status", "--check").must(13, about="status --check on a full disk")
    rig.run("push", bench.stock[1].path).must(12, about="push on a full disk")


def wrong_clock(bench):
    """A clock in doubt, so that prune waits; until the user says that it is right."""
    rig = rig_to(bench, "a")
    rig.push(bench.stock[0])
    with faked(rig, "+365d"):
        rig.uploaded(bench.stock[0])
    finds(rig, 15, ("clock.doubted", 1, None))
    expect(metrics(rig)[("capqueue_clock_trusted",)] == 0, "--prometheus trusts the clock")
    rig.run("run").must(15, about="run with a wrong clock")
    rig.run("run", "--dest", "a").must(0, about="run --dest with a wrong clock")
    rig.run("prune", "--accept-clock").must(0)
    finds(rig, 0)
    expect(metrics(rig)[("capqueue_clock_trusted",)] == 1, "--prometheus does not trust the clock")
    rig.run("run").must(0, about="run with a right clock")


def too_old(bench):
    """--max-age: what has waited for longer, by destination. What was told to wait is no older than that."""
    rig = rig_to(bench, "a", "b")
    rig.push(bench.stock[0])
    rig.push(bench.stock[1], options=("--dest", "b", "--not-before", "+1d"))
    rig.aged(*bench.stock[:2], days=3)
    finds(rig, 0, about="without --max-age")
    finds(rig, 15, ("captures.old", 1, "a"), options=("--max-age", "2d"))
    finds(rig, 0, options=("--max-age", "4d"))
    with rig.database() as database:
        database.execute("UPDATE captures SET not_before = not_before - ? WHERE not_before IS NOT NULL", (2 * DAY,))
    finds(rig, 15, ("captures.old", 1, "a"), ("captures.old", 1, "b"), options=("--max-age", "23h"), about="its time came")
    shown = json.loads(rig.run("status", "--json").must(0).out)
    ages = {one["name"]: one["oldest_waiting"]["age_seconds"] // 3600 for one in shown["destinations"]}
    expect(ages == {"a": 72, "b": 24}, f"the oldest have waited for {ages} hours")
    series = metrics(rig)
    for name, hours in ages.items():
        age = series["capqueue_destination_oldest_waiting_seconds", ("destination", name)]
        expect(age // 3600 == hours, f"the series of {name} says {age} s")
    expect(series[("capqueue_oldest_waiting_seconds",)] // 3600 == 72, "the series of all says something else")
    expect(shown["oldest_waiting"]["id"] == bench.stock[0].id, f"the oldest of all is {shown['oldest_waiting']}")


def untold(bench):
    """The end of a session that a destination did not take after five attempts; `run` answers 15 from the first on."""
    rig = bench.rig()
    rig.run("dest", "add", "web", "--kind", "put", "--url", "http://127.0.0.1:9/{sha256}",
            "--session-end-url", "http://127.0.0.1:9/end").must(0)
    rig.push(bench.stock[0], options=("--session", "monday"))
    rig.uploaded(bench.stock[0])
    rig.run("session", "end", "monday").must(0)
    finds(rig, 0, about="a session whose end was not told yet")
    rig.run("run", "--once").must(15, about="run with an end to tell")
    with rig.database() as database:
        database.execute("DELETE FROM markers")
        database.execute("INSERT INTO markers (session, destination, ended_at, key, attempts, due) "
                         "SELECT id, 1, ended_at, 'key', 5, 0 FROM sessions")
    finds(rig, 15, ("session.untold", 1, "web"))


TESTS = [
    ("0: empty, waiting for its turn, sent, let go, cancelled", well),
    ("captures without a destination", unassigned),
    ("captures that the user held", held),
    ("captures that a salvage held", salvaged),
    ("a blocked destination, by reason", blocked),
    ("a paused destination, a paused queue", paused),
    ("14 wins over 13, and 13 over 15", failed),
    ("a spool at its limit, a disk at its floor", full),
    ("a clock in doubt", wrong_clock),
    ("--max-age, by destination", too_old),
    ("the end of a session that is not taken", untold),
]
