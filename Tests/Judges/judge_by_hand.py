"""by_hand.sh: tar, sha256sum, gzip and openssl alone verify a bundle and find tampering."""
import pathlib

from Judges.bench import IS_LONG, SAMPLE, expect

SCRIPT = pathlib.Path(__file__).resolve().parent / "by_hand.sh"


def by_hand(bench, bundle, code, about, key=None, shell="sh"):
    result = bench.run(shell, SCRIPT, bundle, key or bench.public, code=None)
    return result.must(code, about=f"{shell}, {about}")


def accepts(bench):
    for name, options in (("plain", ()), ("no-depth", ("--no-depth",)), ("omitted", ("--location", "omit"))):
        bundle = bench.pack(name, SAMPLE, *options)
        for shell in ("sh", "bash") if IS_LONG or name == "plain" else ("sh",):
            by_hand(bench, bundle.path, 0, name, shell=shell)
    withheld = by_hand(bench, bench.write("withheld.bundle", bench.pack().without("location.json")), 0, "withheld")
    expect(b"withheld: location.json\n" in withheld.out, "withheld location.json not told")


def refuses(bench):
    bundle = bench.pack()
    photo = bundle.member("photo.jpg")
    end = len(bundle.data) - 1024
    spoilt = {f"a bit of {name}": bundle.spoilt(name, at) for name, at in (
        ("photo.jpg", 1000), ("metadata.json", 30), ("location.json", -3), ("depth.f32.gz", 5000),
        ("manifest.json", 20), ("manifest.json", -40), ("assertion.cbor", 5), ("assertion.cbor", 40),
        ("assertion.cbor", -1), ("assertion.cbor", -37))}
    spoilt["no photo"] = bundle.without("photo.jpg")
    # The photo is the last entry. tar accepts a second copy after it, unchanged or with another bit.
    spoilt["the photo twice"] = bundle.data[:end] + bundle.data[photo.offset:end] + bundle.data[end:]
    spoilt["a second photo"] = bundle.spoilt("photo.jpg", 9)[:end] + bundle.data[photo.offset:]
    spoilt |= {"half a file": bundle.data[:len(bundle.data) // 2], "nothing": b""}
    for what, data in spoilt.items():
        by_hand(bench, bench.write("by-hand.bundle", data), 1, what)
    by_hand(bench, bundle.path, 1, "a key that did not sign", bench.stranger_public)


TESTS = [
    ("by_hand.sh (tar, sha256sum, gzip, openssl) accepts bundles, in sh and bash", accepts),
    ("by_hand.sh refuses flipped bits, missing and added entries, another key", refuses),
]
