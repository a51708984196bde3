"""Names and texts that try to control a terminal or the command line.

A combining mark joins a slash or a quote before it into one Character.
"""
import os
import subprocess
import unicodedata

from Kit.rigs import write_raw
from Kit.outcomes import IS_LONG, every, expect

EVIL = {"a newline": "a\nb", "ESC": "\x1b]0;owned\x07\x1b[2J", "CR": "ok\r\x1b[1A", "bidi": "a\u202egpj.exe\u2069",
        "C1": "a\x9b31mb\x85c", "tag": "a\U000e0041b", "zero width": "a\u200bb\ufeff", "line separator": "a\u2028b",
        "backspace": "rm\x08\x08  ", "DEL": "a\x7fb"}
NAMES = EVIL if IS_LONG else {"all of them": "".join(EVIL.values())}
MARK = "\u0301"
STEERING = {"Cc", "Cf", "Zl", "Zp"}


def steers(data):
    """Returns the first character in the output that controls a terminal; LF is allowed because it ends lines."""
    text = data.decode("utf-8", "surrogateescape")
    found = (letter for letter in text if letter != "\n" and unicodedata.category(letter) in STEERING)
    return next((f"U+{ord(letter):04X}" for letter in found), None)


def clean(result, about):
    for name, data in (("standard output", result.out), ("standard error", result.err)):
        expect(not steers(data), f"{about}: {steers(data)} on {name}: {data[:200]!r}")
    for line in result.text.splitlines():
        expect(line.startswith("capbundle: "), f"{about}: a line without the tool's name: {line!r}")


def file_names(bench):
    """Every command that prints a name prints it harmlessly, in one line."""
    def judge(kind, name):
        rig = bench.rig()
        bundle = rig.bundle(f"{name}.bundle")
        raw = rig.folder / name
        write_raw(raw)
        (raw / f"x{name}").touch()
        clean(rig.pack(rig.out / f"{name}2.bundle", raw=raw).must(0), "pack")
        clean(rig.pack(rig.out / f"{name}.bundle", raw=raw).must(73), "pack onto one")
        for words in (["verify", bundle], ["verify", bundle, bundle], ["show", bundle]):
            clean(rig.run(*words).must(0), " ".join(map(str, words[:1])))
        (raw / "photo.jpg").write_bytes(b"")
        clean(rig.pack(rig.out / "y.bundle", raw=raw).must(65), "pack of a wrong folder")
        for words in (["verify", f"no{name}"], ["show", f"no{name}"], ["pack", f"no{name}", "-o", "y"],
                      ["verify", raw / f"x{name}"], ["key", "show", "--key", f"no{name}"],
                      ["verify", bundle, "--trust", f"no{name}"], ["trust", "list", "--trust", f"no{name}"],
                      [f"no{name}"], ["verify", f"--no{name}"], ["trust", "revoke", name],
                      ["verify", "--require", name],
                      ["trust", "add", name, rig.key + ".pub"], ["pack", rig.raw, "-o", "y", "--location", name],
                      ["key", "recover", "--counter", name]):
            result = rig.run(*words)
            expect(result.code not in (0, 1, 70) and result.code > 0, f"{words[0]}: exit {result.code}")
            clean(result, " ".join(map(str, words[:2])))
        key = rig.folder / f"key{name}"
        clean(rig.run("key", "new", "--key", key).must(0), "key new")
        clean(rig.run("key", "show", "--key", key).must(0), "key show")

    every(NAMES, judge)


def spoilt_bundles(bench):
    """Entry names and manifests without a signature are printed harmlessly too, for a bundle that is refused."""
    rig = bench.rig()
    data = rig.bundle().read_bytes()
    for old in (b"photo.jpg", b"image/jpeg", b'"role":"photo"', b"manifest.json", b"assertion.cbor", b"version=1"):
        for new in (b"\x1b]0;x\x07", b"\xc2\x9b31m", b"\xe2\x80\xae", b"\xff\xfe", b"a\nb")[:5 if IS_LONG else 2]:
            path = rig.folder / "spoilt"
            patch = new[:len(old)].ljust(len(old), b"z")
            path.write_bytes(data.replace(old, patch))
            for command in ("verify", "show"):
                result = rig.run(command, path).must(1, 2, about=f"{old} made {patch}")
                clean(result, f"{command}: {old} made {patch}")


