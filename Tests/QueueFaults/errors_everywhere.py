"""Calls that touch files fail, in every command of both tools: each that changes something, and a part of the others.

The command then ends by itself, with a code of Spec/command-line.md or Spec/capqueue.md that is not 70, and what it
says is for people. What else must hold after an error is in call_errors and Faults/crash_commands.
"""
import contextlib
import functools
import json
import re
import sqlite3

from Kit import kills
from Kit.injection import MAKING, WRITING, prefix, report, since, sweep, trace, with_a_rig
from Kit.invariants import words_for_people
from Kit.outcomes import expect, long
from Kit.queues import photo_of
from Kit.rigs import write_raw
from Released.make import commands
from Stamps.authority import Authorities

CODES = {"capbundle": (0, 1, 2, 3, 4, 64, 65, 66, 73, 74, 77, 78)}
CODES["capqueue"] = (*CODES["capbundle"], 10, 11, 12, 13, 14, 15)
LOOKING = "access faccessat faccessat2 fstat newfstatat statx readlink readlinkat statfs fstatfs getdents64".split()
CHANGING = [*MAKING, *"unlink unlinkat mkdir mkdirat chmod fchmod fchmodat fchown utimensat fsetxattr".split()]
GROWING = [*WRITING, *"ftruncate fallocate copy_file_range sendfile pwritev2 sync_file_range".split()]
# Each error, and the calls that can meet it.
ERRORS = {
    "EIO": [*"openat read pread64 close flock fcntl lseek ioctl".split(), *LOOKING, *CHANGING, *GROWING],
    "EACCES": ["openat", *LOOKING, *CHANGING],
    "ENOSPC": ["mkdir", "mkdirat", "fsetxattr", "inotify_add_watch", *MAKING, *GROWING],
    "EMFILE": "openat dup dup3 pipe2 socket socketpair epoll_create1 eventfd2 inotify_init1 timerfd_create".split(),
    "EAGAIN": ["clone", "clone3", "vfork"],
}
ALONE = ("-b", "execve")  # lets go of the programs that a command starts
NAMES = sorted({name for names in ERRORS.values() for name in names})

# Each command in a usual form. It runs in `out` beside what `prepared` makes. IDn is a capture of the stock.
LINES = {"capbundle": """
    pack ../raw -o new.bundle --multipart new.body --headers new.headers; pack ../raws/a ../raws/b --out-dir new --chain
    verify ../x.bundle --stamps --tsa-ca ../root.pem --state ../state; verify ../x.bundle ../y.bundle
    show ../x.bundle --json; depth ../x.bundle --image new.png --beside; chain ../x.bundle ../kept
    report ../x.bundle ../y.bundle -o new.html --csv new.csv; stamp ../y.bundle --with cat --tsa-ca ../root.pem
    stamp ../y.bundle --query ../y.tsq --reply ../y.answer --tsa-ca ../root.pem; extract ../x.bundle -o new --floats
    redact ../x.bundle --withhold location.json,depth -o new.bundle; restore ../cut.bundle ../x.bundle -o new.bundle
    multipart ../x.bundle -o new.body --headers new.headers; from-body ../x.body -o new.bundle
    sign-request ../x.body --device-id 7d4f1f4c-6f43-4a58-9f0e-6d6f9d7f0a11
    key new --key ../new.key; key show; key public --format jwk; key passwd --new-passphrase-file ../secret
    key recover --last-bundle ../x.bundle
    trust add new ../other.pub; trust list; trust set rig --valid-before 2099-01-01; trust revoke rig
""", "capqueue": """
    push ../x.bundle ../y.bundle --session friday; adopt ../more --pack; run; wait ID3; status; report -o new.html
    list; show ID0; history ID0; get ID0 -o new.bundle; get ID4 -o new.bundle; hold ID0; release ID1; cancel ID0
    retry ID2; prune --older-than 7d; init --queue ../new; dest add new --kind folder --path RIG/two; dest list
    dest set disk --concurrency 3; dest test disk; dest show disk; dest rename disk new; dest retire disk --to spare
    dest remove spare; dest default spare; session end monday; session list; pause --now; resume; config retention 9d
    check --read-data; check --remote; backup ../backup; restore --queue ../kept; salvage --force; export --manifest new
    mark-uploaded ID0 --receipt ../receipt
"""}
LINES = [f"{tool} {line.strip()}" for tool, text in LINES.items() for line in re.split("[;\n]", text.strip())]


