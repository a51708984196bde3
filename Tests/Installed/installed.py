"""The man pages, completions, systemd units and scripts that `make install` puts beside the tools."""
import datetime
import fcntl
import json
import os
import pty
import re
import select
import shutil
import subprocess
import termios
import time

from Kit.outcomes import IS_LONG, ROOT, Skipped, expect, long
from Kit.rigs import Home

# Calls the completion function for the given words as bash does, and prints its suggestions.
BASH = """
. "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
"_$1" "$1" "${@: -1}" "${@: -2:1}"
printf '%s\\n' "${COMPREPLY[@]}"
"""
# Ctrl-T appends the command line to a file and empties it.
ZSH_SETTINGS = """
fpath=("{folder}" $fpath); autoload -Uz compinit; compinit -u -D
keep() {{ print -r -- "$BUFFER" >>"{kept}"; BUFFER= }}; zle -N keep; bindkey '^T' keep
PS1='ready> '
"""
FISH_SETTINGS = """
function fish_prompt; echo -n 'ready> '; end
function keep; commandline >>'{kept}'; commandline -r ''; commandline -f repaint; end; bind \\ct keep
"""
UNITS = sorted(path for path in (ROOT / "Samples/systemd").iterdir() if path.suffix in (".service", ".timer"))
SHARED = ("alerts.yml", "cron.sh", "tell.sh")
ZSH = 'fpath=("$1" $fpath); autoload -Uz compinit; compinit -u -D; autoload +X "_$2" && print -r -- "$_comps[$2]"'


class Place(Home):
    """An installation in usr/local of a temporary folder."""

    def __init__(self, tools, folder):
        super().__init__(folder / "home")
        self.tools, self.folder = tools, folder
        self.prefix = folder / "root/usr/local"
        self.share = self.prefix / "share"
        self.env |= {"PATH": f"{self.prefix / 'bin'}:{self.env['PATH']}", "XDG_DATA_DIRS": f"{self.share}:/usr/share",
                     "TERM": "dumb"}
        self.work = folder / "work"
        self.work.mkdir()
        (self.work / "cap.bundle").touch()
        self.id = ""

    def run(self, *words, code=0):
        if not shutil.which(words[0], path=self.env["PATH"]):
            raise Skipped(f"{words[0]} is not here")
        done = self.call(*words, cwd=self.work).must(code, about=words[0])
        return (done.out + done.err).decode()

    def pages(self):
        return sorted((self.share / "man/man1").iterdir())


def install(place):
    for _ in range(2 if IS_LONG else 1):
        place.run(ROOT / ".ci/install", *place.tools.values(), "/usr/local", place.folder / "root")
    found = {str(path.relative_to(place.prefix)) for path in place.prefix.rglob("*") if path.is_file()}
    wanted = set()
    for name, binary in place.tools.items():
        wanted |= {f"bin/{name}", f"share/bash-completion/completions/{name}", f"share/zsh/site-functions/_{name}",
                   f"share/fish/vendor_completions.d/{name}.fish", *(f"share/man/man1/{page}.1" for page in titles(place, name))}
        expect((place.prefix / "bin" / name).read_bytes() == binary.read_bytes(), f"another {name} is installed")
    wanted |= {f"lib/systemd/system/{path.name}" for path in UNITS} | {f"share/capqueue/{name}" for name in SHARED}
    wanted |= {"lib/sysusers.d/capqueue.conf", "lib/tmpfiles.d/capqueue.conf"}
    wanted |= {"libexec/capbundle/capbundle-decode", "share/capbundle/verify.html", "share/capqueue/installed"}
    expect(found == wanted, f"installed are also or not: {sorted(found ^ wanted)}")
    for name in place.tools:
        tools = {**place.tools, name: place.folder / "missing"}
        place.run(ROOT / ".ci/install", *tools.values(), "/usr/local", place.folder / "none", code=1)
        expect(not (place.folder / "none").exists(), f"without {name} something is installed")


def titles(place, name):
    """Each command in the help has a man page."""
    def walk(command, words):
        yield "-".join(words)
        for one in command.get("subcommands", []):
            if one["shouldDisplay"] and one["commandName"] != "help":
                yield from walk(one, [*words, one["commandName"]])
    return list(walk(json.loads(place.run(place.tools[name], "--experimental-dump-help"))["command"], [name]))


def well_formed(place):
    said = place.run("mandoc", "-Tlint", "-W", "warning", *place.pages())
    expect(not said, f"mandoc says: {said.strip()[:300]}")


