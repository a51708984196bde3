"""The plan: stages can begin, the commands for failed tests are whole, and the nightly run leaves nothing out."""
import importlib
import re
import subprocess
import tomllib

from Kit import plan, suite
from Kit.outcomes import ROOT, expect

# What a stage prints as its title and its seed, and what the command that repeats a failure must have.
COMMANDS = {
    "Swift tests": ("refuses(path:)", None, ("CAPTURE_TESTS=all ", "--filter refuses")),
    "transcripts of the release build": ("goesAsRecorded()", None, ("CAPTURE_TOOLS=$PWD/.build/release ",)),
    "Faults": ("memory: it's  odd", None, ("CAPTURE_TESTS=all $(.ci/environment) Tests/run.py Faults ",
                                           """--only 'memory: it'"'"'s  odd'""")),
    "QueueFaults, every system call": ("kill_push: push", "17", ("--every", "--seed 17", "--only 'kill_push: push'")),
    "VerifyPage in Firefox: choices": ("", None, ("--firefox --only choices",)),
    "Spark": ("samples: one", None, ("$(.ci/environment Spark) ",)),
    "C2PA": ("exports: one", None, ("$(.ci/environment C2PA) ", "C2PA --capbundle=.build/release/capbundle --only")),
    "random commands against a model": ("RandomCommands: sequence 4711", None, ("--seed 4711 --sequences 1",)),
    "both implementations on damaged files": ("Differential: case 12", None, ("--only 12",)),
}


def stages_can_begin(_):
    for is_all in (False, True):
        before = set()
        for stage in plan.stages(is_all):
            expect(stage.name not in before, f"two stages are named {stage.name}")
            expect(before.issuperset(stage.needs), f"{stage.name} needs {set(stage.needs) - before}, not before it")
            before.add(stage.name)


def commands_are_whole(_):
    known = {stage.name: stage for stage in plan.stages(True)}
    for name, (title, seed, wanted) in COMMANDS.items():
        known[name].seed = seed
        command = known[name].repeat(title)
        expect(all(words in command for words in wanted), f"{name}: {command}")
        done = subprocess.run(["sh", "-nc", command], capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"{name}: {command}: {done.stderr}")
    expect("CAPTURE_TESTS" not in plan.stages(False)[-1].repeat(""), "a command of make test plays long tests")


def suites_know_their_options(_):
    """Each stage of a suite begins, as far as the suite can be imported without the packages of its environment."""
    known = 0
    for stage in plan.stages(True):
        name = stage.words[2] if plan.RUN in stage.words else ""
        if not (ROOT / "Tests" / name / "suite.py").is_file():
            continue
        try:
            module = importlib.import_module(f"{name}.suite")
        except ModuleNotFoundError:
            continue
        parser = suite.parser_of(name, module)
        _, unknown = parser.parse_known_args(stage.words[3:])
        expect(not unknown, f"{stage.name}: the suite does not take {unknown}")
        known += 1
    expect(known > 15, f"only {known} suites were imported")


def nightly_is_whole(_):
    text = (ROOT / ".github/workflows/nightly.yml").read_text()
    jobs = re.findall(r"\w+", re.search(r"stages: \[(.*?)\]", text, re.S)[1])
    every = plan.stages(True)
    known = {stage.name for stage in plan.without_tools()} | {need for stage in every for need in stage.needs}
    left = [stage.name for stage in every if stage.name not in known and not any(job in stage.name for job in jobs)]
    expect(not left, f"no job of nightly.yml plays {left}")
    for job in jobs:
        expect(any(job in stage.name for stage in every), f"the job {job} has no stage")


def faults_fit(_):
    """Each fault of Tests/Guard changes one place of today's code."""
    faults = tomllib.loads((ROOT / "Tests/Guard/faults.toml").read_text())["fault"]
    for fault in faults:
        file = ROOT / fault["file"]
        expect(file.is_file(), f"{fault['name']}: {fault['file']} is missing")
        count = file.read_text().count(fault["old"])
        expect(count == 1, f"{fault['name']}: its text occurs {count} times in {fault['file']}")


TESTS = [("stages can begin", stages_can_begin), ("commands that repeat a failure", commands_are_whole),
         ("suites know their options", suites_know_their_options),
         ("the nightly run has all stages", nightly_is_whole), ("the faults of Guard fit the code", faults_fit)]