@functools.cache
def prepared(bench):
    """Returns a rig with what the commands read. Two of its captures are uploaded, and the bytes of one are deleted."""
    rig, authorities = bench.rig(), Authorities(bench.folder / "authorities")
    for number, name in enumerate(("raw", "raws/a", "raws/b", "more/c")):
        write_raw(rig.folder / name, photo_of(90 + number))
    (rig.folder / "two").mkdir()
    (rig.folder / "secret").write_text("a secret\n")
    (rig.folder / "receipt").write_text(bench.stock[0].sha256)
    (rig.folder / "root.pem").write_bytes(authorities.root.pem)
    for words in ("key new --key ../other", "pack ../raw -o ../x.bundle --withholdable photo,depth",
                  "pack ../raws/a -o ../y.bundle", "multipart ../x.bundle -o ../x.body",
                  "redact ../x.bundle --withhold location.json -o ../cut.bundle",
                  "stamp ../y.bundle --tsa-ca ../root.pem --query ../y.tsq"):
        rig.call(bench.binary, *words.split(), cwd=rig.out).must(0, about=words)
    asks = ["stamp", "../x.bundle", "--tsa-ca", "../root.pem", "--with", authorities.commands["P-256"]]
    rig.call(bench.binary, *asks, cwd=rig.out).must(0, about="stamp --with")
    rig.call("sh", "-c", f"{{ {asks[-1]}; }} < y.tsq > y.answer", cwd=rig.folder).must(0, about="the authority")
    rig.to_folder("disk")
    rig.push(*bench.stock[3:5])
    rig.run("run").must(0, about="run")
    rig.aged(bench.stock[4], days=9)
    rig.prune()
    rig.aged(bench.stock[3], days=9)
    rig.to_folder("spare")
    rig.push(*bench.stock[:3])
    rig.push(bench.stock[5], options=("--session", "monday"))
    for words in (["hold", bench.stock[1].id], ["cancel", bench.stock[2].id], ["backup", rig.folder / "kept"]):
        rig.run(*words).must(0, about=words[0])
    return rig


class Command(kills.Scene):
    """A command, which runs in a copy of the prepared rig."""

    def __init__(self, bench, line):
        self.bench, self.origin = bench, prepared(bench)
        self.tool, *self.line = line.split()

    def rig(self):
        rig = self.bench.copy(self.origin)
        rig.env |= {"CAPBUNDLE_DECODE": str(self.bench.decoder), "TMPDIR": str(rig.folder)}
        places = (str(self.origin.folder), str(rig.folder))
        with contextlib.closing(sqlite3.connect(rig.home / ".local/share/capqueue/queue.sqlite")) as database, database:
            database.execute("UPDATE destinations SET settings = replace(settings, ?, ?)", places)
        return rig

    def run(self, rig, prefix=()):
        named = {f"ID{number}": bundle.id for number, bundle in enumerate(self.bench.stock)}
        words = [named.get(word, word.replace("RIG", str(rig.folder))) for word in self.line]
        return rig.call(*prefix, self.bench.folder / self.tool, *words, cwd=rig.out)

    def calls(self):
        """Returns the calls that touch files. Sockets, an eventfd and an unlock do not meet `ERRORS`."""
        rig = self.rig()
        run = functools.partial(self.run, rig)
        calls = trace(rig, run=run, extra=("-y", *ALONE), names=NAMES, codes=(0, 4, 15))  # `cat` is not an authority: 4
        inner = {(call.name, call.number) for call in calls if re.search("<socket:|<anon_inode:|F_UNLCK", call.text)}
        return [call for call in since(calls, f'"{rig.folder}', '"../') if (call.name, call.number) not in inner]


def ends_well(line, bench):
    """Calls that change something meet each error that they can meet, and others one of them."""
    scene, chance, items = Command(bench, line), bench.chance(line), []

    def judge(call, error, rig):
        ended = scene.run(rig, prefix(call, f"error={error}", ALONE)).must(*CODES[scene.tool])
        words_for_people(ended, lines=8, tool=scene.tool)
        expect(ended.text or ended.code < 64 or call.name == "write", f"exit {ended.code} without a word")

    for call in kills.thinned(scene.calls(), bench, line):
        met = [error for error, names in ERRORS.items() if call.name in names]
        items += [(call, error) for error in (met if kills.changes(call) else chance.sample(met, 1))]
    report(sweep(items, lambda item: with_a_rig(scene, f"{item[1]} at {item[0]}", functools.partial(judge, *item)), 2))


def every_command(bench):
    """No command is missing here."""
    known = "".join(f"{line} \n" for line in LINES)
    for tool in CODES:
        tree = json.loads(bench.rig().call(bench.folder / tool, "--experimental-dump-help").must(0).out)["command"]
        missing = [name for name in commands(tree, tool) if f"{name} " not in known]
        expect(not missing, f"no line for {', '.join(missing)}")


TESTS = [("each command of both tools has calls that fail", every_command)]
TESTS += [(f"{line}: whatever call fails, never exit 70 or a signal, and words for people",
           long(functools.partial(ends_well, line))) for line in LINES]
