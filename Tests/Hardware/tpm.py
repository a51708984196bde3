"""Keys in a TPM."""
import re
import subprocess

from Hardware import scenes
from Kit.outcomes import IS_LONG, ROOT, expect
from Kit.rigs import write_raw


def words_of_failures(bench):
    """Each failure has words of its own."""
    place = bench.at_tpm()
    place.begin()
    none = {"OPENSSL_MODULES": "/nonexistent"}
    cases = {
        "no key": (78, "the TPM has no key with this handle", "handle:0x810000ff", None),
        "not a handle": (78, "is not the handle of a key in a TPM", "handle:first", None),
        "RSA": (78, "another kind (RSA, 2048 bits), expected a private key on P-256", "handle:0x81000012", None),
        "P-384": (78, "another kind (EC, secp384r1)", "handle:0x81000013", None),
        "a PIN that the name does not announce": (77, "'handle:0x81000011?pass'", "handle:0x81000011", None),
        "no TPM": (78, "the TPM cannot be reached", place.key, {"TPM2OPENSSL_TCTI": "swtpm:path=/nonexistent"}),
        "no provider for a TPM": (78, "package tpm2-openssl", place.key, none),
        "no provider for a token": (78, "package pkcs11-provider", "pkcs11:token=a;object=b?pin-value=24681357", none),
    }

    scenes.refused(place, cases)


def locks_itself(bench):
    place, tpm = bench.at_tpm(), bench.new_tpm()
    place.env |= tpm.environment
    (place.home / "other").write_text("1111\n")
    pack = ["pack", "raw", "-o", "x.bundle", "--key", place.asking, "--passphrase-file"]
    tpm.lock(True)
    place.refuses(77, "the PIN is wrong", *pack, "other")
    place.refuses(77, "accepts no PIN for a while", *pack, "pin")


def goes_away(bench):
    """The TPM goes away while captures are signed: each capture has its bundle, or there is nothing of it."""
    tpm = bench.new_tpm()
    place = bench.at_tpm(tpm)
    place.begin()
    count = 400 if IS_LONG else 100
    for number in range(count):
        write_raw(place.home / f"raws/{number:03}")
    with subprocess.Popen(place.argv("pack", *(f"raws/{number:03}" for number in range(count)), "--out-dir", "out",
                                     "--key", place.key),
                          env=place.env, cwd=place.home, stderr=subprocess.PIPE, text=True) as tool:
        while not list(place.home.glob("out/*.bundle")):
            expect(tool.poll() is None, "it ended before it made a bundle")
        tpm.end()
        text = tool.communicate(timeout=60)[1]
    made = len(place.counters())
    expect(tool.returncode == 74 and "the key in hardware" in text, f"exit {tool.returncode}: {text[-300:]!r}")
    expect(0 < made < count, f"{made} bundles")
    expect(not [path for path in (place.home / "out").iterdir() if path.suffix != ".bundle"], "files were left")
    place.run("verify", *(f"out/{path.name}" for path in (place.home / "out").iterdir())).must(0)


def sends(bench):
    """A queue signs its requests with the key: Samples/receive.py checks them with openssl."""
    place = bench.at_tpm()
    pem = place.begin()
    place.run("pack", "raw", "-o", "x.bundle", "--key", place.key).must(0)
    capqueue = bench.programs["capqueue"]
    path = f"{bench.programs['capbundle'].parent}:{place.env['PATH']}"
    (place.home / "received").mkdir()
    trust = place.home / ".config/capbundle/trusted_devices"
    with subprocess.Popen(["python3", ROOT / "Samples/receive.py", "received", scenes.DEVICE, pem, trust],
                          cwd=place.home, env=place.env | {"PATH": path}, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL) as server:
        try:
            url = server.stdout.readline().strip()
            add = [capqueue, "dest", "add", "api", "--kind", "http", "--url", url, "--device-id", scenes.DEVICE, "--key"]
            refused = place.call(*add, "pkcs11:token=a?pin-value=24681357").must(78)
            expect("pin-value" in refused.text and "24681357" not in refused.text, refused.text)
            place.call(*add, place.asking, "--passphrase-file", "pin").must(0, about="dest add")
            place.call(capqueue, "dest", "set", "api", "--key", place.key, "--passphrase-file", "").must(0)
            place.call(capqueue, "push", "x.bundle").must(0, about="push")
            done = place.call(capqueue, "run", "--until-empty").must(0, about="run")
            expect(re.search(rb"completed", done.out), f"run says {done.out!r} {done.text!r}")
        finally:
            server.kill()
    expect(len(list((place.home / "received").glob("*.bundle"))) == 1, "nothing was received")
    expect(place.state()["counter"] == 1, "a request uses a counter")


TESTS = [
    *((title, lambda bench, scene=scene: scene(bench.at_tpm())) for title, scene in scenes.ALL),
    ("each failure has words of its own", words_of_failures),
    ("a TPM that locks itself after wrong PINs is named", locks_itself),
    ("a TPM that goes away fails the captures that are not signed", goes_away),
    ("a queue signs its requests, and takes no PIN in the name of a key", sends),
]
