"""Monitoring tells the truth: what stays as it is until a person decides is found by `status --check` and `run`, in every
form of `status`, and by Prometheus."""
import json
import os
import pathlib
import re
import shutil
import subprocess

from checks import Skipped, every, expect
from destinations import folder
from queues import DAY
from wrong_clocks import faked

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "Samples"
NEEDS_USER = ("credentials", "endpoint", "tls", "local", "refusing", "unproven", "address")
ENDS_BY_ITSELF = ("wait", "full", "offline", "failing")
SERIES = re.compile(r'(\w+)(?:\{(.*)\})? (\S+)')


def promtool(*words, text=None):
    if not shutil.which("promtool"):
        raise Skipped("promtool is not installed (Debian: prometheus)")
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


def counters(bench):
    """Counters do not go back when captures are let go, nor when destinations are removed."""
    rig = rig_to(bench, "a", "b", "c")
    rig.push(*bench.stock[:4])
    rig.run("run").must(0)
    before = {key: value for key, value in metrics(rig).items() if key[0].endswith(("_total", "_count", "_sum"))}
    expect(len(before) == 4, f"counters are {sorted(before)}")
    rig.run("prune", "--older-than", "0s").must(0)
    rig.aged(*bench.stock[:4], days=40)
    rig.run("prune").must(0, about="prune, which condenses the history")
    expect(not rig.query("SELECT 1 FROM attempts LIMIT 1 OFFSET 1"), "the history was not condensed")
    after = metrics(rig)
    expect({key: after[key] for key in before} == before, "counters have changed with prune")
    with rig.database() as database:
        for destination in (2, 3, 98, 99):
            database.execute("INSERT INTO traffic VALUES (?, 'failed', 1, 10, 1000)", (destination,))
            database.execute("INSERT INTO latency VALUES (?, 1000, 1)", (destination,))
    gone = ("destination", "")
    series = metrics(rig)
    expect(series["capqueue_attempts_total", gone, ("outcome", "failed")] == 2, "removed destinations are not counted")
    expect(series["capqueue_attempt_seconds_count", gone] == 2, "the attempts of removed destinations are not counted")
    expect(series["capqueue_attempts_total", ("destination", "b"), ("outcome", "failed")] == 1, "b is not counted")


def deliveries(bench):
    """Deliveries by destination and state; every series is there before anything is wrong."""
    rig = rig_to(bench, "a", "b")
    names = set(metrics(rig))
    states = {dict(key[1:])["state"] for key in names if key[0] == "capqueue_deliveries"}
    expect(len(states) == 10, f"states are {sorted(states)}")
    codes = {dict(key[1:])["code"] for key in names if key[0] == "capqueue_concerns"}
    expect(len(codes) == 11, f"codes are {sorted(codes)}")
    rig.push(*bench.stock[:3], options=("--dest", "a", "--dest", "b"))
    rig.run("run", "--dest", "a").must(0)
    rig.run("hold", bench.stock[0].id).must(0)
    series = metrics(rig)
    expect(names <= set(series), f"series went away: {sorted(names - set(series))}")

    def count(name, state):
        return series["capqueue_deliveries", ("destination", name), ("state", state)]
    there = count("a", "completed"), count("a", "pending"), count("b", "pending"), count("b", "held")
    expect(there == (3, 0, 2, 1), f"deliveries are {there}")
    waiting = sum(len(bundle.data) for bundle in bench.stock[1:3])
    expect(series["capqueue_backlog_bytes", ("destination", "b")] == waiting, "the backlog of b is another one")


