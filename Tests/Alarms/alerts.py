"""What the rules of Samples/alerts.yml make of the series of a queue, as promtool plays it."""
import json
import re
import shutil
import subprocess

from Kit.outcomes import ROOT, Skipped, expect

RULES = ROOT / "Samples/alerts.yml"
STEP = 300  # seconds between two samples
DAY = 86_400
GONE = 'capqueue_running{instance="rig",queue="/q"}'
WRITTEN = 'node_textfile_mtime_seconds{file="/x/capqueue.prom"}'


def play(folder, series, age, *checks):
    """Lets the series of `status --prometheus` last for more than a day. `checks` are pairs of a time and what fires then.

    With an `age` something waits from so many seconds on, else all values stay. No series mean that nothing is written any more.
    """
    if not shutil.which("promtool"):
        raise Skipped("promtool is not installed; .ci/promtool prints the folder of one")
    count = ((age or 0) + DAY + 3 * 3600) // STEP
    inputs = {WRITTEN: f"0+{STEP}x{count}"} if series else {GONE: "1 _", WRITTEN: "0"}
    named = set(re.findall(r"capqueue_\w+", RULES.read_text()))
    for (metric, *labels), value in series.items():
        text = ",".join(f"{one}={json.dumps(two)}" for one, two in labels)
        grows = age is not None and "oldest_waiting" in metric
        if metric in named:
            inputs[f"{metric}{{{text}}}"] = f"0x{age // STEP} 0+{STEP}x{count}" if grows else f"{value:.0f}x{count}"
    tests = [{"expr": expression, "eval_time": time, "exp_samples": samples} for time, (expression, samples) in checks]
    path = folder / "alerts.json"
    path.write_text(json.dumps({
        "rule_files": [str(RULES)], "evaluation_interval": f"{STEP}s", "tests": [{
            "interval": f"{STEP}s", "promql_expr_test": tests,
            "input_series": [{"series": one, "values": two} for one, two in inputs.items()]}]}))
    done = subprocess.run(["promtool", "test", "rules", path], capture_output=True, text=True, timeout=60, check=False)
    expect(done.returncode == 0, f"the alerts: {(done.stdout + done.stderr).strip()[-400:]!r}")


def fires(name):
    return f'count(ALERTS{{alertname="{name}",alertstate="firing"}}) > bool 0', [{"labels": "{}", "value": 1}]


def none_fires(but=""):
    return f'count(ALERTS{{alertname!="{but}",alertstate="firing"}})', []
