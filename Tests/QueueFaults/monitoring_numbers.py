"""Numbers for monitoring: series, counters, a backlog and how long it takes; alerts on them, and who tells somebody."""
import json
import os
import pathlib
import re
import subprocess

from checks import expect
from monitoring import NEEDS_USER, metrics, promtool, rig_to

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "Samples"


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
    expect(len(codes) == 13, f"codes are {sorted(codes)}")
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
      - series: capqueue_concerns{code="quota.limit"}
        values: 0x9 1+0x2000
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
              summary: "captures.held for a day (2): a person has to decide"
              description: "capqueue status --check says what was found, and the next command."
      - eval_time: 40m
        alertname: CapqueueFull
        exp_alerts:
          - exp_labels: {severity: page, code: quota.limit}
            exp_annotations:
              summary: "push refuses new captures: quota.limit"
              description: "capqueue status --check says what was found, and the next command."
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
    ("counters never go back", counters),
    ("deliveries by destination and state; all series from the start", deliveries),
    ("a backlog by destination, and how long it takes", backlog),
    ("the example alerts", alerts),
    ("tell.sh tells somebody", told),
]
