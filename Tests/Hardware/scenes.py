"""What must hold for a key in any hardware."""
import base64
import hashlib
import json
import random
import subprocess
import time

from Hardware.places import PIN, called
from Kit.outcomes import IS_LONG, every, expect
from Kit.rigs import write_raw
from Kit.terminals import played

DEVICE = "123e4567-e89b-42d3-a456-426614174000"


def signs(place):
    """A capture, a request and a body for RealityCam are signed; `verify` and openssl agree."""
    pem = place.begin()
    place.run("pack", "raw", "-o", "x.bundle", "--key", place.key).must(0, about="pack")
    place.run("verify", "x.bundle").must(0, about="verify")
    name, = {name.partition(".")[0] for name in place.states()}
    shown = json.loads(place.run("key", "show", "--key", place.key, "--json").must(0).out)
    expect(shown["key_id"] == name and shown["counter"] == 1, f"key show says {shown}, the files are {place.states()}")
    expect(set(place.states()) == {f"{name}.state", f"{name}.lock"}, f"the files are {place.states()}")
    (place.home / "body").write_bytes(b"a body")
    sent = dict(line.split(": ", 1) for line in place.run(
        "sign-request", "body", "--device-id", DEVICE, "--key", place.key).must(0).out.decode().splitlines())
    (place.home / "signature").write_bytes(base64.b64decode(sent["X-Device-Signature"]))
    message = f"{sent['X-Device-Timestamp']}|{hashlib.sha256(b'a body').hexdigest()}"
    (place.home / "message").write_text(message)
    called("openssl", "dgst", "-sha256", "-verify", pem, "-signature", place.home / "signature", place.home / "message")
    expect(place.state()["counter"] == 1, "a request uses a counter")


def signs_for_realitycam(place):
    place.run("key", "recover", "--counter", "0", "--realitycam", "--key", place.key).must(0)
    place.run("key", "recover", "--counter", "0", "--key", place.key).must(0)
    (place.home / "keys").mkdir()
    place.run("key", "new", "--key", "keys/file.key").must(0)
    place.run("pack", "raw", "-o", "x.bundle", "--key", "keys/file.key").must(0)
    realitycam = {"CAPBUNDLE_REALITYCAM_KEY": place.key}
    place.run("multipart", "x.bundle", "-o", "body", "--profile", "realitycam", env=realitycam).must(0)
    place.run("sign-request", "body", "--device-id", DEVICE, "--profile", "realitycam", env=realitycam).must(0)
    expect(place.state()["counter"] == 16, f"the counter is {place.state()}")
    place.refuses(78, "signs uploads to RealityCam", "pack", "raw", "-o", "y.bundle", "--key", place.key)


def chains(place):
    """Links follow each other; a state that was lost goes on behind the newest bundle."""
    place.begin()
    for number in range(2):
        place.run("pack", "raw", "-o", f"{number}.bundle", "--chain", "--key", place.key).must(0)
    for path in place.states().values():
        path.unlink()
    place.refuses(78, "no counter on this machine", "pack", "raw", "-o", "2.bundle", "--chain", "--key", place.key)
    place.refuses(78, "--counter 0", "key", "show", "--key", place.key)
    place.run("key", "recover", "--last-bundle", "1.bundle", "--key", place.key).must(0)
    place.run("pack", "raw", "-o", "2.bundle", "--chain", "--key", place.key).must(0)
    # The same capture again to the same target is packed already, and gets no second link.
    place.run("pack", "raw", "-o", "0.bundle", "--key", place.key).must(73)
    place.run("chain", "0.bundle", "1.bundle", "2.bundle").must(0, about="chain")
    expect(place.state()["seq"] == 3 and sorted(place.counters()) == [1, 2, 3], f"the state is {place.state()}")
    place.refuses(78, "cannot be lowered", "key", "recover", "--counter", "0", "--key", place.key)


def refused(place, cases):
    """Each failure has words of its own, leaves no bundle and uses no counter."""
    def judge(_, case):
        code, text, key, environment = case
        place.refuses(code, text, "pack", "raw", "-o", "x.bundle", "--key", key, environment=environment)
        expect(not (place.home / "x.bundle").exists(), "a bundle was written")
    every(cases, judge)
    expect(place.state()["counter"] == 0, f"a counter was used: {place.state()}")


