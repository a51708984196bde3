"""Tokens of Microsoft and DigiCert, which are not stored here: they are taken out of packages. They stamp other bytes
than an assertion, so ours reads them and finds another imprint (S4). pyHanko finds that their signatures are right."""
import struct
import sys
import tarfile
import zipfile

from asn1crypto import cms, tsp

from Kit.outcomes import PATIENCE, expect
from StampJudges.judges import NEW, OLD, by_pyhanko, capbundle
from Stamps import asn1

PROGRAMS = ("debugpy==1.8.22", "1e76339d5510bc17e9181dba9577508afcb21aad5728f1a55ef74d7d97d255f3")
PHOTOS = ("c2pa-python==0.5.2", "3452fe69ace4cdfef9dc201ae0b53d1f7e7a9b726b2b5f3d032153ccae247397")
TOKEN = "1.3.6.1.4.1.311.3.3.1"  # an RFC 3161 token beside a Microsoft signature
# pip asks the build system of a source package for the package's name. That is maturin, which needs Rust; this answers
# in its place.
MATURIN = '''import pathlib

def prepare_metadata_for_build_wheel(folder, settings=None):
    place = pathlib.Path(folder, "c2pa_python-{version}.dist-info")
    place.mkdir()
    (place / "METADATA").write_text("Metadata-Version: 2.1\\nName: c2pa-python\\nVersion: {version}\\n")
    return place.name
'''


def downloaded(bench, package, *options):
    """Downloads a package by its version and hash, and returns its file."""
    requirement, hash = package
    name, version = requirement.split("==")
    folder = bench.rig.folder / name
    folder.mkdir()
    (folder / "maturin.py").write_text(MATURIN.format(version=version))
    (folder / "requirements.txt").write_text(f"{requirement} --hash=sha256:{hash}\n")
    bench.rig.call(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                   "--require-hashes", "--dest", folder / "files", *options, "-r", folder / "requirements.txt",
                   env={"PYTHONPATH": str(folder)}, seconds=10 * PATIENCE).must(0, about=f"pip download {requirement}")
    (found,) = (folder / "files").iterdir()
    return found


def microsoft(bench):
    wheel = downloaded(bench, PROGRAMS, "--platform", "win_amd64", "--python-version", "3.11", "--only-binary", ":all:")
    tokens = {}
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            tokens |= {name: token for token in of_program(archive.read(name))}
    expect(len(tokens) == 7, f"{PROGRAMS[0]} has {len(tokens)} tokens: {sorted(tokens)}")
    for name, token in tokens.items():
        kinds = [choice.name for choice in cms.ContentInfo.load(token)["content"]["certificates"]]
        expect("v2_attr_cert" in kinds, f"{name}: a token without an attribute certificate, {kinds}")
    read(bench, {name: asn1.response(token) for name, token in tokens.items()})


def of_program(data):
    """The tokens in a signed program (the PE format: header, data directory 4, WIN_CERTIFICATE, PKCS #7)."""
    if data[:2] != b"MZ":
        return
    (header,) = struct.unpack_from("<I", data, 0x3c)
    (kind,) = struct.unpack_from("<H", data, header + 24)
    start, size = struct.unpack_from("<II", data, header + 24 + (96 if kind == 0x10b else 112) + 4 * 8)
    end = start + size
    while start < end:
        (length,) = struct.unpack_from("<I", data, start)
        message = cms.ContentInfo.load(data[start + 8:start + length])
        for signer in message["content"]["signer_infos"]:
            for attribute in signer["unsigned_attrs"]:
                if attribute["type"].dotted == TOKEN:
                    yield attribute["values"][0].dump()
        start += length + -length % 8


def digicert(bench):
    sdist = downloaded(bench, PHOTOS, "--no-binary", ":all:", "--no-build-isolation")
    with tarfile.open(sdist) as archive:
        photo = archive.extractfile(f"{sdist.name.removesuffix('.tar.gz')}/tests/fixtures/C.jpg").read()
    stamps = dict(enumerate(of_photo(photo)))
    expect(len(stamps) == 1, f"{PHOTOS[0]} has {len(stamps)} stamps")
    read(bench, stamps)


def of_photo(data):
    """The stamps in the C2PA signatures of a photo: byte strings of CBOR below `sigTst`."""
    store = b"".join(boxes(data))
    place = -1
    while (place := store.find(b"sigTst", place + 1)) >= 0:
        value = store.index(b"cval\x59", place) + 5
        (length,) = struct.unpack_from(">H", store, value)
        yield store[value + 2:value + 2 + length]


def boxes(data):
    """The JUMBF boxes of a JPEG: the contents of its APP11 segments, of which each repeats the head of the box."""
    place = 2
    while data[place] == 0xff and data[place + 1] != 0xda:
        (length,) = struct.unpack_from(">H", data, place + 2)
        if data[place + 1] == 0xeb:
            (number,) = struct.unpack_from(">I", data, place + 8)
            yield data[place + (12 if number == 1 else 20):place + 2 + length]
        place += 2 + length


def read(bench, stamps):
    """Ours reads the stamps, with both versions of OpenSSL, and pyHanko accepts them for what they stamp."""
    for version, place in ((OLD, bench.here), (NEW, bench.newer)):
        told = capbundle(bench, place, stamps)
        expect(set(told.values()) == {"imprint"}, f"ours with {version} says {told}")
    for name, stamp in stamps.items():
        token = tsp.TimeStampResp.load(stamp)["time_stamp_token"]["content"]
        info = token["encap_content_info"]["content"].parsed
        # The certificate that issued the signer's is the one to trust here: who is trusted is not the question.
        issuer = token["signer_infos"][0]["sid"].chosen["issuer"].dump()
        root = next(choice.chosen for choice in token["certificates"]
                    if choice.name == "certificate" and choice.chosen.subject.dump() == issuer)
        imprint = info["message_imprint"]["hashed_message"].native
        reason = by_pyhanko(stamp, root, info["gen_time"].native, lambda _, imprint=imprint: imprint)
        expect(reason is None, f"{name}: pyHanko says {reason}")


TESTS = [
    ("Microsoft's tokens in signed programs are read, with their attribute certificates", microsoft),
    ("DigiCert's stamp of a photo is read", digicert),
]
