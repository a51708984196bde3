"""Builds Samples/library, a package that depends on ours by version, in debug and in release, and runs it. Then plays the
sessions of Samples/Guides.docc, which clone the repository and build a copy of that package.

usage: Tests/run.py Library CAPBUNDLE CAPQUEUE RECEIVER [--only debug]

The URL in its Package.swift leads to a temporary repository of the files that git tracks here, in their current state,
with the tag that `make release` makes. Everything is made in a temporary folder; settings of git and caches of SwiftPM
do not change.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from Documents.run import run_page
from Kit.outcomes import PATIENCE, ROOT, every, expect
from Kit.rigs import Home
from Kit.suite import Lines

DEPENDENCY = re.compile(r'url: "(.*/capture-bundle.git)", from: "(.*)"')
RAW = ROOT / "Samples/desk-lamp/raw"
GUIDES = {name: f"Samples/Guides.docc/{name}.md" for name in ("Servers", "Apps")}
BUILDING = 1800  # in seconds
# What a program is linked to that only verifies: the system, Swift, hashes and signatures, compression.
LINKED = re.compile(r"(/\S*/ld-linux|linux-vdso|lib(c|m|stdc\+\+|gcc_s|crypto|z|deflate|dispatch|BlocksRuntime|swift\w*|_?Foundation"
                    r"\w*)\.so)")


class Package(Home):
    """A copy of the sample, and the repository on which it depends."""

    def __init__(self, capbundle, folder):
        super().__init__(folder / "home")
        self.capbundle, self.folder = capbundle, folder
        self.package, self.library = folder / "rig", folder / "capture-bundle"
        shutil.copytree(ROOT / "Samples/library", self.package, ignore=shutil.ignore_patterns(".build", ".swiftpm"))
        address, self.version = DEPENDENCY.search((self.package / "Package.swift").read_text()).groups()
        # Reuse what SwiftPM has already fetched for the checkout.
        fetched = {output("git", "-C", mirror, "config", "remote.origin.url").strip(): mirror
                   for mirror in ROOT.glob(".build/repositories/*/")}
        settings = [(f"url.{place}.insteadOf", origin) for origin, place in {**fetched, address: self.library}.items()]
        settings += [("user.name", "Test"), ("user.email", "test@example.org"), ("commit.gpgSign", "false"),
                     ("tag.gpgSign", "false"), ("core.hooksPath", os.devnull)]
        # SwiftPM and its compiler need what the user set; nothing else of it may count here.
        self.env = with_git_settings(settings)

    def release(self):
        """Makes the repository of the tracked files, with uncommitted changes."""
        for name in output("git", "-C", ROOT, "ls-files", "-z").split("\0")[:-1]:
            if (ROOT / name).is_file():
                (self.library / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.library / name)
        for words in (["init", "--quiet"], ["add", "--force", "."], ["commit", "--quiet", "--message", self.version]):
            output("git", "-C", self.library, *words, environment=self.env)
        output(self.library / ".ci/release", "tag", environment=self.env)

    def build(self, configuration):
        places = [word for name in ("scratch", "cache", "config", "security")
                  for word in (f"--{name}-path", self.folder / name)]
        # Use a file and not a pipe: a program that SwiftPM leaves running would keep the pipe open.
        with open(self.folder / "log", "w+") as log:
            done = self.call("swift", "build", "-c", configuration, "--disable-index-store", *places, cwd=self.package,
                             stdout=log, stderr=log, seconds=BUILDING)
            log.seek(0)
            said = log.read()
        if done.code:
            print(said, flush=True)
        done.must(0, about="swift build")

    def run(self, *words, code=0):
        """Runs a program, which must exit with `code`; returns its output."""
        return self.call(*words).must(code, about=words[0].name).out.decode()

    def program(self, configuration, name):
        return self.folder / "scratch" / configuration / name


def with_git_settings(settings):
    """Returns the environment with these settings for git added to those that it already has."""
    environment = dict(os.environ)
    first = int(environment.get("GIT_CONFIG_COUNT") or 0)
    for number, (key, value) in enumerate(settings, first):
        environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": str(value)}
    return environment | {"GIT_CONFIG_COUNT": str(first + len(settings))}


def output(*words, environment=None):
    return subprocess.run(words, check=True, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          timeout=PATIENCE).stdout


def seals(package, configuration, room):
    """`capbundle` verifies what the program packed, and finds the id that it printed."""
    bundle, key, trust = room / "cap.bundle", room / "keys/device.key", room / "trust"
    words = [package.program(configuration, "seal-and-check"), RAW, key, bundle]
    said = package.run(*words)
    package.run(package.capbundle, "trust", "add", "rig", f"{key}.pub", "--trust", trust)
    report = json.loads(package.run(package.capbundle, "verify", "--json", "--trust", trust, bundle))
    capture = report["bundle"]["id"]
    expect(said == f"verified {capture}\n", f"prints {said!r}, the id is {capture}")
    package.run(*words, code=1)  # the bundle exists already


def verifies(package, configuration, room):
    """A program with CaptureBundle only: it is linked to no picture library, and needs neither a key nor a home folder."""
    program, bundle, trust = package.program(configuration, "check-bundle"), room / "cap.bundle", room / "trust"
    capture = json.loads(package.run(package.capbundle, "show", "--json", bundle))["bundle"]["id"]
    traced = room / "opened"
    said = package.run(pathlib.Path(shutil.which("env")), "-u", "HOME", "strace", "-f", "-e", "trace=%file", "-o", traced,
                       program, trust, bundle)
    expect(said == f"verified {capture}\n", f"prints {said!r}, the id is {capture}")
    seen = [line for line in traced.read_text().splitlines() if str(package.home) in line or "device.key" in line]
    expect(not seen, f"looks at {seen[:3]}")
    linked = {line.split()[0] for line in output("ldd", program).splitlines()}
    other = [name for name in linked if not LINKED.match(name)]
    expect(not other, f"is linked to {other}")


def pushes(package, configuration, room):
    """A bundle is stored once, and a bundle with a changed byte is refused."""
    bundle, altered, queue = room / "cap.bundle", room / "altered.bundle", room / "queue"
    program = package.program(configuration, "push-to-queue")
    capture = json.loads(package.run(package.capbundle, "show", "--json", bundle))["bundle"]["id"]
    for outcome in ("stored", "held-already"):
        said = package.run(program, queue, bundle)
        expect(said == f"{capture} {outcome}\nwaiting: 1\n", f"prints {said!r}, expected {capture} {outcome}")
    data = bytearray(bundle.read_bytes())
    data[len(data) // 2] ^= 1
    altered.write_bytes(data)
    package.run(program, queue, altered, code=1)


def guides(package, tools):
    """A reader can paste the commands of each guide, into one folder, and see the output that it shows."""
    more = {name: value for name, value in package.env.items() if name == "PATH" or name.startswith("GIT_CONFIG_")}
    more["SWIFTPM_BUILD_DIR"] = str(package.folder / "scratch")  # has the libraries already

    def judge(name, page):
        count, failures = run_page(page, tools, more, BUILDING)
        expect(count > 5 and not failures, f"{count} commands: {failures}")

    every(GUIDES, judge)


def main():
    parser = argparse.ArgumentParser(description="Builds and runs a package that depends on the libraries.")
    parser.add_argument("capbundle", type=pathlib.Path, help="verifies what the package makes")
    parser.add_argument("capqueue", type=pathlib.Path)
    parser.add_argument("receiver", type=pathlib.Path)
    parser.add_argument("--only", choices=["debug", "release"], help="build in this configuration only")
    options = parser.parse_args()
    tools = [options.capbundle.resolve(), options.capqueue.resolve(), options.receiver.resolve()]
    outcomes = Lines()
    with tempfile.TemporaryDirectory(prefix="capbundle-library-") as folder:
        package = Package(tools[0], pathlib.Path(folder).resolve())
        package.release()
        for configuration in [options.only] if options.only else ["debug", "release"]:
            room = package.folder / f"room-{configuration}"
            room.mkdir(mode=0o700)
            outcomes.run(f"{configuration}: the package builds", package.build, configuration)
            outcomes.run(f"{configuration}: packs and verifies", seals, package, configuration, room)
            outcomes.run(f"{configuration}: only verifies", verifies, package, configuration, room)
            outcomes.run(f"{configuration}: pushes", pushes, package, configuration, room)
        outcomes.run("the sessions of the guides", guides, package, tools)
    return outcomes.close()
