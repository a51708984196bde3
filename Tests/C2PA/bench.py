"""A home folder with a device key, bundles, certificates, a time stamping authority, and the two judges."""
import io
import json
import pathlib
import re
import sys
import tarfile

import c2pa

from Kit.clocks import shifted
from Kit.outcomes import ROOT, expect
from Kit.rigs import Home
from Kit.servers.scripted import Reply, Scripted

SAMPLE = ROOT / "Samples/desk-lamp/raw"
PROGRAM = ROOT / "Samples/c2pa/export.py"
JUDGE = pathlib.Path(__file__).with_name("second_judge.py")
PAST = "2026-04-01 12:00:00"  # after the sample was captured; certificates that end soon are made and used then
ROOTS_MADE = "2026-03-01 12:00:00"
LEAF = {"basicConstraints": "critical,CA:FALSE", "keyUsage": "critical,digitalSignature",
        "extendedKeyUsage": "emailProtection", "authorityKeyIdentifier": "keyid"}
TSA = """[tsa]
default_tsa = one
[one]
serial = {0}/serial
signer_cert = {0}/tsa.crt
signer_key = {0}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
accuracy = secs:1
ess_cert_id_alg = sha256
"""


class Bench(Home):
    def __init__(self, binary, folder):
        super().__init__(folder / "home")
        (self.home / "bin").mkdir()
        (self.home / "bin/capbundle").symlink_to(binary)
        self.env |= {"PATH": f"{self.home}/bin:{pathlib.Path(sys.executable).parent}:{self.env['PATH']}",
                     "TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        self.key, self.gateway_key = self.home / "device.key", self.make_key("gateway")
        self.key_id = self.run("capbundle", "key", "new", "--key", self.key).out.decode().strip()
        self.run("capbundle", "trust", "add", "lamp", f"{self.key}.pub")
        self.root, self.tsa_root, self.stranger = (self.make_root(name) for name in ("root", "tsa-root", "stranger"))
        self.roots = self.home / "roots.pem"
        self.roots.write_bytes(self.root.read_bytes() + self.tsa_root.read_bytes())
        self.certificate = self.certify("device")
        self.gateway_certificate = self.certify("gateway", self.gateway_key)
        self.bundle = self.pack("cap.bundle")
        with tarfile.open(self.bundle) as archive:
            self.manifest = json.loads(archive.extractfile("manifest.json").read())
            self.photo = archive.extractfile("photo.jpg").read()

    def run(self, *command, code=0, when=None, **how):
        """Runs a command, at another time if `when` is given, and fails unless it ends with `code`."""
        done = self.call(*(shifted(f"@{when}") if when else ()), *map(str, command), **how)
        expect(b"Traceback" not in done.err, f"{command[0]} broke: {done.text.strip()[-300:]!r}")
        about = " ".join(pathlib.Path(str(word)).name for word in command[:3])
        return done if code is None else done.must(code, about=about)

    def argv(self, *words):
        return ["python", *map(str, (PROGRAM, *words))]

    def export(self, *words, **how):
        return self.run(*self.argv(*words), **how)

    def exported(self, name, *words, bundle=None, key=None, certificate=None, **how):
        """Exports a bundle as NAME, a sidecar if its name ends with .c2pa, and returns the path."""
        path = self.home / name
        option = "--sidecar" if path.suffix == ".c2pa" else "-o"
        self.export(bundle or self.bundle, option, path, "--key", key or self.key,
                    "--certificate", certificate or self.certificate, *words, **how)
        return path

    def check(self, photo, *words, bundle=None, anchors=None, **how):
        return self.export("--check", photo, bundle or self.bundle, "--anchors", anchors or self.roots, *words, **how)

    def pack(self, name, *words, raw=SAMPLE):
        self.run("capbundle", "pack", raw, "-o", self.home / name, "--key", self.key, *words)
        return self.home / name

    def make_key(self, name):
        path = self.home / f"{name}.key"
        self.run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path)
        self.run("openssl", "pkey", "-in", path, "-pubout", "-out", f"{path}.pub")
        return path

    def make_root(self, name):
        path = self.home / f"{name}.pem"
        self.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-keyout", path.with_suffix(".key"), "-out", path, "-days", "3650", "-subj", f"/O=Example/CN={name}",
                 "-addext", "keyUsage=critical,keyCertSign,cRLSign", when=ROOTS_MADE)
        return path

    def certify(self, name, key=None, root=None, days=365, when=None, **changes):
        """Makes NAME.crt for a key; `changes` replace extensions, None leaves one out."""
        path, root = self.home / f"{name}.crt", root or self.root
        extensions = {key: value for key, value in (LEAF | changes).items() if value}
        path.with_suffix(".cnf").write_text("".join(f"{key} = {value}\n" for key, value in extensions.items()))
        self.run("openssl", "x509", "-new", "-force_pubkey", f"{key or self.key}.pub", "-CA", root, "-CAkey",
                 root.with_suffix(".key"), "-subj", f"/O=Example/CN={name}", "-days", days,
                 "-extfile", path.with_suffix(".cnf"), "-out", path, when=when)
        return path

    def authority(self, when=None):
        """A time stamping authority on loopback; its clock shows `when`."""
        if not (self.home / "tsa.crt").exists():
            self.certify("tsa", self.make_key("tsa"), self.tsa_root, days=3000, when=ROOTS_MADE,
                         extendedKeyUsage="critical,timeStamping")
            (self.home / "tsa.cnf").write_text(TSA.format(self.home))

        def answer(request):
            query = self.home / "query"
            query.write_bytes(request.body)
            words = ("openssl", "ts", "-reply", "-config", self.home / "tsa.cnf", "-queryfile", query)
            return Reply(200, {"Content-Type": "application/timestamp-reply"}, self.run(*words, when=when).out)

        return Scripted(answer)

    def judged(self, photo, store=None, with_roots=True):
        """Returns the verdicts of c2pa-python and of encypher-c2pa, and the report of c2pa-python."""
        anchors = {"trust": {"user_anchors": self.roots.read_text()}} if with_roots else {}
        with c2pa.Reader("image/jpeg", io.BytesIO(photo.read_bytes()), store and store.read_bytes(),
                         context=c2pa.Context.from_dict(anchors)) as reader:
            report = json.loads(reader.detailed_json())
        trust = (self.root, self.tsa_root) if with_roots else ("-", "-")
        second = json.loads(self.run("python", JUDGE, photo, store or "-", *trust).out)
        return (report["validation_state"], second["validation_state"]), report

    def is_judged(self, wanted, photo, store=None, with_roots=True):
        """Expects both verdicts, and returns the assertions of the manifest by their labels."""
        states, report = self.judged(photo, store, with_roots)
        expect(states == (wanted, wanted), f"{photo.name}: c2pa-python and encypher-c2pa say {states}, not {wanted}: "
               f"{report['validation_results']['activeManifest']['failure']}")
        return report["manifests"][report["active_manifest"]]["assertion_store"]


def facts(bench, bundle=None):
    """What our assertion must say of a bundle, from `capbundle show` and not from the code under test."""
    text = bench.run("capbundle", "show", bundle or bench.bundle).out.decode()
    shown = dict(re.findall(r"^  (id|key id) +(\S+)$", text, re.M))
    with tarfile.open(bundle or bench.bundle) as archive:
        manifest = archive.extractfile("manifest.json").read()
    hashed = bench.run("sha256sum", "-", input=manifest).out.decode().split()[0]
    depth = {"depth_sha256": json.loads(manifest)["depth"]["sha256"]} if b'"depth":' in manifest else {}
    return {"id": shown["id"], "key_id": shown["key id"], "manifest_sha256": hashed} | depth
