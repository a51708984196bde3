"""Monitoring tells the truth: `run`, every form of `status`, and Prometheus find what stays as it is until a person
decides. QueueConcernTests shows each concern; the transcript of monitoring, its words."""
import json
import os
import pathlib
import re
import shutil
import subprocess

from Kit.outcomes import Skipped, expect
from Kit.queues import DAY
from Kit.servers.scripted import Reply, Scripted

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "Samples"
NEEDS_USER = ("credentials", "endpoint", "tls", "local", "refusing", "unproven", "address")
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
            labels = re.findall(r'(\w+)="([^"]*)"', labels or "")
            expect(("queue", str(rig.queue)) in labels, f"the series {line!r} does not name the queue {rig.queue}")
            key = (name, *sorted(label for label in labels if label[0] != "queue"))
            expect(key not in series, f"the series {line!r} is there twice")
            series[key] = float(value)
    return series


def status(rig, *options):
    return json.loads(rig.run("status", "--json", *options).must(0, about="status --json").out)


def finds(rig, code, *wanted, options=(), about=""):
    """All forms of `status` find these concerns, (code, count, destination) each, and --check ends with `code`."""
    shown = status(rig, *options)["concerns"]
    there = [(each["code"], each["count"], each.get("destination")) for each in shown]
    expect(there == list(wanted), f"{about}: finds {there}, expected {list(wanted)}")
    lines = rig.run("status", "--check", *options).must(code, about=about or "status --check").out.decode().splitlines()
    expect(len(lines) == len(shown) and all(line.startswith(f"{one['message']}; ") and line.endswith(one["next"])
                                            for line, one in zip(lines, shown)), f"{about}: --check prints {lines}")
    expect(not shown or min(shown, key=lambda one: [14, 13, 15].index(one["exit_code"]))["exit_code"] == code,
           f"{about}: the codes of {shown} do not make {code}")
    page = rig.run("status", *options).must(0).out.decode()
    expect(all(line in page for line in lines) and ("needs a decision" in page) == bool(lines), f"prints {page!r}")
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
        rig.to_folder(name)
    return rig


def cut_short(bench):
    """A run that always ends before a capture is sent is a concern after the third time, which names the limit."""
    rig = rig_to(bench)
    with Scripted(lambda request: Reply(201)) as server:
        rig.run("dest", "add", "a", "--kind", "put", "--url", f"{server.url}/{{sha256}}", "--proof", "status").must(0)
        rig.push(bench.stock[0])
        for wanted in ([], [], [("run.limit", 1, "a")]):
            rig.run("run", "--bwlimit", "1000", "--max-duration", "1s", "--grace", "0s").must(15, about="too short")
            shown = finds(rig, 15 if wanted else 0, *wanted, about="cut off")
        expect("(1s)" in shown[0]["message"], f"says {shown}")
        rig.run("run", "--dest", "a").must(0, about="a run without a limit")
    finds(rig, 0, about="sent")


