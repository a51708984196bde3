"""by_hand.sh: tar, sha256sum, gzip and openssl alone verify a bundle and find tampering."""
import pathlib

from bench import SAMPLE, expect

SCRIPT = pathlib.Path(__file__).resolve().parent / "by_hand.sh"


def _exit(bench, bundle, key=None, shell="sh"):
    return bench.run(shell, SCRIPT, bundle, key or bench.public, expected=None)


def accepts(bench):
    for name, options in (("plain", ()), ("no-depth", ("--no-depth",)), ("omitted", ("--location", "omit"))):
        bundle = bench.pack(name, SAMPLE, *options)
        for shell in ("sh", "bash"):
            result = _exit(bench, bundle.path, shell=shell)
            said = result.stderr.decode().strip()
            expect(result.returncode == 0, f"{shell}, {name} bundle: exit {result.returncode}: {said}")
    withheld = bench.write("by-hand-withheld.bundle", bench.pack().without("location.json"))
    result = _exit(bench, withheld)
    expect(result.returncode == 0 and b"withheld: location.json\n" in result.stdout, "withheld location.json not told")


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
    spoilt["half a file"] = bundle.data[:len(bundle.data) // 2]
    spoilt["nothing"] = b""
    for what, data in spoilt.items():
        result = _exit(bench, bench.write("by-hand.bundle", data))
        expect(result.returncode == 1, f"{what}: exit {result.returncode}")
    expect(_exit(bench, bundle.path, bench.stranger_public).returncode == 1, "accepted under a key that did not sign")


JUDGES = [
    ("by_hand.sh (tar, sha256sum, gzip, openssl) accepts bundles, in sh and bash", accepts),
    ("by_hand.sh refuses flipped bits, missing and added entries, another key", refuses),
]
