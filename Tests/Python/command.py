"""`python -m capbundle verify` does what Spec/Generator/verify.py does, and agrees with capbundle."""
import json

from Kit.outcomes import ROOT, expect

SAMPLES = sorted([*(ROOT / "Samples/tampered").glob("*.bundle"), ROOT / "Samples/desk-lamp/desk-lamp.bundle"])


def same(place):
    """Both print the same and end with the same code, with many files, text or JSON, and a file that cannot be read."""
    missing = place.folder / "missing.bundle"
    for words in ([*SAMPLES, place.posed, "--trust", place.trust], [*SAMPLES, missing, place.posed, "--json"],
                  [place.posed, "--require", "fresh"], [place.posed, "--trust", SAMPLES[0]]):
        ours = place.python("-m", "capbundle", "verify", *words)
        theirs = place.python(ROOT / "Spec/Generator/verify.py", *words)
        expect((ours.code, ours.out) == (theirs.code, theirs.out), f"{words}: {ours.code} {ours.out}, {theirs.code} {theirs.out}")
        expect(ours.text == theirs.text.replace("verify.py:", "python -m capbundle verify:"), f"{ours.text}, {theirs.text}")
    place.python("-m", "capbundle").must(64)
    place.python("-m", "capbundle", "pack", place.posed).must(64)


def agrees(place):
    """The verdicts of capbundle, in the order of the files; also from standard input."""
    files = [*SAMPLES, *sorted(place.archive.rglob("*.bundle"))]
    done = place.python("-m", "capbundle", "verify", "--json", "--trust", place.trust, *files)
    found = [json.loads(line) for line in done.out.splitlines()]
    shown = [place.shown(file) for file in files]
    expect([(one["file"], one["exit_code"], one["id"]) for one in found]
           == [(str(file), one["exit_code"], one["bundle"]["id"]) for file, one in zip(files, shown)], f"finds {found}")
    expect(done.code == 1, f"exit {done.code}")
    place.python("-m", "capbundle", "verify", "-", "--trust", place.trust, input=place.posed.read_bytes()).must(0)


def state(place):
    """A counter is compared and recorded, in the order of the files."""
    words = ["-m", "capbundle", "verify", "--json", "--trust", place.trust, "--state", place.folder / "state"]
    files = sorted(place.archive.rglob("*.bundle"))
    place.python(*words, *files, "--require", "fresh").must(0)
    done = place.python(*words, files[0], "--require", "fresh").must(4)
    expect(b"policy.required" in done.out, f"prints {done.out}")


TESTS = [("does the same as verify.py", same), ("agrees with capbundle", agrees), ("keeps a state folder", state)]