def readable(place):
    pages = place.pages()
    for path in pages if IS_LONG else pages[::10]:
        said = place.run("man", "--warnings", "-l", path)
        expect("SYNOPSIS" in said and ": warning: " not in said, f"man does not read {path.name}")
        expect("SEE ALSO" in said and "EXIT STATUS" in said, f"{path.name} lacks a part")


def grouped(place):
    """The man page of capqueue lists each command once, in the groups of the help."""
    text = (place.share / "man/man1/capqueue.1").read_text().split(".Sh COMMANDS")[1].split(".Sh EXIT STATUS")[0]
    groups = [part.split("\n")[0].strip() for part in text.split(".Ss ")[1:]]
    expect(groups == ["Everyday", "Destination", "Repair"], f"the groups are {groups}")
    named = [line.split()[2] for line in text.splitlines() if line.startswith(".It Xr")]
    top = [name for name in titles(place, "capqueue") if name.count("-") == 1 or name == "capqueue-mark-uploaded"]
    expect(sorted(named) == sorted(top), f"the commands are {named}")


def exit_codes(place):
    """The man page of each tool lists the exit codes of its table in Spec."""
    for name, code in (("capbundle", "1"), ("capbundle", "78"), ("capqueue", "10"), ("capqueue", "15"), ("capqueue", "78")):
        text = (place.share / f"man/man1/{name}.1").read_text()
        expect(f"\n.It {code}\n" in text, f"{name}.1 does not say what {code} means")
    expect("\n.It 10\n" not in (place.share / "man/man1/capbundle.1").read_text(), "capbundle.1 has codes of capqueue")


def queue(place):
    """Makes a queue with a capture, a session and two destinations in the usual place, and another queue in `other`."""
    place.run("capbundle", "key", "new")
    place.run("capbundle", "pack", ROOT / "Samples/desk-lamp/raw", "-o", place.folder / "made.bundle")
    for folder in ("disk", "attic"):
        (place.folder / folder).mkdir()
        place.run("capqueue", "dest", "add", folder, "--kind", "folder", "--path", place.folder / folder)
    place.id = place.run("capqueue", "push", place.folder / "made.bundle", "--session", "monday").strip()
    place.run("capqueue", "dest", "add", "elsewhere", "--kind", "folder", "--path", place.folder / "disk",
              "--queue", place.work / "other")


def values(place):
    """Command lines, and the word that the shell has to offer for their last word."""
    return [
        ("capqueue dest add nas --kind fo", "folder"), ("capqueue list --state perm", "permanently_failed"),
        ("capqueue list --state failed,perm", "failed,permanently_failed"), ("capbundle verify --require dep", "depth"),
        ("capbundle verify --require photo,dep", "photo,depth"), ("capqueue export --format sha", "sha256sum"),
        ("capbundle pack raw --location co", "coarse"), ("capqueue config ret", "retention"),
        ("capqueue push --dest att", "attic"), ("capqueue dest show att", "attic"), ("capqueue run --dest att", "attic"),
        ("capqueue session end mon", "monday"), ("capqueue list --session mon", "monday"),
        (f"capqueue show {place.id[:4]}", place.id), (f"capqueue cancel {place.id[:6]}", place.id),
        ("capqueue dest show --queue other els", "elsewhere"), ("capqueue dest set office --checksum m", "md5"),
    ]


def nothing_to_offer(place):
    """If there is no queue, or it cannot be read, completion prints nothing and makes nothing."""
    folder = place.folder / "no-queue"
    broken = place.folder / "broken"
    broken.mkdir(mode=0o700)
    (broken / "queue.sqlite").write_bytes(b"no database" * 999)
    for path in (folder, broken):
        before = sorted(path.rglob("*"))
        for words in (["dest", "show", "--", "positional@0"], ["push", "--", "--dest"], ["session", "end", "--", "positional@0"],
                      ["show", "--", "positional@0"]):
            started = time.monotonic()
            said = place.run("capqueue", "---completion", *words, "3", "0", "capqueue", "--queue", path, "")
            expect(not said.strip(), f"says {said!r}")
            expect(time.monotonic() - started < 5, "takes its time")
        expect(sorted(path.rglob("*")) == before and (path.exists() or path == folder), f"changes {path}")
    expect(not folder.exists(), "makes a queue")