def too_old(bench):
    """--max-age: what has waited for longer, by destination. What was told to wait is no older than that."""
    rig = rig_to(bench, "a", "b")
    rig.push(bench.stock[0])
    rig.push(bench.stock[1], options=("--dest", "b", "--not-before", "+1d"))
    rig.aged(bench.stock[0], days=3)
    finds(rig, 15, ("captures.old", 1, "a"), options=("--max-age", "2d"))
    rig.change("UPDATE deliveries SET waits_from = waits_from - ? WHERE not_before IS NOT NULL", 2 * DAY)
    shown, series = status(rig), metrics(rig)
    for name, hours in (("a", 72), ("b", 24)):
        ages = [one["oldest_waiting"]["age_seconds"] // 3600 for one in shown["destinations"] if one["name"] == name]
        expect(ages == [hours], f"the oldest of {name} has waited for {ages} hours")
        age = series["capqueue_destination_oldest_waiting_seconds", ("destination", name)]
        expect(age // 3600 == hours, f"the series of {name} says {age} s")
    expect(series[("capqueue_oldest_waiting_seconds",)] // 3600 == 72, "the series of all says something else")
    expect(shown["oldest_waiting"]["id"] == bench.stock[0].id, f"the oldest of all is {shown['oldest_waiting']}")


def counters(bench):
    """Counters do not go back when captures are deleted, nor when destinations are removed."""
    rig = rig_to(bench, "a", "b", "c")
    rig.push(*bench.stock[:4])
    rig.run("run").must(0)
    before = {key: value for key, value in metrics(rig).items() if key[0].endswith(("_total", "_count", "_sum"))}
    expect(len(before) == 4, f"counters are {sorted(before)}")
    rig.prune("--older-than", "0s")
    rig.aged(*bench.stock[:4], days=40)
    rig.prune()
    expect(not rig.query("SELECT 1 FROM attempts LIMIT 1 OFFSET 1"), "the history was not condensed")
    after = metrics(rig)
    expect({key: after[key] for key in before} == before, "counters have changed with prune")
    for destination in (2, 3, 98, 99):
        rig.change("INSERT INTO counts VALUES ('attempt', ?, 'failed', 1, 10, 1000)", destination)
        rig.change("INSERT INTO counts VALUES ('latency', ?, 1000, 1, 0, 0)", destination)
    gone = ("destination", "")
    series = metrics(rig)
    expect(series["capqueue_attempts_total", gone, ("outcome", "failed")] == 2, "removed destinations are not counted")
    expect(series["capqueue_attempt_seconds_count", gone] == 2, "the attempts of removed destinations are not counted")
    expect(series["capqueue_attempts_total", ("destination", "b"), ("outcome", "failed")] == 1, "b is not counted")


def backlog(bench):
    """How long it takes to send what waits, once a rate is known; QueueConcernTests has the cases without one."""
    rig = rig_to(bench, "a")
    rig.push(*bench.stock[:3])
    page = rig.run("status").must(0).out.decode()
    expect(page.count("no rate yet") == 1 and "about" not in page, f"status prints {page!r}")
    rig.run("run").must(0)
    # Each attempt took a second, one after the other, a minute ago.
    rig.change("UPDATE attempts SET started_at = ended_at / 1000 * 1000 - 60000 + id * 2000")
    rig.change("UPDATE attempts SET ended_at = started_at + 1000")
    rig.push(*bench.stock[3:9])
    size, waiting = (sum(len(bundle.data) for bundle in part) for part in (bench.stock[:3], bench.stock[3:9]))
    wanted = {"captures": 6, "bytes": waiting, "bytes_per_second": size // 3, "seconds": -(-waiting * 3 // size)}
    shown = status(rig)
    expect(shown["destinations"][0]["backlog"] == wanted, f"the backlog is {shown['destinations'][0]['backlog']}")
    expect(shown["backlog"]["seconds"] == wanted["seconds"], f"all takes {shown['backlog']}")
    there = metrics(rig)["capqueue_backlog_bytes", ("destination", "a")]
    expect(there == waiting, f"the series says {there} bytes")
    expect("about 6 s at" in rig.run("status").out.decode(), "status does not say how long it takes")


def strange_path(bench):
    """The label `queue` is the absolute path, with the escapes of the text format."""
    rig = bench.rig()
    name = 'a "b"\\c\n{d="e"}'
    rig.run("init", "--queue", name).must(0)
    text = rig.run("status", "--prometheus", "--queue", name).must(0).out.decode()
    promtool("check", "metrics", text=text)
    escaped = f"{rig.out}/{name}".replace("\\", r"\\").replace('"', r'\"').replace("\n", r"\n")
    expect(f'capqueue_running{{queue="{escaped}"}} 0\n' in text, f"the label is in {text[-300:]!r}")


def silent_threads(bench):
    """Threads of libdispatch may not get the priority that they ask for. The system log, and so the mail, does not hear of it."""
    rig = rig_to(bench, "a")
    log, prefix = rig.folder / "strace", ["nice", "-n", "10"]
    if os.geteuid() == 0:
        prefix += ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"]
    for _ in range(60):
        rig.run("status", prefix=[*prefix, "strace", "-f", "-A", "-o", log, "-e", "trace=setpriority,connect"]).must(0)
        text = log.read_text()
        if asks := re.search("setpriority.*EACCES", text):  # often the command ends before a thread asks
            break
    expect(asks, "no thread asks for a priority that it may not have")
    expect("/dev/log" not in text, f"it writes to the system log: {text[-300:]!r}")


def alerts(bench):
    """The example alerts are valid, and name series and codes that `status --prometheus` prints."""
    rig = rig_to(bench, "a")
    rig.push(bench.stock[0])
    rig.run("run").must(0)
    series = metrics(rig)
    rules = (SAMPLES / "alerts.yml").read_text()
    expressions = " ".join(re.findall(r"expr: (.*(?:\n {10}.*)*)", rules))
    named = set(re.findall(r"capqueue_\w+", expressions))
    expect(len(named) > 4 and named <= {key[0] for key in series}, f"alerts name {sorted(named)}")
    values = {value for key in series for _, value in key[1:]}
    labels = {value for text in re.findall(r'(?:code|reason)!?[=~]+"([^"]*)"', expressions)
              for value in text.split("|")}
    expect(set(NEEDS_USER) <= labels and labels <= values, f"alerts name {sorted(labels - values)}, which nothing has")
    promtool("check", "rules", SAMPLES / "alerts.yml")
    promtool("test", "rules", pathlib.Path(__file__).with_name("alerts_test.yml"))


def told(bench):
    """Samples/tell.sh: what failed for good at once, what else lasts for a day after that day, and each once a day."""
    rig = rig_to(bench, "a")
    since, got = rig.folder / "since", rig.folder / "got"

    def tell(code, *command, about):
        env = {**rig.env, "PATH": f"{bench.folder}:{os.environ['PATH']}"}
        done = subprocess.run([SAMPLES / "tell.sh", since, *command], env=env, capture_output=True, text=True)
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
    passes(25)
    tell(1, "false", about="a day later, by a command that fails")
    pathlib.Path(f"{since}.message").rename(f"{since}.told")
    tell(0, about="told by another program, which took the message")
    (rig.out / "a" / f"{bench.stock[1].id}.bundle").mkdir()
    rig.run("run").must(14)
    expect("failed for good" in tell(1, about="failed for good"), "it does not say what failed")
    tell(0, about="failed for good, told a moment ago")
    rig.run("cancel", "--all").must(0)
    tell(0, about="well again")
    left = [path.name for path in rig.folder.iterdir() if path.name.startswith("since")]
    expect(not left, f"it remembers what is over: {left}")


def told_of_age(bench):
    """Samples/tell.sh: what has waited for two days at once, and nothing of it before, whatever else there was meanwhile."""
    rig = rig_to(bench, "a")
    since = rig.folder / "since"

    def tell(about):
        env = {**rig.env, "PATH": f"{bench.folder}:{os.environ['PATH']}"}
        done = subprocess.run([SAMPLES / "tell.sh", since], env=env, capture_output=True, text=True)
        expect(done.returncode in (0, 1), f"{about}: exit {done.returncode}, {done.stderr!r}")
        return done.stderr

    rig.push(*bench.stock[:2])
    rig.run("hold", bench.stock[1].id).must(0)
    expect(not tell("held since now"), "held since now is told")
    os.utime(since, (since.stat().st_mtime - 25 * 3600,) * 2)
    rig.run("cancel", bench.stock[1].id).must(0)
    rig.aged(bench.stock[0], days=1.5)
    expect(not tell("waits for a day and a half"), "what has waited for a day and a half is told")
    rig.aged(bench.stock[0], days=0.6)
    said = tell("waits for two days")
    expect("has waited" in said or "have waited" in said, f"after two days it says {said!r}")
    expect(not tell("told a moment ago"), "it is told twice")


TESTS = [
    ("a run whose --max-duration is too short", cut_short),
    ("--max-age, by destination", too_old),
    ("counters never go back", counters),
    ("a backlog, and how long it takes", backlog),
    ("the example alerts", alerts),
    ("tell.sh tells somebody", told),
    ("tell.sh tells of age after two days", told_of_age),
    ("the label of a queue with a strange path", strange_path),
    ("threads that get no priority leave the system log alone", silent_threads),
]
