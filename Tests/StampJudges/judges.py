"""The judges: each takes stamps over the same bytes and a trusted root, and says which stamps it refuses, and why."""
import asyncio
import functools
import json
import logging
import os
import pathlib
import shutil
import subprocess

from asn1crypto import tsp, x509
from cryptography.hazmat.primitives.serialization import Encoding
from pyhanko.sign.general import CMSStructuralError
from pyhanko.sign.timestamps.common_utils import TimestampRequestError, handle_tsp_response
from pyhanko.sign.validation.errors import SignatureValidationError
from pyhanko.sign.validation.generic_cms import validate_tst_signed_data
from pyhanko.sign.validation.status import TimestampSignatureStatus
from pyhanko_certvalidator import ValidationContext
from rfc3161_client import VerificationError, VerifierBuilder, decode_timestamp_response

from Hardware import places
from Kit.outcomes import PATIENCE, Skipped, expect
from StampJudges.stamps import T, digest
from StampJudges.table import Signers
from Stamps.authority import assertion

OTHERS = OLD, NEW, PYHANKO, RFC3161 = "OpenSSL 3.0", "OpenSSL 3.5", "pyHanko", "rfc3161-client"
# One process for all stamps, since a Debian of its own is entered for it.
VERIFY = """for stamp in *.tsr; do
    openssl ts -verify -data data -in $stamp -CAfile root.pem -attime {at} >said 2>&1 && echo "$stamp good" || {{
    echo "$stamp $(grep -E ':error:|error' said | head -n 1 | tr -d '\\r')"; }}
done"""


class Place:
    """A system with an OpenSSL: this machine, or another Debian. `prefix` are the words before a command in it."""

    def __init__(self, folder, inside, prefix, capbundle):
        self.folder, self.inside, self.prefix, self.capbundle = folder, inside, prefix, capbundle

    def run(self, folder, *words):
        inside = self.inside / folder.relative_to(self.folder)
        environment = os.environ | {"HOME": str(inside), "LC_ALL": "C.UTF-8"}
        return subprocess.run([*self.prefix, "env", "-C", str(inside), *map(str, words)], capture_output=True,
                              stdin=subprocess.DEVNULL, env=environment, timeout=20 * PATIENCE, check=False)


class Bench:
    """A bundle, whose assertion is stamped, and the places with their judges."""

    def __init__(self, rigs, ending):
        self._rigs, self._ending = rigs, ending
        self.rig = rigs.rig()
        self.bundle = self.rig.bundle()
        self.data = assertion(self.bundle)
        self.signers = Signers()
        self.root = self.signers.root.certificate

    @functools.cached_property
    def here(self):
        """This machine, with OpenSSL 3.0."""
        folder = self._rigs.folder / "judges"
        folder.mkdir()
        return self._ready(Place(folder, folder, [], self._rigs.binary), OLD)

    @functools.cached_property
    def newer(self):
        """A Debian of its own, with OpenSSL 3.5."""
        if os.geteuid() != 0:
            raise Skipped("only root can make a Debian with another OpenSSL")
        root = places.debian()
        folder = root / "judges"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "tools").mkdir(parents=True)
        self._ending.callback(shutil.rmtree, folder, ignore_errors=True)
        for tool in (self._rigs.binary, self._rigs.decoder):
            shutil.copy(tool, folder / "tools")
        inside = pathlib.Path("/judges")
        return self._ready(Place(folder, inside, places.entering(root), inside / "tools/capbundle"), NEW)

    def _ready(self, place, version):
        told = place.run(place.folder, "openssl", "version").stdout.decode()
        expect(told.startswith(f"{version}."), f"expected {version}, found {told!r}")
        told = place.run(place.folder, place.capbundle)
        expect(told.returncode == 64, "capbundle does not run in this Debian; test the build of .ci/build: "
               f"{told.stderr.decode().strip()[-200:]}")
        return place

    def others(self, stamps):
        """Returns why the other judges refuse a stamp, or None, by the names of the judges and of the stamps."""
        return {OLD: openssl(self, self.here, stamps), NEW: openssl(self, self.newer, stamps),
                PYHANKO: pyhanko(self, stamps), RFC3161: rfc3161(self, stamps)}


def openssl(bench, place, stamps):
    """`openssl ts -verify`, with the certificates judged at the time of the stamp, as ours does."""
    folder = filled(bench, place, "openssl", stamps, "{}.tsr")
    told = place.run(folder, "sh", "-c", VERIFY.format(at=int(T.timestamp())))
    lines = dict(line.partition(" ")[::2] for line in told.stdout.decode(errors="replace").splitlines())
    return {name: None if lines[f"{number}.tsr"] == "good" else lines[f"{number}.tsr"] or "refused"
            for number, name in enumerate(stamps)}


def capbundle(bench, place, stamps):
    """Ours: "good" or nothing, and the codes of the warnings without their `stamp.`."""
    folder = filled(bench, place, "capbundle", stamps, "{}.bundle.tsr")
    for number in range(len(stamps)):
        shutil.copy(bench.bundle, folder / f"{number}.bundle")
    told = place.run(folder, place.capbundle, "verify", "--json", "--stamps", "--trust", "trusted",
                     "--tsa-ca", "root.pem", *(f"{number}.bundle" for number in range(len(stamps))))
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    expect(told.returncode == 0 and len(lines) == len(stamps), f"verify: {told.returncode}, {told.stderr[-300:]}")
    return {name: verdict(line) for name, line in zip(stamps, lines, strict=True)}


def verdict(report):
    codes = [one["code"].removeprefix("stamp.") for one in report["warnings"]]
    return ", ".join((["good"] if "stamp" in report else []) + codes)


def filled(bench, place, name, stamps, pattern):
    folder = place.folder / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "data").write_bytes(bench.data)
    (folder / "root.pem").write_bytes(bench.root.public_bytes(Encoding.PEM))
    shutil.copy(bench.rig.trust, folder / "trusted")
    for number, stamp in enumerate(stamps.values()):
        (folder / pattern.format(number)).write_bytes(stamp)
    return folder


def pyhanko(bench, stamps):
    root = x509.Certificate.load(bench.root.public_bytes(Encoding.DER))
    return {name: by_pyhanko(der, root, T, lambda hash: digest(hash, bench.data)) for name, der in stamps.items()}


def by_pyhanko(der, root, time, imprint):
    """Why pyHanko refuses a stamp, if it does. `imprint` gives the imprint that is expected, for a hash."""
    logging.disable()  # it logs what it refuses
    try:
        token = handle_tsp_response(tsp.TimeStampResp.load(der, strict=True), None)
        context = ValidationContext(trust_roots=[root], moment=time, allow_fetching=False)
        found = asyncio.run(validate_tst_signed_data(token["content"], context, imprint))
        status = TimestampSignatureStatus(**found)
    except (SignatureValidationError, CMSStructuralError, TimestampRequestError) as error:
        return f"{error}"
    except (ValueError, TypeError, KeyError, AttributeError, NotImplementedError) as error:
        return f"cannot be read: {type(error).__name__}: {error}"
    is_good = status.intact and status.valid and status.trusted
    return None if is_good else f"intact {status.intact}, valid {status.valid}, {status.trust_problem_indic}"


def rfc3161(bench, stamps):
    judge = VerifierBuilder(roots=[bench.root]).build()

    def one(der):
        try:
            judge.verify_message(decode_timestamp_response(der), bench.data)
        except (VerificationError, ValueError) as error:
            return str(error) or type(error).__name__
        return None

    return {name: one(der) for name, der in stamps.items()}
