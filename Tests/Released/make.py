"""Makes the folder of Tests/Data for a release, with the tools of this version.

usage: Tests/run.py Released/make CAPBUNDLE CAPQUEUE

The keys in it are for tests: never trust them. It replaces the folder: run it before the release, and never again. Each
recorded command is played twice, the second time 400 days later, and only what both results have in common is kept.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

from Kit.clocks import shifted
from Kit.outcomes import ROOT, expect
from Kit.rigs import PHOTO, write_raw
from Released.data import DATA, Tools, common, vectors

LATER = "+400d"
TRUST = ("--trust", "trusted_devices")
KEY = ("--key", "keys/device.key")
QUEUE = ("--queue", "queue")
DEVICE = "3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c"
NAMES = ("sent", "waiting", "held", "cancelled", "newer")


def version():
    return subprocess.run([ROOT / ".ci/version"], check=True, capture_output=True, text=True).stdout.strip()


def commands(tree, *words):
    """The commands of a tool, by its help."""
    below = [one for one in tree.get("subcommands", []) if one["shouldDisplay"] and one["commandName"] != "help"]
    return [name for one in below for name in commands(one, *words, one["commandName"])] or [" ".join(words)]


def write(tools, place):
    """Makes the files of the release in `place`."""
    def run(tool, *words, env=None):
        return tools.call(tools.tools[tool], *words, cwd=place, env=env).must(0, about=" ".join(map(str, words))).out.decode().strip()

    (place / "keys").mkdir(mode=0o700)
    (place / "passphrase").write_text("the passphrase of 1.0\n")
    run("capbundle", "key", "new", *KEY)
    run("capbundle", "key", "new", "--key", "keys/locked.key", "--passphrase-file", "passphrase")
    run("capbundle", "trust", "add", "rig", "keys/device.key.pub", *TRUST)
    run("capbundle", "trust", "add", "locked", "keys/locked.key.pub", "--valid-after", "2020-01-01T00:00:00Z", *TRUST)
    for number, name in enumerate(NAMES):
        raw = write_raw(place / "raws" / name, PHOTO.replace(b"\x12\x34", bytes([0x12, 0x35 + number])))
        run("capbundle", "pack", raw, "-o", f"{name}.bundle", "--chain", "--withholdable", "photo.jpg", *KEY)
    run("capbundle", "multipart", "sent.bundle", "-o", "body")
    run("capbundle", "redact", "sent.bundle", "--withhold", "location.json,photo.jpg", "-o", "public.bundle")
    run("capbundle", "verify", "sent.bundle", "--state", "seen", *TRUST)
    altered = bytearray((place / "sent.bundle").read_bytes())
    altered[altered.index(PHOTO[:20]) + 60] ^= 1
    (place / "altered.bundle").write_bytes(altered)
    return queue(place, run)


def queue(place, run):
    """Makes a queue with a capture in each state that lasts; returns the ids by name."""
    (place / "disk").mkdir()
    (place / "attic").mkdir()
    run("capqueue", "init", *QUEUE)
    run("capqueue", "dest", "add", "disk", "--kind", "folder", "--path", place / "disk", *QUEUE)
    run("capqueue", "dest", "add", "store", "--kind", "put", "--url", "http://127.0.0.1:9/{sha256}", *QUEUE)
    ids = {"sent": run("capqueue", "push", "sent.bundle", "--session", "monday", *QUEUE)}
    run("capqueue", "run", "--until-empty", *QUEUE)
    for name in NAMES[1:-1]:
        ids[name] = run("capqueue", "push", f"{name}.bundle", *QUEUE)
    run("capqueue", "hold", ids["held"], *QUEUE)
    run("capqueue", "cancel", ids["cancelled"], *QUEUE)
    run("capqueue", "config", "retention", "30d", *QUEUE)
    with tarfile.open(place / "queue.tar.gz", "w:gz") as archive:
        for name in ("queue", "attic"):
            archive.add(place / name, name, filter=plain)
    for name in ("queue", "disk", "attic", "raws"):
        shutil.rmtree(place / name)
    return ids


def plain(member):
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def recorded(ids):
    """Yields the commands that later versions have to play, in this order."""
    for words in (
        ("verify", "sent.bundle"), ("verify", "public.bundle"), ("verify", "public.bundle", "--allow-withheld"),
        ("verify", "altered.bundle"), ("verify", "sent.bundle", "--state", "seen", "--require", "fresh"),
        ("verify", "newer.bundle", "--state", "seen", "--require", "fresh,chain,depth"),
        ("from-body", "body", "-o", "out/cap.bundle"), ("trust", "list"), ("chain", ".")):
        yield "capbundle", *words, "--json", *(TRUST if words[0] != "chain" else ())
    for words in (("show", "sent.bundle"), ("depth", "sent.bundle"), ("key", "show", *KEY),
                  ("key", "show", "--key", "keys/locked.key")):
        yield "capbundle", *words, "--json"
    for words in (
        ("extract", "sent.bundle", "-o", "out/all", "--floats"), ("multipart", "sent.bundle", "-o", "out/body", "--headers", "out/headers"),
        ("redact", "sent.bundle", "--withhold", "location.json,photo.jpg", "-o", "out/public.bundle"),
        ("stamp", "sent.bundle", "--query", "out/query"), ("restore", "public.bundle", "sent.bundle", "-o", "out/whole.bundle"), ("key", "public", *KEY),
        ("report", "sent.bundle", "altered.bundle", "-o", "report.html", *TRUST),
        ("sign-request", "body", "--device-id", DEVICE, *KEY), ("pack", "raw", "-o", "packed.bundle", "--chain", *KEY),
        ("pack", "raw", "-o", "locked.bundle", "--key", "keys/locked.key", "--passphrase-file", "passphrase"),
        ("verify", "packed.bundle", "locked.bundle", *TRUST), ("chain", "newer.bundle", "packed.bundle"),
        ("trust", "set", "locked", "--valid-before", "2020-01-02T00:00:00Z", *TRUST), ("verify", "locked.bundle", *TRUST),
        ("trust", "add", "other", "keys/device.key.pub", "--trust", "other_devices"),
        ("key", "passwd", "--key", "keys/locked.key", "--passphrase-file", "passphrase", "--remove"),
        ("key", "recover", "--counter", "9", *KEY), ("trust", "revoke", "rig", *TRUST), ("verify", "sent.bundle", *TRUST)):
        yield "capbundle", *words
    for words in (
        ("status",), ("list",), ("show", ids["sent"]), ("history", ids["sent"]), ("history", ids["held"]), ("session", "list"),
        ("dest", "list"), ("dest", "show", "disk"), ("config",), ("check", "--read-data"), ("list", "--state", "held,cancelled")):
        yield "capqueue", *words, "--json", *QUEUE
    for words in (
        ("get", ids["sent"], "-o", "out/sent.bundle"), ("get", ids["cancelled"], "-o", "out/cancelled.bundle"),
        ("backup", "copy"), ("restore", "--queue", "copy"),
        ("export", "--manifest", "list", "--format", "json"), ("report", "-o", "queue.html"), ("push", "waiting.bundle"),
        ("adopt", "."), ("salvage",), ("wait", ids["sent"]), ("pause",), ("resume",), ("dest", "set", "store", "--bwlimit", "5MB"),
        ("dest", "test", "disk"), ("dest", "add", "attic", "--kind", "folder", "--path", "attic"), ("release", ids["held"]), ("retry", ids["cancelled"]), ("hold", ids["cancelled"]),
        ("push", "waiting.bundle", "--dest", "attic"),
        ("run", "--dest", "attic", "--until-empty", "--max-duration", "20s"), ("cancel", ids["cancelled"]), ("dest", "rename", "attic", "loft"),
        ("dest", "retire", "disk"), ("dest", "default", "loft"), ("dest", "remove", "store"),
        ("mark-uploaded", ids["held"], "--dest", "disk", "--receipt", "body"), ("session", "end", "monday"), ("prune", "--older-than", "0s", "--accept-clock"), ("prune", "--cancelled", ids["cancelled"])):
        yield "capqueue", *words, *(() if words[0] == "restore" else QUEUE)
    yield "capqueue", "list", "--json", *QUEUE


def main():
    expect(len(sys.argv) == 3, "usage: Tests/run.py Released/make CAPBUNDLE CAPQUEUE")
    target = DATA / version().rpartition(".")[0]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        tools = Tools(dict(zip(("capbundle", "capqueue"), map(pathlib.Path.resolve, map(pathlib.Path, sys.argv[1:])))), folder)
        made = folder / "made"
        made.mkdir()
        ids = write(tools, made)
        write_raw(made / "raw")
        steps = []
        now, later = tools.unpack(made, "now"), tools.unpack(made, "later")
        for words in recorded(ids):
            first, done = tools.play(now, words)
            second, again = tools.play(later, words, shifted(LATER))
            print(first["code"], *words, done.text.strip()[:150])
            expect(first["code"] == second["code"], f"{' '.join(words)}: {again.text}")
            steps.append({"run": words, **common(first, second)})
        (made / "results.json").write_text("[\n" + ",\n".join(json.dumps(step, sort_keys=True) for step in steps) + "\n]\n")
        (made / "vectors").write_text("".join(f"{sha256}  {name}\n" for name, sha256 in vectors().items()))
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(made, target)
    return 0