def models(bench):
    """The texts of a sound bundle are printed harmlessly too."""
    rig = bench.rig()

    def judge(name, model):
        raw = write_raw(rig.folder / name, device_model=model)
        for words in (["pack", raw, "-o", "y.bundle", "--force"], ["show", "y.bundle"], ["verify", "y.bundle"]):
            clean(rig.run(*words).must(0, about=words[0]), words[0])

    every({"escape": "Rig \x1b]0;x\x07", "C1": "Rig \x9b31m", "direction": "Rig \u202e7"}, judge)


def leading_dashes(bench):
    rig = bench.rig()
    rig.run("pack", rig.raw, "-o", "./-x.bundle").must(0)
    rig.run("verify", "--", "-x.bundle").must(0, about="verify -- -x.bundle")
    rig.run("verify", "./-x.bundle").must(0)
    rig.run("verify", "-x.bundle").must(64, about="verify -x.bundle")
    rig.run("show", "--", "-x.bundle").must(0, about="show -- -x.bundle")
    write_raw(rig.out / "-raw")
    rig.run("pack", "-o", "y.bundle", "--", "-raw").must(0, about="pack -o y -- -raw")
    rig.run("verify", "y.bundle").must(0)
    rig.run("verify", "--", "-").must(2, about="verify -- -, an empty pipe")
    rig.run("pack", rig.raw, "-o=").must(64, 73, about="-o=")
    rig.run("pack", rig.raw, "--output=-z.bundle").must(0, about="--output=-z.bundle")
    rig.run("verify", "--", "-z.bundle").must(0)
    rig.bundle("e\x1b[31m.bundle")
    rig.trust.unlink()
    for name, hint in (("-x.bundle", "--from ./-x.bundle"), ("e\x1b[31m.bundle", "")):
        lines = rig.run("verify", "--", name).must(3).text.splitlines()
        found = [line for line in lines if "capbundle trust add" in line]
        expect(len(found) == bool(hint) and hint in "".join(found), f"the hints for {name!r} are {found}")


def not_unicode(bench):
    """File names are bytes on Linux: one that is not UTF-8 is used as it is or refused, never replaced by another."""
    rig = bench.rig()
    name = os.fsencode(rig.out) + b"/x\xff\xfe.bundle"
    result = rig.run("pack", rig.raw, "-o", os.fsdecode(name))
    found = os.listdir(os.fsencode(rig.out))
    expect(found == ([b"x\xff\xfe.bundle"] if result.code == 0 else []),
           f"exit {result.code}, the folder then holds {found}, asked for {os.path.basename(name)}")
    with open(name, "wb") as file:
        file.write(rig.pack("-").must(0).out)
    decoy = os.fsencode(rig.out) + "/x\ufffd\ufffd.bundle".encode()
    with open(decoy, "wb") as file:
        file.write(b"another file")
    rig.run("verify", os.fsdecode(name)).must(0, 64, 66, about="verify of a name that is not UTF-8, beside a decoy")
    raw = write_raw(rig.folder / "raw")
    with open(os.fsencode(raw) + b"/\xff\xfe", "wb"):
        pass
    clean(rig.pack(rig.out / "y.bundle", raw=raw).must(0), "a member that is no UTF-8")


