"""Packing a capture again with --chain: it keeps its link, and no link of the key's own chain is replaced.

Spec/capture-bundle.md section 9.3. The runs before ended at any place, or packed other captures.
"""

from Kit.rigs import write_raw
from Faults.chain_links import escaped, pending_rig, set_chain, unsigned
from Faults.chains import Chain
from Kit.outcomes import IS_LONG, every, expect
from Kit.injection import prefix
from Kit.records import link_in, links_in
from Kit.tracing import again_if_not_injected, require_strace, strace

HIGHEST = 2**53 - 1


def state_bytes(rig):
    return (rig.keys / "device.key.state").read_bytes()


def raws_of(rig, count):
    return [write_raw(rig.folder / f"raws/{index:02}", device_model=f"Rig {index}") for index in range(count)]


def interrupted_batch(bench):
    """The same command finishes what is pending in its second group, and gives no capture another link."""
    for options in ((), ("--force",)) if IS_LONG else (("--force",),):
        rig = bench.rig()
        rig.pack(rig.folder / "old").must(0, about="a bundle without a link")
        old = (rig.folder / "old").read_bytes()
        command = ["pack", *raws_of(rig, 40), "--out-dir", rig.out, "--chain", *options]
        rig.run(*command).must(0)
        links = {path.name: link for path, link in links_in(rig.out).items()}
        lines = [b"chain 32 " + links["31.bundle"].manifest.encode()]
        for index in range(32, 40):
            target = rig.out / f"{index}.bundle"
            hidden = rig.out / f".{index}.bundle.1.tmp"
            link = links[target.name]
            target.rename(hidden)
            if index > 35:
                hidden.write_bytes(unsigned(hidden.read_bytes()))
            if options and index % 2:
                target.write_bytes(old)
            lines.append(b"pending %d %d %s %s %s %s" % (link.seq, link.counter, link.prev.encode(),
                                                         link.manifest.encode(), escaped(hidden), escaped(target)))
        set_chain(rig, links["39.bundle"].counter, *lines)
        again = rig.run(*command).must(0, about=f"the same command {options}")
        expect("packed 0 bundles" in again.text and "40 were packed already" in again.text, f"{again.text!r}")
        expect({path.name: link for path, link in links_in(rig.out).items()} == links, "the links changed")
        rig.verify(*rig.out.glob("*.bundle"))
        expect(not rig.strays(), f"leaves {rig.strays()}")
        Chain(rig).judge()


def damaged_links(bench):
    """--force replaces nothing that may be the rest of a link: its capture would get a second one."""
    def flipped(place):
        def change(data):
            at = data.index(place)
            return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
        return change

    places = ("mimetype", '"chain"', '"device":"', *(("application/vnd", "manifest.json", '"seq":', '"version":',
                                                      "assertion.cbor") if IS_LONG else ()))
    cases = {name: flipped(name.encode()) for name in places}
    cases |= {"the key": lambda data: data.replace(b'"device":"B', b'"device":"C'),
              "the link": lambda data: data.replace(b'"chain":{"seq":1},', b""),
              "cut": lambda data: data[:2100], "empty": lambda _: b"", "zeros": lambda data: bytes(len(data)),
              "the first kilobyte": lambda data: bytes(1024) + data[1024:]}

    def judge(name, change):
        rig = bench.rig()
        target = rig.out / "x.bundle"
        rig.pack(target, "--chain").must(0)
        other = write_raw(rig.folder / "other", device_model="Rig 2")
        broken = change(target.read_bytes())
        target.write_bytes(broken)
        state = state_bytes(rig)
        # Without --chain no capture gets a link, so only what looks like a bundle is kept.
        for chained in (["--chain"], []) if name not in ("empty", "zeros") else (["--chain"],):
            for raw in (rig.raw, other) if chained else (rig.raw,):
                rig.pack(target, "--force", *chained, raw=raw).must(73, about=f"{chained}").naming(target)
        expect((target.read_bytes(), state_bytes(rig)) == (broken, state), "the file or the state changed")

    every(cases, judge)