def bash(place):
    def offered(*words):
        script = place.share / "bash-completion/completions" / words[0]
        return place.run("bash", "--norc", "-c", BASH, "bash", script, *words).split()

    for line, wanted in (*values(place), ("capbundle ve", "verify"), ("capbundle trust re", "revoke"), ("capbundle pack --out-", "--out-dir"),
                         ("capbundle verify cap", "cap.bundle"), ("capbundle verify --trust cap", "cap.bundle"),
                         ("capqueue mark", "mark-uploaded"), ("capqueue dest de", "default"), ("capqueue session e", "end"),
                         ("capqueue prune --can", "--cancelled"), ("capqueue push cap", "cap.bundle")):
        found = offered(*line.split())
        expect(wanted in found, f"{line}: offers {found[:5]}, not {wanted}")


def zsh(place):
    folder = place.share / "zsh/site-functions"
    for name in place.tools:
        place.run("zsh", "-n", folder / f"_{name}")
        said = place.run("zsh", "-f", "-c", ZSH, "zsh", folder, name)
        expect(said.strip() == f"_{name}", f"compinit does not find it: {said.strip()[:200]}")


def zsh_values(place):
    settings = place.folder / "zsh"
    settings.mkdir()
    kept = place.folder / "kept-zsh"
    (settings / ".zshrc").write_text(ZSH_SETTINGS.format(folder=place.share / "zsh/site-functions", kept=kept))
    on_terminal(place, ["zsh", "-d", "-i"], {"ZDOTDIR": str(settings)}, kept)


def fish_values(place):
    kept = place.folder / "kept-fish"
    on_terminal(place, ["fish", "-i", "-C", FISH_SETTINGS.format(kept=kept)], {}, kept)


def on_terminal(place, command, environment, kept):
    """Types command lines and Tab into a real shell on a terminal, and compares the command lines that it makes of them."""
    if not shutil.which(command[0]):
        raise Skipped(f"{command[0]} is not here")
    master, slave = pty.openpty()
    shell = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=place.work, start_new_session=True,
                             env=place.env | {"TERM": "xterm", **environment},
                             preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0))
    try:
        read_until(master, lambda shown: b"ready> " in shown)
        lines = values(place)
        for number, (line, wanted) in enumerate(lines if IS_LONG else lines[::5], start=1):
            os.write(master, line.encode() + b"\t")
            # The shell has to finish before Ctrl-T is typed.
            read_until(master, lambda shown: wanted.encode() in shown, seconds=10)
            os.write(master, b"\x14")
            read_until(master, lambda _: number <= len(kept.read_text().splitlines() if kept.exists() else []))
            lines = kept.read_text().splitlines() if kept.exists() else []
            expect(len(lines) == number, f"{line}: {command[0]} does not answer")
            expect(lines[-1].split()[-1] == wanted, f"{line}: becomes {lines[-1]!r}, not {wanted}")
    finally:
        shell.kill()
        shell.wait()
        os.close(master)
        os.close(slave)


def read_until(master, is_done, seconds=20):
    """Reads what a terminal shows until the condition holds or the time is over."""
    shown, end = b"", time.monotonic() + seconds
    while not is_done(shown) and time.monotonic() < end:
        if select.select([master], [], [], 0.05)[0]:
            shown += os.read(master, 65536)
    return shown


def fish(place):
    for name in place.tools:
        place.run("fish", "-n", place.share / f"fish/vendor_completions.d/{name}.fish")
    for text, wanted in (("capbundle ve", "verify"), ("capbundle pack --out-", "--out-dir"),
                         ("capbundle verify cap", "cap.bundle"), ("capqueue mark", "mark-uploaded"),
                         ("capqueue dest de", "default"), ("capqueue push --not-", "--not-before"),
                         ("capqueue push cap", "cap.bundle")):
        found = place.run("fish", "-c", "complete -C $argv[1]", text)
        expect(wanted in found, f"{text}: {wanted} is not offered")


def summer_time(_):
    """The timers that start something each minute or hour do so in the night with which summer time ends, too."""
    for path, seconds in ((path, {"minutely": 60, "hourly": 3600}) for path in UNITS if path.suffix == ".timer"):
        when = re.search(r"^OnCalendar=(.*)$", path.read_text(), re.M)[1]
        if when.split()[0] not in seconds:
            continue
        said = subprocess.run(["systemd-analyze", "calendar", when, "--base-time=2026-10-25 00:00:30 UTC", "--iterations=130"],
                              env=os.environ | {"TZ": "Europe/Berlin", "LC_ALL": "C"}, capture_output=True, text=True, check=True).stdout
        found = re.findall(r"\(in UTC\): \w+ (\S+ \S+) UTC", said)
        times = [datetime.datetime.fromisoformat(text) for text in found]
        expect(len(times) > 100, f"{path.name}: {said[:200]!r}")
        steps = {(after - before).total_seconds() for before, after in zip(times, times[1:])}
        expect(steps == {seconds[when.split()[0]]}, f"{path.name}: {when} starts it after {sorted(steps)} seconds")


