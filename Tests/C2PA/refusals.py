"""Photos, bundles, keys and certificates that must be refused, each with its exit code and without a new file."""
import importlib.util
import os
import random

import c2pa

from C2PA.bench import PAST, PROGRAM, SAMPLE, facts
from Kit.outcomes import every, expect, long
from Kit.rigs import PHOTO, write_raw
from Kit.servers.scripted import Reply, Scripted

APP11 = b"\xff\xeb"


def changed(bench, name, path, at):
    """A copy of a file with one bit flipped."""
    data = bytearray(path.read_bytes())
    data[at] ^= 2
    (bench.home / name).write_bytes(data)
    return bench.home / name


def photo(bench):
    path = bench.home / "good.jpg"
    return path if path.exists() else bench.exported("good.jpg")


def refused(bench, code, *words, naming="", **how):
    """Expects an exit code, a message, and that no file appears."""
    before = {path for path in bench.home.rglob("*")}
    done = bench.export(*words, code=code, **how)
    said = done.text + done.out.decode()
    expect(said.strip() and str(naming) in said, f"the message does not name {naming}: {said!r}")
    left = {path for path in bench.home.rglob("*")} - before
    expect(not left, f"it leaves {left}")


def altered_photos(bench):
    good = photo(bench)
    size, at = good.stat().st_size, good.read_bytes().index(APP11)
    checks = {"a bit of the picture": (changed(bench, "1.jpg", good, size - 1000), "assertion.dataHash.mismatch"),
              "a bit of the header": (changed(bench, "2.jpg", good, 15), "assertion.dataHash.mismatch"),
              "our assertion": (changed(bench, "3.jpg", good, good.read_bytes().index(bench.key_id.encode())),
                                "assertion.hashedURI.mismatch")}
    every(checks, lambda _, case: refused(bench, 1, "--check", case[0], bench.bundle, "--anchors", bench.roots,
                                          naming=case[1]))
    grown = bench.home / "grown.jpg"
    grown.write_bytes(good.read_bytes() + b"more")
    refused(bench, 1, "--check", grown, bench.bundle, "--anchors", bench.roots)
    segment = bench.home / "segment.jpg"
    data = good.read_bytes()
    segment.write_bytes(data[:at] + APP11 + b"\0\x06more" + data[at:])
    bench.export("--check", segment, bench.bundle, "--anchors", bench.roots, code=1)


def others(bench):
    good = photo(bench)
    other = bench.pack("other.bundle", raw=write_raw(bench.home / "other", captured_at="2026-03-15T10:00:00Z"))
    again = bench.pack("again.bundle")
    check = ("--anchors", bench.roots)
    refused(bench, 1, "--check", good, other, *check, naming="id is")
    # The same photo and depth map, signed again: the id is the same, the manifest too, so both bundles are its source.
    bench.check(good, bundle=again)
    theirs = bench.exported("other.jpg", bundle=other)
    refused(bench, 1, "--check", theirs, bench.bundle, *check, naming="not the photo of the bundle")
    store = bench.exported("one.c2pa")
    (bench.home / "rig.jpg").write_bytes(PHOTO)
    refused(bench, 1, "--check", bench.home / "rig.jpg", bench.bundle, "--sidecar", store, *check,
            naming="not the photo of the bundle")
    refused(bench, 1, "--check", bench.home / "rig.jpg", other, "--sidecar", store, *check)
    refused(bench, 2, "--check", SAMPLE / "photo.jpg", bench.bundle, *check, naming="no C2PA manifest")
    refused(bench, 2, "--check", bench.bundle, bench.bundle, *check, naming="no C2PA manifest")
    refused(bench, 2, "--check", SAMPLE / "photo.jpg", bench.bundle, "--sidecar", bench.certificate, *check)
    refused(bench, 4, "--check", good, bench.bundle, "--anchors", bench.stranger, naming="signingCredential.untrusted")
    refused(bench, 66, "--check", bench.home / "missing.jpg", bench.bundle, *check, naming="missing.jpg")
    refused(bench, 66, "--check", good, bench.bundle, "--anchors", bench.home / "missing.pem", naming="missing.pem")
    refused(bench, 78, "--check", good, bench.bundle, "--anchors", SAMPLE / "photo.jpg", naming="photo.jpg")


