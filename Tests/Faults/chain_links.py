"""Pending links that an earlier run left, and chains that are lost (Spec/capture-bundle.md sections 9.2 and 9.3)."""
import json
import os

from Kit.rigs import write_raw
from Kit.outcomes import every, expect
from Kit.records import link_in, state_with_chain

ASSERTION = b"assertion.cbor"


def escaped(path):
    """Writes a path as the state has it."""
    return b"".join(b"%c" % byte if 0x21 <= byte <= 0x7e and byte != 0x25 else b"%%%02x" % byte
                    for byte in os.fsencode(path))


def set_chain(rig, counter, *chain):
    path = rig.keys / "device.key.state"
    path.write_bytes(state_with_chain(path.read_bytes(), counter, *chain))


def pending_rig(bench, folder="out"):
    """Returns a rig whose first link is pending: its whole bundle is in a temporary file."""
    rig = bench.rig()
    rig.out = rig.folder / folder
    rig.out.mkdir(exist_ok=True)
    rig.hidden, rig.target = rig.out / ".x.bundle.1.tmp", rig.out / "x.bundle"
    rig.pack(rig.target, "--chain").must(0)
    rig.first = link_in(rig.target.read_bytes())
    rig.target.rename(rig.hidden)
    set_chain(rig, 1, b"chain 0 -",
              b"pending 1 1 - %s %s %s" % (rig.first.manifest.encode(), escaped(rig.hidden), escaped(rig.target)))
    rig.other = write_raw(rig.folder / "other", device_model="Rig 2")
    return rig


def pack_next(rig, *options):
    """Packs another capture, whose link must follow the first one."""
    result = rig.pack(rig.out / "next.bundle", "--chain", *options, raw=rig.other).must(0, about="the next capture")
    link = link_in((rig.out / "next.bundle").read_bytes())
    expect((link.seq, link.prev) == (2, rig.first.manifest), f"the next link is {link}")
    return result


def unsigned(data, count=1024):
    place = data.index(ASSERTION)
    return data[:place] + bytes(count) + data[place + count:]


def finishes(bench):
    """A whole bundle gets its signature, if that is missing, and its name."""
    cases = {"signed": lambda data: data, "unsigned": unsigned,
             "half signed": lambda data: unsigned(data, 600),
             "a signature that does not verify": lambda data: data.replace(b"authenticatorData", b"authenticatorDatA")}

    def judge(name, change):
        rig = pending_rig(bench)
        rig.hidden.write_bytes(change(rig.hidden.read_bytes()))
        result = pack_next(rig)
        expect("finished the bundle with link 1" in result.text, f"does not say so: {result.text!r}")
        expect(link_in(rig.target.read_bytes()) == rig.first, "it has another link or counter")
        rig.verify(rig.target, rig.out / "next.bundle")
        expect(not rig.strays(), f"leaves {rig.strays()}")

    every(cases, judge)


def gives_up(bench):
    """A bundle that is not whole stays where it is, and the chain has a gap."""
    cases = {"missing": lambda path: path.unlink(), "cut": lambda path: path.write_bytes(path.read_bytes()[:-512]),
             "another manifest": lambda path: path.write_bytes(path.read_bytes().replace(b"Rig 1", b"Rig 9")),
             "empty": lambda path: path.write_bytes(b""), "a folder": lambda path: (path.unlink(), path.mkdir()),
             "a FIFO": lambda path: (path.unlink(), os.mkfifo(path)),
             "another folder": lambda path: path.parent.rename(path.parent.parent / "elsewhere")}

    def judge(name, change):
        rig = pending_rig(bench)
        if name == "another manifest":
            other = rig.folder / "foreign"
            rig.pack(other, raw=rig.other).must(0)
            rig.hidden.write_bytes(other.read_bytes())
        else:
            change(rig.hidden)
        rig.out.mkdir(exist_ok=True)
        result = pack_next(rig)
        words = "link 1 was given out, but its bundle is not at this path"
        expect(words in result.text and str(rig.target) in result.text, f"does not say so: {result.text!r}")
        expect(not rig.target.exists(), "something got the name of the bundle")

    every(cases, judge)


