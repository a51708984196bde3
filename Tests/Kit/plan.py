"""The stages of `make test` and of `make test-all`: the command of each stage, and the stages that it needs."""
import ast
import os
import re

from Kit import outputs
from Kit.outcomes import ROOT
from Kit.stages import Stage

RUN = "Tests/run.py"
RELEASE = ".build/release"
CAPBUNDLE, CAPQUEUE = f"{RELEASE}/capbundle", f"{RELEASE}/capqueue"
RELEASED = ("release build",)
RECEIVER = ".build-receiver/release/receiver"
SEQUENCE = ("--seed", "{}", "--sequences", "1")  # the options for one sequence of random commands
SWIFT_TESTS = ".build/debug/capture-bundlePackageTests.xctest"
HOURS = 4  # until a stage counts as hanging; the nightly jobs end after five


def stages(is_all):
    found = everything() if is_all else short()
    for stage in found if is_all else []:
        stage.environment["CAPTURE_TESTS"] = "all"
        stage.limit = max(stage.limit, HOURS * 3600)
    return found


def short():
    """What `make test` plays: each promise once. The Swift tests have a debug build, whose parts they can import."""
    return [
        *without_tools(),
        *release(),
        *(suite(name, name) for name in ("Sending", "QueueFaults", *BRIEF)),
        program("random commands against a model", "RandomCommands", CAPQUEUE, CAPBUNDLE,
                "--sequences", "40", "--repeatable", "--seed", "20260314", needs=RELEASED, case=SEQUENCE),
        program("both implementations on damaged files", "Differential", CAPBUNDLE, "--cases", "800",
                needs=RELEASED, case=("--only", "{}")),
        program("the sessions of the documents", "Documents", CAPBUNDLE, CAPQUEUE, needs=RELEASED),
    ]


def everything():
    """What `make test-all` plays: every test."""
    seconds = os.environ.get("SECONDS") or "30"
    return [
        *without_tools(),
        *release(),
        Stage("receiver build", ".ci/build", "Samples/Receiver", ".build-receiver", needs=RELEASED),
        Stage("phone build", ".ci/build", "Samples/Phone", ".build-phone", needs=RELEASED),
        Stage("build of the packages", "sh", "-c", "rm -rf .build/packages && exec .ci/packages/build.py .build/packages",
              needs=(*RELEASED, "receiver build")),
        suite("packages in Debian", "Packages", needs=("build of the packages",)),
        environment("Spark"),
        environment("C2PA"),
        environment("Writers"),
        environment("StampJudges"),
        environment("Frameworks"),
        environment("Bench"),
        *(suite(name, name) for name in ("Sending", *BRIEF)),
        # The longest first, so that no lane waits for the last one.
        suite("QueueFaults, every system call", "QueueFaults", "--every", needs=RELEASED),
        suite("PowerCut", "PowerCut", needs=RELEASED),
        suite("Service", "Service", needs=RELEASED),
        program("a package that uses the libraries", "Library", CAPBUNDLE, CAPQUEUE, RECEIVER,
                needs=(*RELEASED, "receiver build")),
        *(suite(name, name, python=name) for name in ("Spark", "C2PA", "Writers", "StampJudges", "Frameworks")),
        suite("VerifyPage in Firefox: verdicts", "VerifyPage", "--firefox", "--only", "verdicts", needs=RELEASED),
        suite("VerifyPage in Firefox: choices", "VerifyPage", "--firefox", "--only", "choices", needs=RELEASED),
        suite("Receiver", "Receiver", needs=(*RELEASED, "receiver build")),
        suite("Phone", "Phone", needs=(*RELEASED, "phone build")),
        program("random commands against a model", "RandomCommands", CAPQUEUE, CAPBUNDLE, "--sequences", "1000",
                needs=RELEASED, case=SEQUENCE),
        program("both implementations on damaged files", "Differential", CAPBUNDLE, "--cases", "100000",
                needs=RELEASED, case=("--only", "{}")),
        program("the sessions of the documents", "Documents", CAPBUNDLE, CAPQUEUE, RECEIVER,
                needs=(*RELEASED, "receiver build")),
        suite("API pages", "APIPages", needs=("build",)),
        Stage("API of the baseline", ".ci/api", needs=("build",)),
        program("ThreadSanitizer", "Threads", alone=True),
        Stage("build of the benches", "env", "CAPQUEUE_BENCH=1", ".ci/build", ".", ".build-bench", "capqueue-bench",
              needs=RELEASED),
        Stage("fuzzing", "python3", "Tests/Fuzz/run.py", "--seconds", seconds, "--jobs", "2", alone=True,
              limit=HOURS * 3600 + 100 * int(seconds)),
        program("benches", "Bench", CAPBUNDLE, needs=(*RELEASED, "receiver build", "build of the benches"),
                python="Bench", alone=True, reads=outputs.command),
    ]


