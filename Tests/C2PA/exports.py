"""Exports that must work, each judged by both readers and by --check."""
import base64
import hashlib

from C2PA.bench import PAST, SAMPLE, facts
from Documents.run import formed, steps
from Kit.outcomes import ROOT, every, expect, long
from Kit.terminals import played

CAPTURE = "http://cv.iptc.org/newscodes/digitalsourcetype/digitalCapture"


def signs_photo(bench, said):
    """The data hash of C2PA leaves out the manifest, so it is the hash of the photo of the bundle."""
    expect(base64.b64decode(said["c2pa.hash.data"]["hash"]) == hashlib.sha256(bench.photo).digest(),
           "the manifest signs other bytes than the photo of the bundle")


def embedded(bench):
    photo = bench.exported("photo.jpg")
    left = [path.name for path in bench.home.iterdir() if path.name.endswith("jpg") or ".jpg." in path.name]
    expect(left == ["photo.jpg"], f"an export leaves {left}")
    bench.is_judged("Valid", photo, with_roots=False)
    said = bench.is_judged("Trusted", photo)
    signs_photo(bench, said)
    expect(said["org.capture-bundle.source"] == facts(bench), f"the assertion says {said['org.capture-bundle.source']}")
    wanted = [{"action": "c2pa.created", "digitalSourceType": CAPTURE, "when": bench.manifest["captured_at"]}]
    expect(said["c2pa.actions.v2"]["actions"] == wanted, f"the actions are {said['c2pa.actions.v2']}")
    report = bench.judged(photo)[1]
    claim = report["manifests"][report["active_manifest"]]["claim"]
    expect("Samples/c2pa/export.py" in claim["claim_generator_info"]["name"], "the claim does not name the tool")
    expect(len(claim["created_assertions"]) == 3 and not claim.get("gathered_assertions"),
           "the signer does not say that all assertions are its own")
    shown = bench.check(photo).out.decode()
    expect("made by lamp" in shown and "signed by        device, Example: c2pa.created" in shown and
           all(value in shown for value in facts(bench).values()), f"--check prints {shown!r}")


def sidecar(bench):
    store, photo = bench.exported("photo.c2pa"), bench.home / "plain.jpg"
    photo.write_bytes(bench.run("capbundle", "extract", bench.bundle, "photo.jpg").out)
    bench.is_judged("Valid", photo, store, with_roots=False)
    said = bench.is_judged("Trusted", photo, store)
    signs_photo(bench, said)
    expect("exclusions" not in said["c2pa.hash.data"], "the sidecar leaves bytes of the photo out")
    bench.check(photo, "--sidecar", store)
    bench.check(photo, code=2)
    bench.check(bench.exported("inside.jpg"), "--sidecar", store, code=1)


def gateway(bench):
    words = {"key": bench.gateway_key, "certificate": bench.gateway_certificate}
    for name, photo in (("by-gateway.jpg", None), ("by-gateway.c2pa", SAMPLE / "photo.jpg")):
        made = bench.exported(name, "--gateway", **words)
        pair = (photo, made) if photo else (made,)
        bench.is_judged("Valid", *pair, with_roots=False)
        said = bench.is_judged("Trusted", *pair)
        signs_photo(bench, said)
        expect(said["org.capture-bundle.source"] == facts(bench), "a gateway states other facts")
        (action,) = said["c2pa.actions.v2"]["actions"]
        expect(action["action"] == "c2pa.opened" and "digitalSourceType" not in action, f"the action is {action}")
        (link,), ingredient = action["parameters"]["ingredients"], said["c2pa.ingredient.v3"]
        expect(link["url"].endswith("c2pa.ingredient.v3") and ingredient["relationship"] == "parentOf" and
               bench.key_id in ingredient["description"], f"the ingredient is {ingredient}")
        shown = bench.check(pair[0], *(("--sidecar", made) if photo else ())).out
        expect(b"signed by        gateway, Example: c2pa.opened" in shown, f"--check prints {shown!r}")


def stamped(bench):
    """With a time stamp a photo stays trusted when the certificate has ended, and without one it does not."""
    short = bench.certify("short", days=3, when=PAST)
    with bench.authority(PAST) as server:
        photo = bench.exported("stamped.jpg", "--tsa", f"http://127.0.0.1:{server.port}", certificate=short, when=PAST)
        expect(len(server.requests) == 1, "the authority was not asked once")
    bench.is_judged("Trusted", photo)
    expect(b"time stamp       2026-04-01T12:00:0" in bench.check(photo).out, "--check does not show the time")
    expect(b"signingCredential.expired" in bench.check(photo, anchors=bench.root, code=4).out,
           "a time stamp counts although nobody trusts the authority")
    plain = bench.exported("plain-short.jpg", certificate=short, when=PAST)
    expect(b"time stamp       none" in bench.check(plain, when=PAST).out, "--check shows a time that nobody stamped")
    expect(b"signingCredential.expired" in bench.check(plain, code=4).out, "an ended certificate is not named")
    states, _ = bench.judged(plain)
    expect("Trusted" not in states, f"without a time stamp the readers say {states}")