def folder_is_missing(bench):
    """A link is not given up while its folder is missing; an empty folder gives it up."""
    for is_back in (True, False):
        rig = pending_rig(bench, "card")
        away = rig.folder / "away"
        rig.out.rename(away)
        state = (rig.keys / "device.key.state").read_bytes()
        for where in (rig.folder / "out/next.bundle", "-"):
            refused = rig.pack(where, "--chain", raw=rig.other, cwd=rig.folder).must(78, about="a missing folder")
            expect("the folder of link 1 is missing" in refused.text and f"mkdir -p {rig.out}" in refused.text,
                   f"{refused.text!r}")
        expect((rig.keys / "device.key.state").read_bytes() == state, "the state changed")
        if is_back:
            away.rename(rig.out)
            pack_next(rig)
            rig.verify(rig.target)
        else:
            rig.out.mkdir()
            result = pack_next(rig)
            expect("link 1 was given out, but its bundle is not at this path" in result.text, f"{result.text!r}")


def name_is_taken(bench):
    """If another file has the name, no capture gets a link until the name is free, and no capture gets two."""
    for change in (lambda path: path.write_text("mine"), os.mkfifo, os.mkdir, lambda path: path.symlink_to("nowhere"),
                   lambda path: path.symlink_to(".x.bundle.1.tmp"),
                   lambda path: path.write_bytes(path.with_name(".x.bundle.1.tmp").read_bytes()[:-1024])):
        rig = pending_rig(bench)
        before = rig.hidden.read_bytes()
        change(rig.target)
        rig.hidden.write_bytes(unsigned(before))
        state = (rig.keys / "device.key.state").read_bytes()
        for options in ((), ("--force",)):
            result = rig.pack(rig.out / "next.bundle", "--chain", *options, raw=rig.other).must(73, about="the next")
            expect("another file has the name of the bundle with link 1" in result.text, f"{result.text!r}")
            result.naming(rig.target, rig.hidden)
            for raw in (rig.raw, rig.other):
                rig.pack(rig.target, "--chain", *options, raw=raw).must(73, about=f"the same name {options}")
        expect(rig.target.is_symlink() or not rig.target.is_file() or
               rig.target.read_bytes() in (b"mine", before[:-1024]), "the other file was replaced")
        expect((rig.keys / "device.key.state").read_bytes() == state, "the state changed")
        rig.verify(rig.hidden)
        rig.target.rename(rig.folder / "away")
        rig.pack(rig.target, "--chain", "--force").must(0, about="the same capture, once the name is free")
        expect(link_in(rig.target.read_bytes()) == rig.first, "the capture has another link")
        pack_next(rig)


def unreadable(bench):
    """A bundle that cannot be read now is not given up."""
    for name in ("hidden", "target"):
        rig = pending_rig(bench)
        path = getattr(rig, name)
        if name == "target":
            rig.hidden.rename(rig.target)
        state = (rig.keys / "device.key.state").read_bytes()
        refused = rig.pack(rig.out / "next.bundle", "--chain", raw=rig.other,
                           prefix=["strace", "-f", "-o", "/dev/null", "-P", str(path), "-e", "trace=openat",
                                   "-e", "inject=openat:error=EIO"])
        refused.must(66, 74).naming(path)
        expect((rig.keys / "device.key.state").read_bytes() == state, "the state changed")
        pack_next(rig)
        rig.verify(rig.target)


def odd_paths(bench):
    rig = pending_rig(bench, os.fsdecode(b"a b%41\n\xc3\xa9"))
    pack_next(rig)
    expect(rig.target.exists() and not rig.hidden.exists(), "the bundle was not found")


