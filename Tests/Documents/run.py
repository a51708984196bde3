"""Runs the commands in the documents and compares their output, so that pasted lines print what the page shows.

usage: Tests/run.py Documents CAPBUNDLE CAPQUEUE [RECEIVER]

Without the receiver, blocks that start it are left out.

In a page, ```console blocks are sessions: `$ ` begins a command line, and its output on both streams follows. ```sh
blocks are pasted as they are, and a ```text block after one is its output. All blocks of a page run in one folder, in
order, which contains Samples/ and Spec/ as a clone does. Values that differ on every run (hashes, ids, keys, times,
ports, free space) are compared by their form; the time of the sample's capture is compared exactly.

A command that begins with `receiver serve` and is not in the background is for a second terminal: it continues until the page
ends, on any free port, and the commands after it get its URL in place of http://127.0.0.1:8080. Its output is not compared.

The index of findings must have one row for each script, and the drawing of README must be what its script draws.
"""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from Kit.outcomes import PATIENCE, ROOT

PAGES = ["README.md", "Samples/README.md", "Samples/operations.md", "Samples/receivers.md", "Samples/python/README.md"]
SHOWN_URL = "http://127.0.0.1:8080"  # where the sample receiver listens unless it gets a port
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
FORMS = [
    (re.compile(r"[0-9a-f]{64}"), "<hash>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"[A-Za-z0-9+/]{87}="), "<point>"),
    (re.compile(r"(?!2026-03-14T)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z"), "<time>"),
    (re.compile(r"[\d,]+(?= bytes (?:are )?free)"), "<bytes>"),
    (re.compile(r"(?<=http://127\.0\.0\.1:)\d+"), "<port>"),
    (re.compile(r"(?<=^  encryption    )[a-z -]+$", re.M), "<kind>"),
    (re.compile(r"^capqueue: note: SQLite \d\S+ has a bug .*\n", re.M), ""),  # depends on the version of SQLite
    (re.compile(r"(?<=waits for )\d+ s$", re.M), "<age>"),
    (re.compile(r"(?<=is due in )\d+ d \d+ h$", re.M), "<age>"),
    (re.compile(r"(?<= in )\d+\.\d s$", re.M), "<duration>"),
]


def formed(text):
    for pattern, word in FORMS:
        text = pattern.sub(word, text)
    return [line.rstrip() for line in text.strip("\n").split("\n")] if text.strip() else []


def steps(page, has_receiver):
    """Returns pairs of input and expected output; the output is None if the page does not show it."""
    blocks = [block for block in FENCE.findall(page) if has_receiver or not re.search(r"^\$ receiver ", block[1], re.M)]
    for (kind, body), following in zip(blocks, blocks[1:] + [("", "")]):
        if kind == "sh":
            yield body, following[1] if following[0] == "text" else None
        elif kind == "console":
            for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
                command, _, output = part.partition("\n")
                yield command, output


def second_terminal(command, work, env):
    """Starts a server on a free port; returns it with the URL that it prints once it can be reached."""
    with open(work / "second-terminal.log", "wb") as log:
        server = subprocess.Popen(["bash", "-c", f"exec {command} --port 0"], cwd=work, env=env, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True)
    return server, server.stdout.readline().strip()


def run_page(name, tools, more=None, patience=PATIENCE):
    """Runs the lines of a page; their background processes continue until the page ends. A page that brings its own files gets
    `more`, variables for its commands, in place of Samples and Spec."""
    failures, count, groups, url = [], 0, [], SHOWN_URL
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        work = home / "work"
        work.mkdir()
        (home / "bin").mkdir()
        for command, tool in zip(("capbundle", "capqueue", "receiver"), tools):
            (home / "bin" / command).symlink_to(tool)
        for sample in () if more else ("Samples", "Spec"):
            (work / sample).symlink_to(ROOT / sample)
        env = {"PATH": "/usr/bin:/bin", **(more or {}), "HOME": folder, "LC_ALL": "C.UTF-8", "TMPDIR": folder}
        env["PATH"] = f"{home}/bin:{env['PATH']}"
        try:
            for command, expected in steps((ROOT / name).read_text(), len(tools) == 3):
                if command.startswith(("make ", "sudo ")):
                    continue
                if command.startswith("receiver serve ") and not command.rstrip().endswith("&"):
                    server, url = second_terminal(command, work, env)
                    groups.append(server.pid)
                    count += 1
                    if not url:  # it ended
                        failures.append(f"{name}: $ {command}\n{(work / 'second-terminal.log').read_text()}")
                    continue
                command = command.replace(SHOWN_URL, url)
                process = subprocess.Popen(
                    ["bash", "-c", command], cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT, text=True, start_new_session=True)
                groups.append(process.pid)
                shown = process.communicate(timeout=patience)[0].replace(folder, "~")
                count += 1
                if expected is not None and formed(shown) != formed(expected):
                    failures.append(f"{name}: $ {command}\n--- the page\n{expected}--- the tool\n{shown}")
                elif expected is None and process.returncode != 0:
                    failures.append(f"{name}: exit {process.returncode} of: {command}\n{shown}")
        finally:
            for group in groups:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGKILL)  # a server that ends slowly would write while its folder is deleted
    return count, failures


def index_faults():
    """Scripts of findings/ without exactly one row in its README.md, and rows without a script."""
    rows = re.findall(r"^\| \[(\S+)\]\(\1\) \|", (ROOT / "findings/README.md").read_text(), re.M)
    scripts = [path.name for path in (ROOT / "findings").glob("*.sh")]
    return [f"findings/README.md: {name}: {rows.count(name)} rows for {scripts.count(name)} scripts"
            for name in sorted({*rows, *scripts}) if rows.count(name) != scripts.count(name)]


def drawing_faults():
    """Draws the picture of README again beside a copy of its script, and compares it with the one that is kept."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "Samples/way/draw.py", folder)
        subprocess.run([sys.executable, f"{folder}/draw.py"], check=True)
        drawn = pathlib.Path(folder, "way.svg").read_bytes()
    kept = (ROOT / "Samples/way/way.svg").read_bytes()
    return [] if drawn == kept else ["Samples/way/way.svg is not what Samples/way/draw.py draws"]


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: Tests/run.py Documents CAPBUNDLE CAPQUEUE [RECEIVER]")
    tools = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    passed = failed = 0
    for name in PAGES:
        count, failures = run_page(name, tools)
        print(f"{name}: {count} commands")
        for failure in failures:
            print(f"FAIL {failure}", flush=True)
        passed += count - len(failures)
        failed += len(failures)
        if count == 0:
            print(f"FAIL {name} shows no command")
            failed += 1
    for fault in index_faults() + drawing_faults():
        print(f"FAIL {fault}")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