def stamped_now(bench):
    with bench.authority() as server:
        store = bench.exported("stamped.c2pa", "--tsa", f"http://127.0.0.1:{server.port}")
    bench.is_judged("Trusted", SAMPLE / "photo.jpg", store)


@long
def with_passphrase(bench):
    """An encrypted key opens with a passphrase from a file or from the terminal, and with no other."""
    secret, key = bench.home / "secret", bench.home / "locked/device.key"
    secret.write_text("correct horse\n")
    secret.chmod(0o600)
    bench.run("capbundle", "key", "new", "--key", key, "--passphrase-file", secret)
    bench.run("capbundle", "trust", "add", "locked", f"{key}.pub")
    bundle, certificate = bench.home / "locked.bundle", bench.certify("locked", key)
    bench.run("capbundle", "pack", SAMPLE, "-o", bundle, "--key", key, "--passphrase-file", secret)
    how = {"bundle": bundle, "key": key, "certificate": certificate}
    photo = bench.exported("locked.jpg", env={"CAPBUNDLE_PASSPHRASE_FILE": str(secret)}, **how)
    bench.is_judged("Trusted", photo)
    bench.check(photo, bundle=bundle)
    bench.exported("unopened.jpg", code=77, **how)
    bench.exported("unopened.jpg", code=77, env={"CAPBUNDLE_PASSPHRASE_FILE": str(bench.key)}, **how)
    words = [bundle, "-o", "asked.jpg", "--key", key, "--certificate", certificate]
    for typed, code in (("wrong\n", 77), ("\x04", 77), ("\x03", 130), ("correct horse\n", 0)):
        ended = played(bench, *words, answers=[("Passphrase of ", typed)])
        expect(ended[0] == code, f"{typed!r} at the prompt: exit {ended[0]}, expected {code}: {ended[1]!r}")
    bench.is_judged("Trusted", bench.home / "asked.jpg")


def parts_of_bundles(bench):
    """Without a depth map there is no hash of one. A copy without its position is exported if the user allows it."""
    flat = bench.pack("flat.bundle", "--no-depth")
    photo = bench.exported("flat.jpg", bundle=flat)
    said = bench.is_judged("Trusted", photo)["org.capture-bundle.source"]
    expect(said == facts(bench, flat) and "depth_sha256" not in said, f"without a depth map the assertion says {said}")
    bench.check(photo, bundle=flat)
    public = bench.home / "public.bundle"
    bench.run("capbundle", "redact", bench.bundle, "--withhold", "location.json", "-o", public)
    bench.exported("public.jpg", bundle=public, code=4)
    photo = bench.exported("public.jpg", "--allow-withheld", bundle=public)
    bench.check(photo)
    bench.check(photo, "--allow-withheld", bundle=public)


def session(bench):
    """The commands of the page print what it shows."""
    work = bench.home / "session"
    work.mkdir()
    (work / "Samples").symlink_to(ROOT / "Samples")
    page = (ROOT / "Samples/c2pa/README.md").read_text()
    commands = {command.strip(): output for command, output in steps(page, False)}
    expect(len(commands) > 8, f"the page shows {len(commands)} commands")

    def play(command, expected):
        shown = bench.call("bash", "-c", f"exec 2>&1; {command}", cwd=work, env={"HOME": str(work)}).out.decode()
        expect(formed(shown) == formed(expected or ""), f"prints {shown!r}")

    every(commands, play)


def requirements(_):
    """The tests use the versions that the sample asks for."""
    wanted = set((ROOT / "Samples/c2pa/requirements.txt").read_text().split())
    tested = set((ROOT / "Tests/C2PA/requirements.txt").read_text().split())
    expect(wanted and wanted <= tested, f"the sample asks for {wanted - tested}, which is not tested")


TESTS = [("a photo with its manifest inside", embedded), ("a sidecar for the unchanged photo", sidecar),
         ("a gateway opens what a device made", gateway), ("a time stamp outlives the certificate", stamped),
         ("a time stamp in a sidecar", stamped_now), ("a key with a passphrase", with_passphrase),
         ("bundles without a depth map or a position", parts_of_bundles), ("the commands of the page", session),
         ("the versions are those of the sample", requirements)]