def signed_by_other(bench, name, url=None, **definition):
    """The photo with the manifest of another tool under the same root, or with the URL of one."""
    path = bench.home / name
    chain, key = bench.gateway_certificate.read_bytes(), bench.gateway_key.read_bytes()
    created = {"action": "c2pa.created", "digitalSourceType": "http://c2pa.org/digitalsourcetype/empty"}
    builder = c2pa.Builder({"claim_generator_info": [{"name": "theirs"}], "assertions": [
        {"label": "c2pa.actions.v2", "data": {"actions": [created]}, "created": True}]} | definition)
    if url:
        builder.set_no_embed()
        builder.set_remote_url(url)
    with c2pa.Signer.from_info(c2pa.C2paSignerInfo(b"es256", chain, key, None)) as signer:
        builder.sign_file(SAMPLE / "photo.jpg", path, signer)
    return path


def other_tools(bench):
    """A manifest of another tool for the same photo says nothing of the bundle, even if the root is the same."""
    path = signed_by_other(bench, "their.jpg")
    bench.is_judged("Trusted", path)
    refused(bench, 1, "--check", path, bench.bundle, "--anchors", bench.roots, naming="no assertion")
    # A claim of version 1 needs no actions.
    path = signed_by_other(bench, "old.jpg", claim_version=1, assertions=[
        {"label": "org.capture-bundle.source", "data": facts(bench)}])
    bench.is_judged("Trusted", path)
    refused(bench, 1, "--check", path, bench.bundle, "--anchors", bench.roots, naming="no assertion c2pa.actions.v2")


def elsewhere(bench):
    """A photo that says where its manifest is makes the check ask nobody."""
    with Scripted(lambda _: Reply(404)) as server:
        path = signed_by_other(bench, "remote.jpg", f"http://127.0.0.1:{server.port}/manifest")
        refused(bench, 2, "--check", path, bench.bundle, "--anchors", bench.roots, naming="no C2PA manifest")
        expect(not server.requests, f"it asked for {[request.path for request in server.requests]}")


def excluded_bytes(_):
    """A manifest may leave out APP11 segments and nothing else, even if its signer is trusted."""
    specification = importlib.util.spec_from_file_location("export", PROGRAM)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    first, second = APP11 + b"\0\x04ab", APP11 + b"\0\x05abc"
    cases = {"none": (b"\xff\xd8rest", (), b"\xff\xd8rest"),
             "two segments": (b"\xff\xd8" + first + second + b"rest", ((2, 13),), b"\xff\xd8rest"),
             "two places": (b"\xff\xd8" + first + b"--" + second + b"rest", ((2, 6), (10, 7)), b"\xff\xd8--rest"),
             "half a segment": (b"\xff\xd8" + first + b"rest", ((2, 5),), None),
             "another segment": (b"\xff\xd8\xff\xe1\0\x04abrest", ((2, 6),), None),
             "more than segments": (b"\xff\xd8" + first + b"rest", ((2, 8),), None),
             "more than the photo": (b"\xff\xd8" + first, ((2, 60),), None)}

    def judge(_, case):
        data, places, wanted = case
        said = {"c2pa.hash.data": {"exclusions": [{"start": start, "length": length} for start, length in places]}}
        found = module.without_manifest(data, {"active": {"assertion_store": said}})
        expect(found == wanted, f"gives {found}, expected {wanted}")

    every(cases, judge)