def highest_link(bench):
    """No link follows the highest one: neither pack nor key recover goes past it."""
    rig = bench.rig()
    last = rig.out / "last.bundle"
    set_chain(rig, 5, b"chain %d %s" % (HIGHEST - 1, b"a" * 64))
    rig.pack(last, "--chain").must(0)
    rig.verify(last)
    state = state_bytes(rig)
    for command in (["-o", rig.out / "x.bundle"], ["-o", "-"], ["--out-dir", rig.out / "many"],
                    ["-o", rig.out / "x.bundle", "--dry-run"]):
        refused = rig.run("pack", rig.raw, *command, "--chain").must(78, about=f"{command}")
        expect(f"at link {HIGHEST}, the highest one" in refused.text and not refused.out, f"{refused.text!r}")
    expect(state_bytes(rig) == state, "the state changed")
    (rig.keys / "device.key.state").unlink()
    refused = rig.run("key", "recover", "--last-bundle", last).must(78, about="key recover")
    expect(f"at link {HIGHEST}, the highest one" in refused.text, f"{refused.text!r}")
    expect(not (rig.keys / "device.key.state").exists(), "key recover made a state")


def others_are_replaced(bench):
    """--force replaces a bundle without a link, and a link of another key."""
    rig = bench.rig()
    rig.bundle("old.bundle")
    rig.run("key", "new", "--key", rig.folder / "k").must(0)
    rig.pack(rig.out / "foreign.bundle", "--chain", "--key", rig.folder / "k").must(0)
    for name in ("old.bundle", "foreign.bundle"):
        rig.pack(rig.out / name, "--chain").must(73, about=name)
        rig.pack(rig.out / name, "--chain", "--force").must(0, about=name)
    Chain(rig).judge()


def failed_again(bench):
    """If the capture that takes the link of a pipe again cannot be written, the link waits for the next try."""
    def trial(number):
        rig = pending_rig(bench)
        set_chain(rig, 1, b"chain 0 -", b"pending 1 1 - %s - -" % rig.first.manifest.encode())
        rig.hidden.unlink()
        call = type("Call", (), {"name": "write", "number": number})
        result = rig.pack("-", "--chain", prefix=prefix(call, "error=ENOSPC"))
        if code := result.code:
            expect("was given out" not in result.text, f"gives the link up: {result.text!r}")
            result = rig.pack("-", "--chain").must(0)
        expect(link_in(result.out) == rig.first, f"failing write {number}: another link")
        return code

    codes = [again_if_not_injected(trial, number)[0] for number in range(1, 4)]
    expect(74 in codes, f"no trial failed: {codes}")


def unreadable_link(bench):
    """A target that cannot be read may be a link, so --force does not replace it, with or without --chain."""
    require_strace()
    rig = bench.rig()
    target = rig.out / "x.bundle"
    rig.pack(target, "--chain").must(0)
    kept = target.read_bytes()
    eio = strace("-P", str(target), "-e", "trace=openat", "-e", "inject=openat:error=EIO")
    for chained in (["--chain"], []):
        refused = rig.pack(target, "--force", *chained, prefix=eio).must(66, 74, about=f"{chained}")
        expect(str(target) in refused.text, f"does not name the file: {refused.text!r}")
        expect(target.read_bytes() == kept, "the link was replaced")
    Chain(rig).judge()


TESTS = [
    ("an interrupted batch: the same command finishes it and gives no other link", interrupted_batch),
    ("--force replaces no damaged bundle: 73", damaged_links),
    ("--force replaces bundles without a link, and links of other keys", others_are_replaced),
    ("--force replaces no file that cannot be read", unreadable_link),
    ("no link follows the highest one: 78", highest_link),
    ("the same content for a pipe takes its link again after a failure", failed_again),
]