def units(place):
    """In another PREFIX than /usr/local, whose paths they have then: what they start is there, and systemd takes them."""
    prefix = place.folder / "opt/a&b"
    place.run(ROOT / ".ci/install", *place.tools.values(), prefix)
    installed = sorted((prefix / "lib/systemd/system").iterdir())
    expect([path.name for path in installed] == [path.name for path in UNITS], f"units are {installed}")
    for path in installed:
        expect("/usr/local" not in path.read_text(), f"{path.name} names /usr/local, and it is in {prefix}")
    for name in SHARED:
        expect((prefix / "share/capqueue" / name).read_bytes() == (ROOT / "Samples" / name).read_bytes(), f"another {name}")
    place.env["MANPATH"] = str(prefix / "share/man")
    place.run(ROOT / ".ci/install", *place.tools.values(), place.folder / "my tools", code=64)
    said = place.run("systemd-analyze", "verify", *installed)
    expect(not said, f"systemd-analyze says: {said.strip()[:500]}")


def uninstall(place):
    """Twice installed beside files of others: what was there before is there again, and nothing else."""
    root = place.folder / "shared"
    others = root / "share/man/man1/other.1"
    others.parent.mkdir(parents=True)
    others.write_text("other\n")
    (root / "share/capbundle").mkdir()
    before = sorted(root.rglob("*"))
    for _ in range(2):
        place.run(ROOT / ".ci/install", *place.tools.values(), root)
    expect((root / "bin/capqueue").exists() and len(list(others.parent.iterdir())) > 50, "nothing was installed")
    (root / "share/capqueue/mine").write_text("mine\n")
    place.run(ROOT / ".ci/uninstall", root)
    left = sorted(path for path in root.rglob("*") if path not in before)
    expect(left == [root / "share/capqueue", root / "share/capqueue/mine"], f"leaves {left}")
    expect(all(path.exists() for path in before), "removes what was there before")
    place.run(ROOT / ".ci/uninstall", root, code=66)


def scripts(place):
    """cron.sh and tell.sh where they were installed, with the installed tool and without a checkout."""
    place.env["CAPQUEUE_DIR"] = str(place.work / "cron")
    captures = place.work / "outgoing"
    captures.mkdir()
    (captures / "a.bundle").write_bytes((ROOT / "Samples/desk-lamp/desk-lamp.bundle").read_bytes())
    place.run(place.prefix / "bin/capqueue", "config", "retention", "7d")
    place.run(place.share / "capqueue/tell.sh", "since")
    said = place.run(place.share / "capqueue/cron.sh", captures)
    expect("until there is a destination" in said, f"cron.sh says {said!r}")
    place.run(place.share / "capqueue/tell.sh", "since")
    os.utime(place.work / "since", (0, 0))
    said = place.run(place.share / "capqueue/tell.sh", "since", code=1)
    expect("capqueue dest add" in said, f"tell.sh says {said!r}")


TESTS = [
    ("make install puts both tools, a man page a command, completions, units and scripts in their places", install),
    ("the man pages are well formed (mandoc)", well_formed),
    ("the man pages can be read (man)", readable),
    ("the man page of the queue groups the commands", grouped),
    ("the man pages say the exit codes of their tool", exit_codes),
    ("the installed tools make a queue", queue),
    ("completion prints and makes nothing where there is no queue", nothing_to_offer),
    ("bash completes commands, options, values, names and ids of the queue, and file names", bash),
    ("zsh finds its completions", zsh),
    ("zsh completes values, names and ids of the queue", zsh_values),
    ("fish completes commands, options and file names", fish),
    ("fish completes values, names and ids of the queue", long(fish_values)),
    ("the systemd units are those of the PREFIX, and sound (systemd-analyze)", units),
    ("no timer stands still for the hour with which summer time ends (systemd-analyze)", summer_time),
    ("the scripts for cron work without a checkout", scripts),
    ("make uninstall removes exactly what make install wrote", uninstall),
]
