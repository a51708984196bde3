#!/usr/bin/env python3
"""Installs a built capbundle into a folder and tries what comes with it: man pages and completions. installed.py BINARY

Needs mandoc, man, zsh and fish for their parts (`make docs-check` installs them); a part whose program is missing is skipped.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(1, str(ROOT / "Tests/Outcomes"))
from outcomes import Outcomes, Skipped, expect  # noqa: E402  (found by the line above)

# Calls the completion function as bash does for the words given, and prints what it offers.
BASH = """
. "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
_capbundle capbundle "${@: -1}" "${@: -2:1}"
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = 'fpath=("$1" $fpath); autoload -Uz compinit; compinit -u -D; autoload +X _capbundle && print -r -- "$_comps[capbundle]"'


class Place:
    """An installation under usr/local of a folder."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.prefix = folder / "root/usr/local"
        self.share = self.prefix / "share"
        self.environment = {"PATH": f"{self.prefix / 'bin'}:{os.environ['PATH']}", "HOME": str(folder), "LC_ALL": "C.UTF-8",
                            "XDG_DATA_DIRS": f"{self.share}:/usr/share", "TERM": "dumb"}
        self.work = folder / "work"
        self.work.mkdir()
        (self.work / "cap.bundle").touch()

    def run(self, *words, code=0):
        if not shutil.which(words[0]):
            raise Skipped(f"{words[0]} is not here")
        done = subprocess.run([str(word) for word in words], cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)
        expect(done.returncode == code, f"{words[0]}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[:300]}")
        return done.stdout + done.stderr

    def pages(self):
        return sorted((self.share / "man/man1").iterdir())


def install(place):
    for _ in range(2):
        place.run(ROOT / ".ci/install", place.binary, "/usr/local", place.folder / "root")
    found = {str(path.relative_to(place.prefix)) for path in place.prefix.rglob("*") if path.is_file()}
    wanted = {"bin/capbundle", "share/bash-completion/completions/capbundle", "share/zsh/site-functions/_capbundle",
              "share/fish/vendor_completions.d/capbundle.fish", *(f"share/man/man1/{name}.1" for name in titles(place))}
    expect(found == wanted, f"installed are also or not: {sorted(found ^ wanted)}")
    expect((place.prefix / "bin/capbundle").read_bytes() == place.binary.read_bytes(), "another binary is installed")
    place.run(ROOT / ".ci/install", place.folder / "missing", "/usr/local", place.folder / "none", code=1)
    expect(not (place.folder / "none").exists(), "without a binary something is installed")


def titles(place):
    """The page of each command that the help shows."""
    def walk(command, words):
        yield "-".join(words)
        for one in command.get("subcommands", []):
            if one["shouldDisplay"] and one["commandName"] != "help":
                yield from walk(one, [*words, one["commandName"]])
    return list(walk(json.loads(place.run(place.binary, "--experimental-dump-help"))["command"], ["capbundle"]))


def well_formed(place):
    said = place.run("mandoc", "-Tlint", "-W", "warning", *place.pages())
    expect(not said, f"mandoc says: {said.strip()[:300]}")


def readable(place):
    for path in place.pages():
        said = place.run("man", "--warnings", "-l", path)
        expect("SYNOPSIS" in said and "warning" not in said, f"man does not read {path.name}")
        expect("SEE ALSO" in said and "EXIT STATUS" in said, f"{path.name} lacks a part")


def bash(place):
    script = place.share / "bash-completion/completions/capbundle"

    def offered(*words):
        return place.run("bash", "--norc", "-c", BASH, "bash", script, *words).split()

    for words, wanted in ((("ve",), "verify"), (("trust", "re"), "revoke"), (("pack", "--out-"), "--out-dir"),
                          (("pack", "raw", "--location", "co"), "coarse"), (("verify", "cap"), "cap.bundle"),
                          (("verify", "--trust", "cap"), "cap.bundle")):
        found = offered("capbundle", *words)
        expect(wanted in found, f"capbundle {' '.join(words)}: offers {found[:5]}, not {wanted}")


def zsh(place):
    folder = place.share / "zsh/site-functions"
    place.run("zsh", "-n", folder / "_capbundle")
    said = place.run("zsh", "-f", "-c", ZSH, "zsh", folder)
    expect(said.strip() == "_capbundle", f"compinit does not find it: {said.strip()[:200]}")


def fish(place):
    place.run("fish", "-n", place.share / "fish/vendor_completions.d/capbundle.fish")
    for text, wanted in (("capbundle ve", "verify"), ("capbundle pack --out-", "--out-dir"),
                         ("capbundle verify cap", "cap.bundle")):
        found = place.run("fish", "-c", "complete -C $argv[1]", text)
        expect(wanted in found, f"{text}: {wanted} is not offered")


CHECKS = [
    ("make install puts the binary, a man page a command and completions in their places", install),
    ("the man pages are well formed (mandoc)", well_formed),
    ("the man pages can be read (man)", readable),
    ("bash completes commands, options, values and file names", bash),
    ("zsh finds its completions", zsh),
    ("fish completes commands, options and file names", fish),
]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: installed.py BINARY")
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory(prefix="capbundle-install-") as folder:
        place = Place(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder).resolve())
        for title, check in CHECKS:
            outcomes.run(title, check, place)
    return outcomes.close()


if __name__ == "__main__":
    sys.exit(main())
