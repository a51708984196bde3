#!/usr/bin/env python3
"""Exports the photo of a capture bundle with a C2PA manifest, or checks that an exported photo is from a bundle.

    export.py cap.bundle -o photo.jpg --key device.key --certificate device.crt
    export.py --check photo.jpg cap.bundle --anchors roots.pem

README.md shows how to make the certificate. The exit codes are those of capbundle (Spec/command-line.md, section 2).
"""
import argparse
import contextlib
import getpass
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tarfile

import c2pa
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

LABEL, ACTIONS = "org.capture-bundle.source", "c2pa.actions.v2"
CAPTURE = "http://cv.iptc.org/newscodes/digitalsourcetype/digitalCapture"
# A photo may be from a stranger, so nothing that it refers to is fetched.
SETTINGS = {"verify": {"remote_manifest_fetch": False, "ocsp_fetch": False},
            "builder": {"thumbnail": {"enabled": False}}}
ALTERED, MALFORMED, UNACCEPTABLE, USAGE, UNSUITABLE = 1, 2, 4, 64, 65
MISSING, BUG, UNWRITABLE, FAILED, DENIED, UNUSABLE = 66, 70, 73, 74, 77, 78


class Refusal(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Refusal(USAGE, f"{message}; the options: export.py --help")


def parsed():
    parser = Parser(usage="export.py BUNDLE (-o PHOTO | --sidecar FILE) --key FILE --certificate FILE [options]\n"
                    "       export.py --check PHOTO BUNDLE [--sidecar FILE] --anchors FILE [options]",
                    description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("bundle", metavar="BUNDLE", help="a bundle that capbundle verifies")
    parser.add_argument("-o", dest="output", metavar="PHOTO", help="write the photo with the manifest in it")
    parser.add_argument("--sidecar", metavar="FILE", help="write or check a manifest that is not in the photo")
    parser.add_argument("--key", metavar="FILE", help="the key that signs; CAPBUNDLE_PASSPHRASE_FILE may open it")
    parser.add_argument("--certificate", metavar="FILE", help="PEM: the certificate of the key, then intermediate ones")
    parser.add_argument("--gateway", action="store_true", help="sign with another key than the device's")
    parser.add_argument("--tsa", metavar="URL", help="ask this RFC 3161 authority for a time stamp")
    parser.add_argument("--check", metavar="PHOTO", help="check this photo")
    parser.add_argument("--anchors", metavar="FILE", help="PEM: the roots to trust, also for time stamps")
    parser.add_argument("--trust", metavar="FILE", action="append", default=[], help="passed to capbundle verify")
    parser.add_argument("--allow-withheld", action="store_true", help="passed to capbundle verify")
    options = parser.parse_args()
    if options.check and (options.output or options.key or not options.anchors):
        parser.error("--check needs --anchors, and neither -o nor --key")
    is_export = options.key and options.certificate and bool(options.output) != bool(options.sidecar)
    if not options.check and not is_export:
        parser.error("an export needs --key, --certificate, and either -o or --sidecar")
    if options.tsa and not options.tsa.startswith(("http://", "https://")):
        parser.error(f"--tsa {options.tsa}: expected an http or https URL")
    return options


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Refusal(MISSING, f"{path}: {error.strerror}") from None


def certificates(path):
    try:
        return x509.load_pem_x509_certificates(read(path))
    except ValueError:
        raise Refusal(UNUSABLE, f"{path}: holds no certificate that can be read, expected PEM") from None


def pem(chain):
    return "".join(one.public_bytes(serialization.Encoding.PEM).decode() for one in chain)


def verified(options):
    """Returns the facts that tie a photo to the bundle, its photo, and the report of capbundle, which accepts it."""
    path, words = options.bundle, [f"--trust={file}" for file in options.trust]
    words += ["--allow-withheld"] if options.allow_withheld else []
    try:
        command = ["capbundle", "verify", "--json", *words, "--", path]
        tool = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    except OSError as error:
        raise Refusal(UNUSABLE, f"capbundle cannot be started: {error.strerror}") from None
    report = json.loads(tool.stdout) if tool.returncode in range(UNACCEPTABLE + 1) else {}
    if tool.returncode:
        faults = [": ".join(fault[key] for key in ("entry", "message") if key in fault) + f" [{fault['code']}]"
                  for fault in report.get("faults", [])]
        raise Refusal(tool.returncode if tool.returncode > 0 else BUG, f"{path}: capbundle does not accept it: "
                      + ("; ".join(faults) or f"exit code {tool.returncode}"))
    hashed = {entry["path"]: entry["sha256"] for entry in report["entries"]}
    hashed["manifest.json"] = report["bundle"]["manifest_sha256"]
    try:
        with tarfile.open(path, "r:") as archive:
            found = {name: archive.extractfile(name).read() for name in ("manifest.json", "photo.jpg")}
    except (OSError, tarfile.TarError, KeyError) as error:
        raise Refusal(MISSING, f"{path}: {error}") from None
    for name, data in found.items():
        if hashlib.sha256(data).hexdigest() != hashed[name]:
            raise Refusal(ALTERED, f"{path}: {name} was changed after capbundle had verified it")
    depth = json.loads(found["manifest.json"]).get("depth")
    facts = {"id": report["bundle"]["id"], "key_id": report["device"]["key_id"],
             "manifest_sha256": hashed["manifest.json"]} | ({"depth_sha256": depth["sha256"]} if depth else {})
    return facts, found["photo.jpg"], report


def passphrase_of(path):
    if file := os.environ.get("CAPBUNDLE_PASSPHRASE_FILE"):
        return read(file).partition(b"\n")[0]
    with contextlib.suppress(EOFError):
        if sys.stdin.isatty():
            return getpass.getpass(f"Passphrase of {path}: ").encode()
    raise Refusal(DENIED, f"{path}: has a passphrase; set CAPBUNDLE_PASSPHRASE_FILE, or type it on a terminal")


def private_key(path):
    data, mode = read(path), os.stat(path).st_mode & 0o777
    if mode & 0o077:
        raise Refusal(DENIED, f"{path}: others can read or write it (mode {mode:o}), expected 600")
    passphrase = passphrase_of(path) if b"ENCRYPTED" in data else None
    try:
        key = serialization.load_pem_private_key(data, passphrase)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise Refusal(UNUSABLE if passphrase is None else DENIED, f"{path}: " + (
            "expected a private key as PEM" if passphrase is None else "the passphrase is wrong")) from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise Refusal(UNUSABLE, f"{path}: expected a P-256 key")
    return key


def signer(options, device):
    """Returns the signer for C2PA, if the certificate is for the key, and the key is the device's or a gateway's."""
    key, chain = private_key(options.key), certificates(options.certificate)
    leaf = None
    with contextlib.suppress(ValueError, UnsupportedAlgorithm):
        leaf = chain[0].public_key()
    if leaf != key.public_key():
        raise Refusal(UNUSABLE, f"{options.certificate}: its first certificate is not for the key {options.key}")
    point = key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    key_id = hashlib.sha256(point).hexdigest()
    if options.gateway == (key_id == device):
        raise Refusal(USAGE, f"{options.key}: " + (
            "it is the key of the device, not of a gateway; leave out --gateway" if options.gateway else
            f"its key id is {key_id}, but the key {device} signed the bundle; to sign as a gateway, add --gateway"))

    def sign(data):
        numbers = utils.decode_dss_signature(key.sign(data, ec.ECDSA(hashes.SHA256())))
        return b"".join(number.to_bytes(32, "big") for number in numbers)

    return c2pa.Signer.from_callback(sign, c2pa.C2paSigningAlg.ES256, pem(chain), options.tsa)


def export(options):
    target = options.output or options.sidecar
    if os.path.lexists(target):
        raise Refusal(UNWRITABLE, f"{target}: exists already")
    facts, photo, report = verified(options)
    action = {"action": "c2pa.created", "digitalSourceType": CAPTURE, "when": report["bundle"]["captured_at"]}
    if options.gateway:
        action = {"action": "c2pa.opened", "parameters": {"ingredientIds": ["photo"]}}
    assertions = {ACTIONS: {"actions": [action]}, LABEL: facts}
    definition = {"title": "photo.jpg", "claim_generator_info": [{"name": "capture-bundle Samples/c2pa/export.py"}],
                  "assertions": [{"label": label, "data": data, "created": True} for label, data in assertions.items()]}
    try:
        builder = c2pa.Builder(definition, context=c2pa.Context.from_dict(SETTINGS))
        if options.gateway:
            about = f"the photo of the capture bundle {facts['id']}, signed by the device key {facts['key_id']}"
            builder.add_ingredient({"label": "photo", "title": "photo.jpg", "relationship": "parentOf",
                                    "description": about}, "image/jpeg", io.BytesIO(photo))
        if options.sidecar:
            builder.set_no_embed()
        signed = io.BytesIO()
        store = builder.sign(signer(options, facts["key_id"]), "image/jpeg", io.BytesIO(photo), signed)
        made = photo if options.sidecar else signed.getvalue()
        judged = examined(made, store if options.sidecar else None)
    except c2pa.C2paError as error:
        if options.tsa and "internal error" in str(error):  # a bad certificate or key has other words
            raise Refusal(FAILED, f"{options.tsa}: gives no time stamp: {error}") from None
        about = f"{options.bundle}: C2PA cannot sign its photo with {options.certificate}: {error}"
        raise Refusal(UNUSABLE, about) from None
    if judged["validation_state"] == "Invalid" or without_manifest(made, judged) != photo:
        raise Refusal(UNSUITABLE, f"{options.bundle}: photo.jpg has a C2PA manifest already, which would be lost")
    write(target, store if options.sidecar else made)
    say(f"{target}: {'the manifest for ' if options.sidecar else ''}the photo of {options.bundle}")
    return 0


def write(path, data):
    """Writes a file beside the target, syncs it, and gives it its name unless a file has that name."""
    folder, name = os.path.split(path)
    other = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        with open(other, "xb") as file:
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                os.link(other, path)
            finally:
                os.unlink(other)
    except OSError as error:
        raise Refusal(UNWRITABLE, f"{path}: cannot be written: {error.strerror}") from None


def examined(photo, store=None, anchors=None):
    settings = SETTINGS | ({"trust": {"user_anchors": anchors}} if anchors else {})
    with c2pa.Reader("image/jpeg", io.BytesIO(photo), store, context=c2pa.Context.from_dict(settings)) as reader:
        report = json.loads(reader.detailed_json())
    if report.get("active_manifest") not in report.get("manifests", {}):
        raise c2pa.C2paError("no active manifest")
    return report | {"active": report["manifests"][report["active_manifest"]]}


def without_manifest(photo, judged):
    """Returns the bytes that the manifest protects, or None if it leaves out anything else than APP11 segments."""
    places = judged["active"]["assertion_store"].get("c2pa.hash.data", {}).get("exclusions", [])
    for start, length in sorted(((place["start"], place["length"]) for place in places), reverse=True):
        at = start
        while at < start + length and photo[at:at + 2] == b"\xff\xeb":
            at += 2 + int.from_bytes(photo[at + 2:at + 4], "big")
        if at != start + length:
            return None
        photo = photo[:start] + photo[at:]
    return photo


def check(options):
    name, anchors = options.check, pem(certificates(options.anchors))
    facts, original, report = verified(options)
    photo, store = read(name), read(options.sidecar) if options.sidecar else None
    try:
        judged = examined(photo, store, anchors)
    except c2pa.C2paError as error:
        raise Refusal(MALFORMED, f"{options.sidecar or name}: no C2PA manifest can be read: {error}") from None
    results, state = judged["validation_results"]["activeManifest"], judged["validation_state"]
    active = judged["active"]
    untrusted, altered = [], []
    for fault in results["failure"]:
        is_trust = fault["code"].startswith(("signingCredential.", "timeStamp.", "claimSignature.outsideValidity"))
        (untrusted if is_trust else altered).append(f"{fault.get('explanation')} [{fault['code']}]")
    said, actions = (active["assertion_store"].get(label) for label in (LABEL, ACTIONS))
    if isinstance(said, dict):
        altered += [f"{fact} is {said.get(fact, 'absent')}, in the bundle {facts.get(fact, 'absent')}"
                    for fact in sorted(facts | said) if said.get(fact) != facts.get(fact)]
    else:
        altered.append(f"the manifest has no assertion {LABEL}")
    if not actions:
        altered.append(f"the manifest has no assertion {ACTIONS}, which says how the photo was made")
    if without_manifest(photo, judged) != original:
        altered.append("without its manifest it is not the photo of the bundle")
    if altered:
        say(f"{name}: ALTERED, or not from {options.bundle}", *altered)
        return ALTERED
    if state != "Trusted":
        say(f"{name}: the photo of {options.bundle}, but the C2PA signature is not trusted", *untrusted)
        return UNACCEPTABLE
    by, actions = active["signature"], actions["actions"]
    is_stamped = any(result["code"] == "timeStamp.trusted" for result in results["success"])
    say(f"{name}: the photo of {options.bundle}, made by {report['device']['name']}",
        *(f"{fact:<16} {value}" for fact, value in facts.items()),
        f"signed by        {by.get('common_name')}, {by.get('issuer')}: {', '.join(one['action'] for one in actions)}",
        f"time stamp       {by.get('time') if is_stamped else 'none, so the signature ends with its certificate'}")
    return 0


def say(*lines, to=None):
    shown = ("".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in line) for line in lines)
    print("\n  ".join(shown), file=to)


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        options = parsed()
        return check(options) if options.check else export(options)
    except Refusal as refusal:
        say(f"export.py: error: {refusal}", to=sys.stderr)
        return refusal.code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