def bundles(bench):
    out = bench.home / "never.jpg"
    words = ("-o", out, "--key", bench.key, "--certificate", bench.certificate)
    altered = changed(bench, "altered.bundle", bench.bundle, bench.bundle.read_bytes().rindex(bench.photo) + 4000)
    unsigned = changed(bench, "unsigned.bundle", bench.bundle,
                       bench.bundle.read_bytes().index(b"authenticatorDataX\x25") + 17 + 2 + 36)
    unknown = bench.home / "nobody"
    unknown.write_bytes(b"")
    cases = {"an altered entry": (1, altered, "entry.sha256"),
             "an altered counter": (1, unsigned, "assertion.signature"),
             "no bundle": (2, SAMPLE / "photo.jpg", "container.magic"),
             "no file": (66, bench.home / "missing", "missing")}
    every(cases, lambda _, case: refused(bench, case[0], case[1], *words, naming=case[2]))
    refused(bench, 3, bench.bundle, *words, "--trust", unknown, naming="trust.unknown")
    refused(bench, 3, "--check", photo(bench), bench.bundle, "--anchors", bench.roots, "--trust", unknown,
            naming="trust.unknown")
    refused(bench, 1, "--check", photo(bench), altered, "--anchors", bench.roots, naming="entry.sha256")
    secret = bench.pack("secret.bundle", "--withholdable", "photo.jpg")
    bench.run("capbundle", "redact", secret, "--withhold", "photo.jpg", "-o", bench.home / "bare.bundle")
    refused(bench, 66, bench.home / "bare.bundle", *words, "--allow-withheld", naming="photo.jpg")
    refused(bench, 78, bench.bundle, *words, env={"PATH": os.path.dirname(bench.run("which", "python").out.decode())},
            naming="capbundle")


def swapped(bench):
    """A bundle that changes after capbundle has verified it is not exported: here capbundle's last act replaces it."""
    victim, other = bench.home / "victim.bundle", bench.pack("clean.bundle", "--no-depth")
    victim.write_bytes(bench.bundle.read_bytes())
    (bench.home / "swap").mkdir()
    program = bench.home / "swap/capbundle"
    program.write_text(f"#!/bin/sh\n{bench.home}/bin/capbundle \"$@\"; cp {other} {victim}\n")
    program.chmod(0o755)
    refused(bench, 1, victim, "-o", bench.home / "never.jpg", "--key", bench.key, "--certificate", bench.certificate,
            naming="was changed after", env={"PATH": f"{program.parent}:{bench.env['PATH']}"})


def keys(bench):
    """A key must be the device's or a gateway's, and the certificate must be for the key and one that C2PA accepts."""
    rsa, junk, bare, open_key = (bench.home / f"{name}.key" for name in ("rsa", "junk", "bare", "open"))
    bench.run("openssl", "genpkey", "-algorithm", "RSA", "-out", rsa)
    junk.write_text("no key\n")
    open_key.write_bytes(bench.key.read_bytes())
    for path in (rsa, junk):
        path.chmod(0o600)
    ours, theirs = bench.certificate, bench.gateway_certificate
    cases = {
        "a certificate of another key": (78, bench.key, theirs, (), "is not for the key"),
        "no extended key usage": (78, bench.key, bench.certify("no-eku", extendedKeyUsage=None), (), "no-eku.crt"),
        "code signing": (78, bench.key, bench.certify("code", extendedKeyUsage="codeSigning"), (), "code.crt"),
        "an authority": (78, bench.key, bench.certify("ca", basicConstraints="critical,CA:TRUE"), (), "ca.crt"),
        "an ended certificate": (78, bench.key, bench.certify("ended", days=1, when=PAST), (), "ended.crt"),
        "no certificate": (78, bench.key, SAMPLE / "photo.jpg", (), "photo.jpg"),
        "a missing certificate": (66, bench.key, bench.home / "missing.crt", (), "missing.crt"),
        "another key than the device's": (64, bench.gateway_key, theirs, (), "--gateway"),
        "a gateway with the device's key": (64, bench.key, ours, ("--gateway",), "--gateway"),
        "an RSA key": (78, rsa, ours, ("--gateway",), "rsa.key"),
        "no key": (78, junk, ours, (), "junk.key"), "a missing key": (66, bare, ours, (), "bare.key"),
        "a key open to others": (77, open_key, ours, (), "open.key")}
    every(cases, lambda _, case: refused(
        bench, case[0], bench.bundle, "-o", bench.home / "never.jpg", "--key", case[1], "--certificate", case[2],
        *case[3], naming=case[4]))