def odd_environments(bench):
    """Empty variables count as not set; HOME may be missing; a relative path is in the working folder."""
    rig = bench.rig()
    empty = {name: "" for name in ("CAPBUNDLE_KEY", "CAPBUNDLE_TRUST", "CAPBUNDLE_PASSPHRASE_FILE", "XDG_DATA_HOME",
                                   "XDG_CONFIG_HOME")}
    rig.verify(rig.bundle(env=empty))
    rig.run("verify", rig.out / "x.bundle", env=empty).must(0)
    rig.run("verify", rig.out / "x.bundle", env={"XDG_CONFIG_HOME": str(rig.folder / "nowhere")}).must(3)
    # The XDG Base Directory Specification says that relative values are ignored.
    for relative in ("nowhere", "./nowhere", "../out", "~/x"):
        env = {"XDG_CONFIG_HOME": relative, "XDG_DATA_HOME": relative}
        rig.run("verify", rig.out / "x.bundle", env=env).must(0, about=f"XDG_CONFIG_HOME={relative}")
        rig.pack(rig.out / "y.bundle", "--force", env=env).must(0, about=f"XDG_DATA_HOME={relative}")
        expect(not list(rig.out.glob("*/")), f"XDG_DATA_HOME={relative}: a folder was made")
    rig.run("verify", rig.out / "x.bundle", env={"CAPBUNDLE_TRUST": "nowhere"}).must(66)
    del rig.env["HOME"]
    rig.run("verify", rig.out / "x.bundle").must(0, 3, about="no HOME")


def hints_can_be_pasted(bench):
    """The command in a hint works on the right file, and runs nothing else."""
    rig = bench.rig()
    name = f"x'{MARK};touch PWNED;: '{MARK}.bundle"
    bundle = rig.bundle(name)
    rig.trust.unlink()
    said = rig.run("verify", bundle.name, cwd=bundle.parent).must(3).text
    hints = [line.split(": ", 3)[-1] for line in said.splitlines() if "capbundle trust add" in line]
    expect(len(hints) == 1, f"one hint with a command: {said!r}")
    command = hints[0][hints[0].index("capbundle trust add"):].replace("capbundle", f"'{bench.binary}'", 1)
    done = subprocess.run(["sh", "-c", command.replace(" NAME ", " rig ")], cwd=bundle.parent, env=rig.env,
                          capture_output=True)
    expect(not (bundle.parent / "PWNED").exists(), f"the hint ran another command: {command!r}")
    expect(done.returncode == 0, f"the hint does not work: {command!r}: {done.stderr!r}")


def packs_into_the_folder(bench):
    rig = bench.rig()
    (rig.folder / "place").mkdir()
    write_raw(rig.folder / f"{MARK}evil")
    rig.run("pack", f"../{MARK}evil", "--out-dir", "out", cwd=rig.folder / "place").must(0)
    inside = [path.name for path in (rig.folder / "place/out").iterdir()]
    expect(inside == [f"{MARK}evil.bundle"], f"in the folder: {inside}")
    outside = [path.name for path in (rig.folder / "place").iterdir()] + [path.name for path in rig.folder.iterdir()]
    expect(not [name for name in outside if name.endswith(".bundle")], f"outside it: {outside}")


def slash_is_a_folder(bench):
    """`x.bundle/` is not the file `x.bundle`, and no trust file or key with such a name is made."""
    rig = bench.rig()
    bundle = rig.bundle()
    rig.run("verify", f"{bundle}/").must(66)
    rig.run("trust", "list", "--trust", f"{rig.trust}/").must(66)
    rig.run("trust", "add", "other", rig.key + ".pub", "--trust", f"{rig.out}/new/").must(73)
    rig.run("key", "new", "--key", f"{rig.out}/new/").must(73)
    rig.run("pack", rig.raw, "-o", f"{rig.out}/new/").must(73)
    expect(sorted(path.name for path in rig.out.iterdir()) == [bundle.name], f"left: {list(rig.out.iterdir())}")


TESTS = [
    ("file names with control characters are never shown raw", file_names),
    ("texts of a damaged bundle are never shown raw", spoilt_bundles),
    ("the model of a sound bundle is never shown raw", models),
    ("names with a leading dash, and a hint for them", leading_dashes),
    ("names that are not UTF-8", not_unicode),
    ("empty and missing variables", odd_environments),
    ("a slash at the end of a file's name", slash_is_a_folder),
    ("pasted hints run the command that they show", hints_can_be_pasted),
    ("--out-dir contains the packed bundles", packs_into_the_folder),
]
