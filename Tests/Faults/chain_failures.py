"""`pack --chain` when calls fail, disks are full, or many runs use the key at once: no link is given out twice."""
import functools

from bench import write_raw
from chain_crashes import MODES, Scene, bundles_are_sound
from chains import Chain
from checks import Failed, expect
from concurrent_runs import all_zero, together
from failing_calls import ERRORS, judge_message, targets
from injection import prefix, report, sweep
from real_disks import mounted, tmpfs
from records import links_in


def trial(scene, error, call):
    """Makes `call` fail with `error`, then packs another capture; returns the broken promises as texts."""
    rig = scene.rig()
    chain = Chain(rig)
    chain.look()
    failed = scene.run(rig, prefix=prefix(call, f"error={error}", scene.extra))
    try:
        failed.must(*ERRORS[error][1], *((74,) if scene.many else ()))
        if not scene.many:
            judge_message(failed, rig, error)
        broken = ("x.bundle",) if scene.piped else ()
        bundles_are_sound(rig, but=broken)
        chain.look(failed, rig.pack(rig.out / "next.bundle", "--chain").must(0, about="the next capture"))
        bundles_are_sound(rig, but=broken)
        chain.judge(may_have_gaps=True)
        expect(not [name for name in rig.strays() if "/" in name], f"leaves {rig.strays()}")
    except Failed as reason:
        return [f"{error} at {call}: {reason}"]
    return []


def meets(words, error, bench):
    scene = Scene(bench, words)
    report(sweep(targets(scene.calls(), error), functools.partial(trial, scene, error)))


def full_disk(bench):
    """A bundle that does not fit gets no link, and the other captures of the batch follow each other."""
    rig = bench.rig()
    place = rig.folder / "small"
    raws = [write_raw(rig.folder / f"raws/{index}", device_model=f"Rig {index}") for index in range(5)]
    with open(raws[2] / "photo.jpg", "r+b") as photo:
        data = photo.read()
        photo.seek(0)
        photo.write(data[:-2] + b"\x55" * 600_000 + b"\xff\xd9")
    result, left = mounted(rig, place, f"{tmpfs('size=256k')} && mkdir -p {rig.out}", "pack", *raws, "--out-dir", place,
                           "--chain", "--json", "--jobs", "1")
    result.must(74)
    expect(left == [f"{index}.bundle" for index in (0, 1, 3, 4)], f"the disk has {left}")
    expect(Chain(rig).state()["seq"] == 4, f"the state has {Chain(rig).state()}")
    expect(b'"seq":4' in result.out and b'"seq":5' not in result.out, f"the links are {result.out!r}")


def full_key_disk(bench):
    """If the state cannot be written, no link is given out."""
    rig = bench.rig()
    place = rig.folder / "small"
    keys = f'cp -p "{rig.keys}"/* "$place"; head -c 9999999 /dev/zero > "$place/filler" 2> /dev/null; true'
    result, _ = mounted(rig, place, f'{tmpfs("size=64k")} && {{ {keys}; }}', "pack", rig.raw, "-o",
                        rig.out / "x.bundle", "--chain", "--key", place / "device.key")
    result.must(74).naming(place / "device.key.state", "full key disk")
    expect(not list(rig.out.iterdir()), f"leaves {rig.strays()}")


def many_runs(bench):
    """Runs at once, to files, to pipes and in batches, give one chain without a gap, and counters rise with it."""
    rig = bench.rig()
    raws = [write_raw(rig.folder / f"raws/{index}", device_model=f"Rig {index}") for index in range(4)]
    for turn in range(3):
        runs = [["pack", raws[index % 4], "-o", rig.out / f"{turn}-{index}.bundle", "--chain"] for index in range(8)]
        for index in range(2):
            (rig.out / f"batch{turn}{index}").mkdir()
            runs.append(["pack", *raws, "--out-dir", rig.out / f"batch{turn}{index}", "--chain"])
        runs += [["pack", rig.raw, "-o", rig.out / f"plain{turn}.bundle"]]
        all_zero(together(rig, runs), "packs at once")
    folders = [path for path in rig.out.iterdir() if path.is_dir()]
    chain = Chain(rig)
    chain.links |= {link for folder in folders for link in links_in(folder).values()}
    chain.judge()
    expect(len(chain.links) == 48, f"{len(chain.links)} links, expected 48")
    rig.verify(*rig.out.glob("**/*.bundle"))


def one_name(bench):
    """Of runs for one name, one gets it and a link. Runs with another capture fail; the same capture is packed."""
    for is_same in (False, True):
        rig = bench.rig()
        raws = [write_raw(rig.folder / f"raws/{index}", device_model=f"Rig {index}") for index in range(6)]
        ends = together(rig, [["pack", rig.raw if is_same else raw, "-o", rig.out / "x.bundle", "--chain"]
                              for raw in raws])
        expect(sorted(code for code, _ in ends) == [0] + [0 if is_same else 73] * 5, f"{ends}")
        expect(Chain(rig).state()["seq"] == 1, "a refused run got a link")
        Chain(rig).judge()


TESTS = [(f"{mode}: {error} at any call", functools.partial(meets, words, error))
         for mode, words in MODES.items() if "named" not in words for error in ("EIO", "ENOSPC", "EACCES", "EINTR")
         if "pipe" not in words or error != "EACCES"]
TESTS += [
    ("a full disk: the captures that fit follow each other", full_disk),
    ("a full disk below the key: no link is given out", full_key_disk),
    ("many runs at once: one chain", many_runs),
    ("many runs for one name: one link", one_name),
]