def outputs(bench):
    """Nothing is replaced, and a photo that has a manifest keeps it."""
    there, words = bench.home / "there.jpg", ("--key", bench.key, "--certificate", bench.certificate)
    there.write_text("mine")
    link = bench.home / "link.jpg"
    link.symlink_to("nowhere")
    for option, path in (("-o", there), ("--sidecar", there), ("-o", link), ("-o", bench.home / "no/folder.jpg")):
        refused(bench, 73, bench.bundle, option, path, *words, naming=path)
    expect(there.read_text() == "mine", "a file was replaced")
    raw = write_raw(bench.home / "signed", photo=photo(bench).read_bytes())
    signed = bench.pack("signed.bundle", raw=raw)
    refused(bench, 65, signed, "-o", bench.home / "twice.jpg", *words, naming="a C2PA manifest already")
    refused(bench, 65, signed, "--sidecar", bench.home / "twice.c2pa", *words, naming="a C2PA manifest already")


def usage(bench):
    certificate, out = ("--certificate", bench.certificate), ("-o", "x.jpg")
    cases = {"nothing": (), "no key": (bench.bundle, *out, *certificate),
             "no output": (bench.bundle, "--key", bench.key, *certificate),
             "two outputs": (bench.bundle, *out, "--sidecar", "x.c2pa", "--key", bench.key, *certificate),
             "no roots": ("--check", "x.jpg", bench.bundle), "an unknown option": (bench.bundle, "--force"),
             "a check that writes": ("--check", "x.jpg", bench.bundle, "--anchors", bench.roots, *out),
             "a strange authority": (bench.bundle, *out, "--key", bench.key, *certificate, "--tsa", "ftp://x")}
    every(cases, lambda _, words: refused(bench, 64, *words, naming="--help"))


def authorities(bench):
    """Without the time stamp that was asked for, nothing is exported."""
    words = (bench.bundle, "-o", bench.home / "never.jpg", "--key", bench.key, "--certificate", bench.certificate,
             "--tsa")
    with Scripted(lambda request: Reply(200, {"Content-Type": "application/timestamp-reply"}, b"junk")
                  if "junk" in request.path else Reply(500)) as server:
        url = f"http://127.0.0.1:{server.port}"
        refused(bench, 74, *words, f"{url}/down", naming=url)
        refused(bench, 74, *words, f"{url}/junk", naming=url)
    refused(bench, 74, *words, url, naming=url)


@long
def damage(bench):
    """Photos that were cut or have a wrong byte in their manifest do not pass, unless the byte means nothing."""
    good, seeded = photo(bench), random.Random(20260314)
    data, path = good.read_bytes(), bench.home / "damaged.jpg"
    whole, start = bench.check(good).out, data.index(APP11)
    filled = [at for at in range(start, start + len(data) - len(bench.photo)) if data[at]]
    for number in range(80):
        at = seeded.choice(filled)
        wrong = bytes([data[at] ^ 1 << number % 8])
        path.write_bytes(data[:at] if number % 4 == 0 else data[:at] + wrong + data[at + 1:])
        done = bench.check(path, code=None)
        is_same = done.code == 0 and done.out.replace(b"damaged.jpg", b"good.jpg") == whole and number % 4
        expect(done.code in (1, 2) or is_same, f"byte {at}: exit {done.code}: {done.text}{done.out.decode()}")


TESTS = [("altered photos", altered_photos), ("other photos, bundles and roots", others),
         ("a manifest of another tool", other_tools),
         ("a manifest that is elsewhere", elsewhere), ("bytes that a manifest may leave out", excluded_bytes),
         ("bundles that capbundle refuses", bundles), ("a bundle that changes meanwhile", swapped),
         ("keys and certificates", keys), ("outputs", outputs), ("usage", usage),
         ("time stamping authorities that fail", authorities), ("damaged manifests", damage)]