def asks_once(place):
    """100 captures ask for the PIN once."""
    raws = [write_raw(place.home / f"raws/{number:03}") for number in range(100)]
    place.begin(place.asking, "--passphrase-file", "pin")
    names = [raw.relative_to(place.home) for raw in raws]
    code, shown, _, err = played(place, "pack", *names, "--out-dir", "out", "--key", place.asking, streams="stdin",
                                 answers=[("PIN of ", PIN + "\n")])
    expect(code == 0 and b"PIN of" not in shown, f"exit {code}: {shown!r} {err[-300:]!r}")
    expect(len(place.counters()) == 100 and place.state()["counter"] == 100, f"{len(place.counters())} bundles")
    place.run("verify", *(f"out/{path.name}" for path in (place.home / "out").iterdir())).must(0, about="verify")


def survives_kills(place, trials=8 if IS_LONG else 2):
    """A kill at any moment leads neither to a counter that is used twice, nor to a broken chain."""
    place.begin()
    for number in range(12):
        write_raw(place.home / f"raws/{number:02}", captured_at=f"2026-03-14T09:26:{number:02}.5+01:00")
    names = [f"raws/{number:02}" for number in range(12)]
    words = ["pack", *names, "--out-dir", "chained", "--chain", "--key", place.key]
    began = time.monotonic()
    place.run("pack", *names, "--out-dir", "first", "--key", place.key).must(0)
    usual = time.monotonic() - began
    for number in range(trials):
        for line in (words, ["pack", *names, "--out-dir", f"out{number}", "--key", place.key]):
            with subprocess.Popen(place.argv(*line), env=place.env, cwd=place.home, stderr=subprocess.DEVNULL) as tool:
                time.sleep(random.uniform(0.1, 1.1) * usual)
                tool.kill()
    place.run(*words).must(0, about="pack after the kills")
    used = place.counters()
    expect(max(used) <= place.state()["counter"], f"the state has {place.state()}, a bundle {max(used)}")
    place.run("chain", "chained").must(0, about="chain")
    place.run("verify", *(str(path.relative_to(place.home)) for path in place.home.rglob("*.bundle"))).must(0)


def takes_the_pin_from_a_file(place):
    place.begin(place.asking, "--passphrase-file", "pin")
    pack = ["pack", "raw", "-o", "x.bundle", "--key", place.asking]
    place.run(*pack, env={"CAPBUNDLE_PASSPHRASE_FILE": "pin"}).must(0, about="with a file of the environment")
    (place.home / "other").write_text("1111\n")
    (place.home / "other").chmod(0o600)
    pack[3] = "y.bundle"
    place.refuses(77, "PIN", *pack, "--passphrase-file", "other")
    place.refuses(77, "needs a PIN", *pack)
    expect(place.state()["counter"] == 1, "a wrong PIN uses a counter")
    # The public half is no secret, and an agent that shows it has no PIN.
    place.run("key", "show", "--key", place.asking).must(0)


def refuses_what_hardware_does(place):
    place.refuses(73, "with the tools of the hardware", "key", "new", "--key", place.key)
    place.refuses(73, "with the tools of the hardware", "key", "passwd", "--key", place.key)
    place.refuses(78, "capbundle key recover --counter 0", "pack", "raw", "-o", "x.bundle", "--key", place.key)
    for name in ("handle:0x81000010", "pkcs11:token=rig"):
        place.run("key", "new", "--key", f"./{name}").must(0, about="a file whose name begins as a URI")
        expect((place.home / name).is_file(), f"there is no file {name}")


ALL = [
    ("a capture and a request are signed, and the files of the key have its id", signs),
    ("uploads to RealityCam are signed", signs_for_realitycam),
    ("a chain goes on after the state was lost", chains),
    ("100 captures ask for the PIN once", asks_once),
    ("a kill at any moment uses no counter twice", survives_kills),
    ("a PIN comes from a file; a wrong or missing one uses no counter", takes_the_pin_from_a_file),
    ("a key in hardware is neither made nor changed; a file may have the name of a URI", refuses_what_hardware_does),
]