def backlog(bench):
    """What waits for each destination, and how long it takes at the present rate, once there is one."""
    rig = rig_to(bench, "a", "b")
    rig.push(*bench.stock[:3], options=("--dest", "a", "--dest", "b"))

    def shown():
        status = json.loads(rig.run("status", "--json").must(0).out)
        return status["backlog"], {one["name"]: one["backlog"] for one in status["destinations"]}
    size = sum(len(bundle.data) for bundle in bench.stock[:3])
    whole, each = shown()
    expect(whole == {"captures": 6, "bytes": 2 * size}, f"the backlog is {whole}")
    expect(each == {name: {"captures": 3, "bytes": size} for name in "ab"}, f"backlogs are {each}")
    page = rig.run("status").must(0).out.decode()
    expect(page.count("no rate yet") == 2 and "about" not in page and "to all" in page, f"status prints {page!r}")
    rig.run("run").must(0)
    with rig.database() as database:  # each attempt took a second, one after the other, a minute ago
        database.execute("UPDATE attempts SET started_at = ended_at / 1000 * 1000 - 60000 + id * 2000")
        database.execute("UPDATE attempts SET ended_at = started_at + 1000")
    rig.push(*bench.stock[3:9], options=("--dest", "a",))
    whole, each = shown()
    waiting = sum(len(bundle.data) for bundle in bench.stock[3:9])
    rate = size // 3
    expect(each["a"] == {"captures": 6, "bytes": waiting, "bytes_per_second": rate, "seconds": -(-waiting * 3 // size)},
           f"the backlog of a is {each['a']}, {rate} bytes a second were sent")
    expect(whole["seconds"] == each["a"]["seconds"] and each["b"] == {"captures": 0, "bytes": 0}, f"all: {whole}, {each}")
    expect("about 6 s at" in rig.run("status").out.decode(), "status does not say how long it takes")
    rig.run("pause", "--dest", "a").must(0)
    whole, each = shown()
    expect("seconds" not in whole and "seconds" not in each["a"], f"paused, and it takes {each['a']}")


def alerts(bench):
    """The example alerts are valid, and name series and codes that `status --prometheus` prints."""
    rig = rig_to(bench, "a")
    rig.push(bench.stock[0])
    rig.run("run").must(0)
    series = metrics(rig)
    rules = (SAMPLES / "alerts.yml").read_text()
    expressions = " ".join(re.findall(r"expr: (.*)", rules))
    named = set(re.findall(r"capqueue_\w+", expressions))
    expect(len(named) > 4 and named <= {key[0] for key in series}, f"alerts name {sorted(named)}")
    values = {value for key in series for _, value in key[1:]}
    labels = {value for text in re.findall(r'(?:code|reason)!?[=~]+"([^"]*)"', expressions) for value in text.split("|")}
    expect(set(NEEDS_USER) <= labels and labels <= values, f"alerts name {sorted(labels - values)}, which nothing has")
    test = rig.folder / "alerts_test.yml"
    test.write_text(ALERT_TEST.replace("RULES", str(SAMPLES / "alerts.yml")))
    promtool("check", "rules", str(SAMPLES / "alerts.yml"))
    promtool("test", "rules", str(test))


ALERT_TEST = """
rule_files: [RULES]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: capqueue_running
        values: 1+0x2000
      - series: node_textfile_mtime_seconds{file="/x/capqueue.prom"}
        values: 0+60x2000
      - series: capqueue_concerns{code="captures.held"}
        values: 0x9 2+0x2000
      - series: capqueue_concerns{code="captures.failed"}
        values: 0x9 1+0x2000
      - series: capqueue_destination_blocked{destination="a",reason="credentials"}
        values: 0x9 1+0x2000
      - series: capqueue_destination_blocked{destination="a",reason="offline"}
        values: 1+0x2000
    alert_rule_test:
      - {eval_time: 5m, alertname: CapqueueFailed, exp_alerts: []}
      - {eval_time: 20h, alertname: CapqueueNeedsYou, exp_alerts: []}
      - {eval_time: 20h, alertname: CapqueueNotReported, exp_alerts: []}
      - eval_time: 25h
        alertname: CapqueueNeedsYou
        exp_alerts:
          - exp_labels: {severity: ticket, code: captures.held}
            exp_annotations:
              summary: "captures.held for a day: 2 are not sent until somebody decides"
              description: "capqueue status --check says what, and the next command."
      - eval_time: 40m
        alertname: CapqueueBlocked
        exp_alerts:
          - exp_labels: {severity: page, destination: a, reason: credentials}
            exp_annotations:
              summary: "nothing is sent to a: credentials"
              description: "capqueue dest test a says what is wrong."
"""


def told(bench):
    """Samples/tell.sh: what failed for good at once, what else lasts for a day after that day, and each once a day."""
    rig = rig_to(bench, "a")
    since, got = rig.folder / "since", rig.folder / "got"

    def tell(code, *command, about):
        env = {**rig.env, "PATH": f"{bench.folder}:{os.environ['PATH']}"}
        done = subprocess.run([SAMPLES / "tell.sh", since, *command], env=env, capture_output=True, text=True, timeout=60)
        expect(done.returncode == code, f"{about}: exit {done.returncode}, {done.stderr!r}")
        expect(bool(done.stderr) == (code == 1 and not command), f"{about}: prints {done.stderr!r}")
        return done.stderr

    def passes(hours):
        for path in (since, pathlib.Path(f"{since}.told")):
            if path.exists():
                os.utime(path, (path.stat().st_mtime - hours * 3600,) * 2)

    rig.push(*bench.stock[:2])
    tell(0, about="all is well")
    rig.run("hold", bench.stock[0].id).must(0)
    tell(0, about="held since now")
    passes(23)
    tell(0, about="held for 23 hours")
    passes(2)
    said = tell(1, about="held for 25 hours")
    expect("15" in said and "1 capture for a is held" in said, f"says {said!r}")
    tell(0, about="told a moment ago")
    passes(25)
    tell(1, "false", about="a day later, by a command that fails")
    tell(0, "cp", "/dev/stdin", got, about="once more, since nobody was told")
    expect("capqueue release --dest a" in got.read_text(), f"the command gets {got.read_text()!r}")
    tell(0, about="told by a command")
    (rig.out / "a" / f"{bench.stock[1].id}.bundle").write_text("another")
    rig.run("run").must(14)
    expect("failed for good" in tell(1, about="failed for good"), "it does not say what failed")
    tell(0, about="failed for good, told a moment ago")
    rig.run("cancel", "--all").must(0)
    tell(0, about="well again")
    expect(not since.exists() and not pathlib.Path(f"{since}.told").exists(), "it remembers what is over")


TESTS = [
    ("0: empty, waiting for its turn, sent, let go, cancelled", well),
    ("captures without a destination", unassigned),
    ("captures that the user held", held),
    ("captures that a salvage held", salvaged),
    ("a blocked destination, by reason", blocked),
    ("a paused destination, a paused queue", paused),
    ("14 wins over 13, and 13 over 15", failed),
    ("a clock in doubt", wrong_clock),
    ("--max-age, by destination", too_old),
    ("the end of a session that is not taken", untold),
    ("counters never go back", counters),
    ("deliveries by destination and state; all series from the start", deliveries),
    ("a backlog by destination, and how long it takes", backlog),
    ("the example alerts", alerts),
    ("tell.sh tells somebody", told),
]
