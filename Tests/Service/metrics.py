"""What Prometheus gets of two queues through the node exporter of Debian 12, and the alerts that Samples/alerts.yml raises on
these series; promtool plays each state for 90 minutes."""
import json
import re
import shutil
import subprocess

from Kit.outcomes import ROOT, Skipped, expect, long

SECONDS = 300
TEXTS = "/var/lib/prometheus/node-exporter"
SECOND = "/srv/second"
MINUTES = 90
SERIES = re.compile(r"^((?:capqueue|node_textfile_mtime)_\w+(?:\{.*\})?) (\S+)$", re.M)


def scraped(machine):
    """The series of capqueue that the node exporter shows now."""
    ask = "exec 3<>/dev/tcp/127.0.0.1/9100; printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3"
    text = machine.must(f"bash -c \"{ask}\"")
    expect(" 200 OK" in text.splitlines()[0], f"the node exporter says {text[:200]!r}")
    expect('node_textfile_scrape_error 0' in text, "the node exporter cannot read a file")
    return {name: value for name, value in SERIES.findall(text) if not name.startswith("node_")}


def written(machine):
    machine.must("systemctl start capqueue-metrics.service")
    text = machine.capqueue("status --prometheus", queue=SECOND)
    machine.write(f"{TEXTS}/capqueue-second.prom", text)
    return scraped(machine)


def alerts(folder, states):
    """Plays the states one after the other, and returns which alerts fire at the end of each, with their queues."""
    names = sorted({name for state in states for name in state})
    values = {name: " ".join(f"{state[name]}x{MINUTES - 1}" if name in state else f"_x{MINUTES}" for state in states)
              for name in names}
    shutil.copy(ROOT / "Samples/alerts.yml", folder)
    found = []
    for number in range(len(states)):
        # What is expected here is never there, so that promtool prints what is.
        asked = {"expr": 'count by (alertname, queue) (ALERTS{alertstate="firing"})',
                 "eval_time": f"{MINUTES * (number + 1) - 1}m", "exp_samples": [{"labels": '{x="x"}', "value": 0}]}
        test = {"rule_files": ["alerts.yml"], "evaluation_interval": "1m", "tests": [
            {"interval": "1m", "input_series": [{"series": name, "values": values[name]} for name in names],
             "promql_expr_test": [asked]}]}
        (folder / "test.json").write_text(json.dumps(test))
        done = subprocess.run(["promtool", "test", "rules", "test.json"], cwd=folder, capture_output=True, text=True, check=False)
        said = (done.stdout + done.stderr).partition("got:")[2]
        expect(said, f"promtool says {(done.stdout + done.stderr)[:300]!r}")
        found.append(set(re.findall(r'\{alertname="(\w+)"(?:, queue="([^"]*)")?\}', said)))
    return found


def two_queues(bench):
    """Each series of both queues is there, with its own value. A service that is dead while a capture waits, a destination of the
    second queue that is blocked, and a file that is gone: each raises its alert, and nothing else does."""
    if not shutil.which("promtool"):
        raise Skipped("promtool is not installed; .ci/promtool prints the folder of one")
    machine, states = bench.machine, []
    machine.must(f"install -d -o capqueue -g capqueue -m 0700 {SECOND} /srv/drop")
    machine.capqueue("init || true")
    machine.capqueue("init", queue=SECOND)
    machine.capqueue("dest add drop --kind folder --path /srv/drop", queue=SECOND)
    machine.must("systemctl start capqueue.service prometheus-node-exporter.service")
    machine.wait("a run is active", "[ -e /var/lib/capqueue/run.json ]")
    series = written(machine)
    for name in (name for name in series if 'queue="/var/lib/capqueue"' in name and "destination=" not in name):
        expect(name.replace('queue="/var/lib/capqueue"', f'queue="{SECOND}"') in series, f"the second queue has no {name}")
    expect(series['capqueue_running{queue="/var/lib/capqueue"}'] == "1" and
           series[f'capqueue_running{{queue="{SECOND}"}}'] == "0", "the two queues have one value")
    states.append(series)
    machine.must("systemctl stop capqueue.service")
    machine.capqueue("dest add other --kind folder --path /srv/drop")
    machine.capqueue("push --dest other /srv/a.bundle --resend")
    machine.must("chmod 0500 /srv/drop")
    machine.capqueue("push /srv/a.bundle", queue=SECOND)
    machine.capqueue("run --once", code=15, queue=SECOND)
    machine.must("date -s '+2 hours' >/dev/null")
    states.append(written(machine))
    machine.must(f"rm {TEXTS}/capqueue-second.prom")
    states.append(scraped(machine))
    expect(not any(SECOND in name for name in states[-1]), "the second queue is still there")
    found = [{each for each in one if each[0] != "CapqueueClock"} for one in alerts(bench.folder, states)]  # it was moved
    wanted = [set(), {("CapqueueNotRunning", "/var/lib/capqueue"), ("CapqueueNotRunning", SECOND), ("CapqueueBlocked", SECOND)},
              {("CapqueueNotRunning", "/var/lib/capqueue"), ("CapqueueNoLongerReported", SECOND)}]
    expect(found == wanted, f"alerts are {found}, expected {wanted}")


TESTS = [("two queues, by promtool and the node exporter", long(two_queues))]