def release():
    """The tools that users get, and the Swift tests, which run beside the build."""
    return [
        Stage("release build", ".ci/build", needs=("build",)),
        swift_tests("Swift tests"),
        swift_tests("transcripts of the release build", "goesAsRecorded", needs=("build", *RELEASED),
                    CAPTURE_TOOLS=f"{ROOT}/{RELEASE}"),
    ]


def without_tools():
    """What every test needs, and the stages that need no tool of ours."""
    return [
        # Line numbers for a debugger would be a third of the build.
        Stage("build", "env", "CAPQUEUE_BENCH=1", "swift", "build", "--build-tests", "-debug-info-format", "none"),
        environment(),
        Stage("the tests of the tests", "python3", RUN, "KitTests", reads=outputs.lines),
        Stage("format and lint", "swift", "format", "lint", "--strict", "--recursive", "Package.swift", "Sources", "Tests",
              "Samples"),
        program("code that walks over Characters does not compile", "CharacterBan"),
        program("folders use each other one way", "Rooms"),
        program("nothing is decided by the text of a sentence", "Sentences"),
        script("the sample depth map equals what its script renders", "Samples/desk-lamp/render.py", "--check"),
        script("the forgeries equal what their script makes", "Samples/tampered/make.py", "--check"),
        script("the vectors equal what their generator makes", "Spec/Generator/generate.py", "--check"),
        script("each rule of the format has a vector", "Spec/Generator/check_coverage.py"),
        script("the second implementation on all vectors", "Spec/Generator/run_vectors.py"),
        program("the examples of the format equal the vectors", "Documents/examples"),
        program("the examples of the libraries equal the tests", "Documents/library"),
        program("each fault of the queue names tests that exist", "Documents/faults"),
    ]


def environment(name=None):
    return Stage(f"environment {name}" if name else "environment", ".ci/environment", *((name,) if name else ()))


def swift_tests(name, only=None, needs=("build",), **environment):
    # `swift test` runs the same program, but reports nothing if a test ends it by SIGKILL, SIGTERM or exit().
    command = [SWIFT_TESTS, "--testing-library", "swift-testing"]

    def again(title, _):
        chosen = title.partition("(")[0] or only
        return [*command, *(("--filter", chosen) if chosen else ())]

    return Stage(name, *command, *(("--filter", only) if only else ()), reads=outputs.swift, needs=needs, again=again,
                 **environment)


# What `make test` plays a part of, and `make test-all` the whole.
BRIEF = ("Alarms", "Faults", "Stamps", "Judges", "Hardware", "ReportPages", "VerifyPage", "Installed", "Python", "Released")
# The programs under test, by the names of the suites' options.
BUILT = {"capbundle": CAPBUNDLE, "capqueue": CAPQUEUE, "receiver": RECEIVER, "phone": ".build-phone/release/phone-pack"}


def suite(title, name, *words, needs=RELEASED, python=None):
    """A stage that plays a suite of Tests. The suite is not imported, since it may need the Python of its environment."""
    text = (ROOT / "Tests" / name / "suite.py").read_text()
    taken = ast.literal_eval(re.search(r"^PROGRAMS = (.*)$", text, re.MULTILINE)[1])
    words = [*words, *(f"--{program}={BUILT[program]}" for program in taken)]

    def again(test, seed):
        chosen = [word for word in words if word not in ("--only", "verdicts", "choices")] if test else words
        more = (["--seed", seed] if seed else []) + (["--only", test] if test else [])
        return [f"$(.ci/environment{f' {python}' if python else ''})", RUN, name, *chosen, *more]

    return program(title, name, *words, python=python, needs=needs, again=again)


def program(title, name, *words, python=None, needs=(), reads=outputs.lines, case=None, **how):
    """A stage that plays a program of Tests. `case` are the options for one of its cases, by the number of the case."""
    command = [interpreter(python), RUN, name, *words]
    if case:
        how["again"] = lambda title, _: [*command, *(word.format(title.split()[-1]) for word in case if title)]
    return Stage(title, *command, needs=(*needs, *made(python)), reads=reads, **how)


def script(title, *words):
    return Stage(title, interpreter(None), *words, needs=made(None))


def interpreter(environment):
    """The Python that the stage of an environment makes."""
    return f".build/{(environment or 'python').lower()}/bin/python"


def made(environment):
    return (f"environment {environment}" if environment else "environment",)