def damaged_lines(bench):
    """A state whose links do not follow each other is damaged."""
    digest = b"0" * 64
    line = b"pending 1 1 - " + digest + b" /a /b"
    cases = {
        "seq too high": [b"chain 0 -", line.replace(b"pending 1", b"pending 2")],
        "prev at seq 1": [b"chain 0 -", line.replace(b" - ", b" " + digest + b" ")],
        "another prev": [b"chain 3 " + digest, b"pending 4 1 %s %s /a /b" % (b"1" * 64, digest)],
        "counter too high": [b"chain 0 -", line.replace(b"pending 1 1", b"pending 1 9")],
        "counter 0": [b"chain 0 -", line.replace(b"pending 1 1", b"pending 1 0")],
        "counters do not rise": [b"chain 0 -", line, b"pending 2 1 %s %s /c /d" % (digest, digest)],
        "relative path": [b"chain 0 -", line.replace(b"/a", b"a")],
        "one path": [b"chain 0 -", line.replace(b" /b", b"")], "half a pipe": [b"chain 0 -", line.replace(b"/b", b"-")],
        "bad escape": [b"chain 0 -", line.replace(b"/a", b"/%4")], "upper case": [b"chain 0 -",
                                                                              line.replace(b"/a", b"/%FF")],
        "needless escape": [b"chain 0 -", line.replace(b"/a", b"/%61")],
        "unknown with a link": [b"chain unknown", line], "unknown and more": [b"chain unknown -"],
        "no hash": [b"chain 3 -"], "a hash at 0": [b"chain 0 " + digest], "negative": [b"chain -1 " + digest],
        "huge": [b"chain 9223372036854775807 " + digest], "another word": [b"chain 0 -", line.replace(b"ing", b"ed")],
        "a link of a RealityCam key first": [b"chain 0 -", b"realitycam 1", line],
    }

    def judge(name, lines):
        rig = bench.rig()
        set_chain(rig, 5, *lines)
        rig.run("key", "show").must(78)

    rig = bench.rig()
    set_chain(rig, 5, b"chain 0 -", line)
    shown = json.loads(rig.run("key", "show", "--json").must(0, about="a sound line").out)
    expect(shown["chain"] == {"seq": 0, "pending": [{"seq": 1, "target": "/b"}]}, f"{shown}")
    every(cases, judge)


def wrong_last_bundles(bench):
    rig, other = bench.rig(), bench.rig(empty=True)
    other.run("key", "new").must(0)
    foreign = other.bundle()
    mine = rig.bundle()
    data = mine.read_bytes()
    forged = rig.out / "forged.bundle"
    forged.write_bytes(data.replace(b'"width":4', b'"width":5'))
    state = (rig.keys / "device.key.state").read_bytes()
    rig.run("key", "recover", "--last-bundle", foreign).must(78).naming(foreign)
    rig.run("key", "recover", "--last-bundle", forged).must(1, 2).naming(forged)
    rig.run("key", "recover", "--last-bundle", rig.raw / "photo.jpg").must(2)
    rig.run("key", "recover", "--last-bundle", rig.out / "none").must(66)
    rig.run("key", "recover", "--last-bundle", mine, "--realitycam").must(64)
    expect((rig.keys / "device.key.state").read_bytes() == state, "the state was changed")
    cut = rig.out / "cut.bundle"
    cut.write_bytes(data[:data.index(b"depth.f32.gz\0")])
    rig.run("key", "recover", "--last-bundle", cut).must(0, about="only the head is needed")


def realitycam_keys(bench):
    rig = bench.rig()
    (rig.keys / "device.key.state").unlink()
    rig.run("key", "recover", "--counter", "3", "--realitycam").must(0)
    rig.pack(rig.out / "x.bundle", "--chain").must(78)
    rig.pack(rig.out / "x.bundle", "--chain", "--dry-run").must(78)
    expect(not list(rig.out.iterdir()), "something was written")


TESTS = [
    ("a whole bundle of a pending link gets its signature and its name", finishes),
    ("a pending link without a whole bundle: a gap, and a warning", gives_up),
    ("a pending link whose folder is missing: 78 until the folder exists again", folder_is_missing),
    ("a pending link whose target is another file: 73 until the name is free", name_is_taken),
    ("a pending link whose bundle cannot be read: nothing is given up", unreadable),
    ("a pending link with odd bytes in its paths", odd_paths),
    ("states with links that do not follow each other: 78", damaged_lines),
    ("key recover refuses last bundles of another key, and forged ones", wrong_last_bundles),
    ("a key for RealityCam makes no chain", realitycam_keys),
]
