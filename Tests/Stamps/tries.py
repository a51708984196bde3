"""Tries to get a false time or a false level accepted. Each has to fail with its code, and to change no verdict."""
import base64
import functools
import json
import os

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

from Kit.outcomes import every, expect
from Kit.rigs import write_raw
from Stamps import asn1
from Stamps.authority import STAMPING, Signer, imprint

T = b"20260314150000Z"


@functools.cache
def scene(bench):
    """A rig with a bundle, of which all tries are made. Its device claims 2026-03-14T08:26:53.589Z."""
    rig = bench.rig()
    rig.bundle()
    rig.bundle("other.bundle")
    rig.pack(rig.out / "late.bundle", raw=write_raw(rig.folder / "late", captured_at="2026-03-14T15:05:01.001Z"))
    return rig, imprint(rig.out / "x.bundle")


def responses(bench, rig, stamped):
    """Answers with a fault: the code, the bytes, and the authorities that are trusted (the honest one if missing)."""
    trusted = bench.authorities
    tsa, between, other = trusted.tsa, trusted.between, trusted.rsa
    good, honest = tsa.answer(stamped), asn1.content(stamped)

    def made(*signers, info=honest, kind=asn1.TST_INFO, others=(), **how):
        infos = [asn1.signer_info(signer, info) for signer in signers]
        return asn1.response(asn1.token(info, infos, [signer.der for signer in signers] + list(others), kind=kind), **how)

    def leaf(**how):
        return Signer("tsa", trusted.root, **how)

    def below(**how):
        """A signer below an intermediate certificate with a fault."""
        return Signer("tsa", Signer("between", trusted.root, **({"is_authority": True} | how)))

    inside = asn1.token(honest, [asn1.signer_info(tsa, honest)], [tsa.der])
    stranger = Signer("tsa", trusted.root, key=tsa.key)
    weak = leaf(key=rsa.generate_private_key(65537, 1024))
    unlisted = Signer("tsa", Signer("between", trusted.root, is_authority=True))
    yield from {
        "an empty file": ("encoding", b""),
        "10 MB": ("encoding", good + bytes(10_000_000)),
        "zeros": ("encoding", bytes(100)),
        "the last byte is missing": ("encoding", good[:-1]),
        "a byte follows": ("encoding", good + b"\0"),
        "two answers": ("encoding", good + good),
        "two tokens": ("encoding", asn1.response(inside, inside)),
        "a token without its answer": ("encoding", inside),
        "a token that is text": ("encoding", asn1.response(asn1.octets(b"token"))),
        "a length with a zero before it": ("encoding", b"\x30\x83\0" + good[2:]),
        "an indefinite length": ("encoding", b"\x30\x80" + good[4:] + b"\0\0"),
        "an indefinite length in the token": ("encoding", asn1.response(b"\x30\x80" + inside[4:] + b"\0\0")),
        "a rejection": ("status", asn1.response(status=2)),
        "a rejection with a good token": ("status", asn1.response(inside, status=2)),
        "an answer that will come later": ("status", asn1.response(inside, status=3)),
        "granted, without a token": ("status", asn1.response()),
        "no signer": ("token", made()),
        "two signers": ("token", made(tsa, stranger)),
        "version 2": ("token", tsa.answer(stamped, version=2)),
        "a document instead of a TSTInfo": ("token", made(tsa, kind=asn1.DATA)),
        "a TSTInfo that is text": ("token", made(tsa, info=b"20260314")),
        "a critical extension": ("token", tsa.answer(stamped, extension=b"not before noon")),
        "a time without a zone": ("token", tsa.answer(stamped, time=T[:-1])),
        "a local time": ("token", tsa.answer(stamped, time=T[:-1] + b"+0100")),
        "30 February": ("token", tsa.answer(stamped, time=b"20260230150000Z")),
        "a leap second": ("token", tsa.answer(stamped, time=b"20261231235960Z")),
        "ten decimals": ("token", tsa.answer(stamped, time=b"20260314150000.0000000001Z")),
        "a NUL in the time": ("token", tsa.answer(stamped, time=b"20260314150000\0Z")),
        "an accuracy of two days": ("token", tsa.answer(stamped, accuracy=(172_800,))),
        "an accuracy of -1 day": ("token", tsa.answer(stamped, accuracy=(-86_400,))),
        "an accuracy of 1000 ms": ("token", tsa.answer(stamped, accuracy=(1, 1000))),
        "an accuracy of 2^64 s": ("token", tsa.answer(stamped, accuracy=(1 << 64,))),
        "the stamp of another signature": ("imprint", tsa.answer(imprint(rig.out / "other.bundle"))),
        "the stamp of the manifest": ("imprint", tsa.answer(base64.b16decode(manifest_hash(rig)))),
        "SHA-1 named, SHA-256 inside": ("imprint", tsa.answer(stamped, hash="sha1")),
        "SHA-512": ("imprint", tsa.answer(stamped + stamped, hash="sha512")),
        "another time after signing": ("signature", good.replace(T, b"20250314150000Z")),
        "another signature, of the same key": ("signature", made(
            tsa, info=honest).replace(honest, asn1.content(stamped, time=b"20250314150000Z"))),
        "another key under this name": ("signature", forged_signature(trusted, stamped)),
        "without an extended key usage": ("signature", leaf(usage=()).answer(stamped)),
        "an extended key usage that is not critical": ("signature", leaf(critical=False).answer(stamped)),
        "a certificate of a server": ("signature", leaf(usage=(ExtendedKeyUsageOID.SERVER_AUTH,)).answer(stamped)),
        "for servers and stamps": ("signature", leaf(
            usage=STAMPING + (ExtendedKeyUsageOID.SERVER_AUTH,)).answer(stamped)),
        "no certificate is named": ("signature", tsa.answer(stamped, attributes={"names": False})),
        "another certificate is named": ("signature", tsa.answer(stamped, attributes={"named": stranger.der})),
        "another content type is signed": ("signature", tsa.answer(stamped, attributes={"kind": asn1.DATA})),
        "signed with SHA-1": ("signature", tsa.answer(stamped, digest="sha1")),
        "an unknown signer that shows no certificate": ("signature", trusted.forged.answer(stamped, shows=False)),
        "an own authority with the same names": ("untrusted", trusted.forged.answer(
            stamped, others=[trusted.forged_root])),
        "a certificate of its own": ("untrusted", Signer("root").answer(stamped)),
        "nobody is trusted": ("untrusted", good, ""),
        "an expired certificate": ("untrusted", leaf(end="2026-03-01").answer(stamped)),
        "a certificate that is not valid yet": ("untrusted", leaf(begin="2026-04-01").answer(stamped)),
        "an expired certificate that is named itself": ("untrusted", good, "expired"),
        "an intermediate certificate that is not valid yet": ("untrusted", below(begin="2026-04-01").answer(stamped)),
        "an intermediate certificate of a TSA": ("untrusted", below(is_authority=False).answer(stamped)),
        "an intermediate certificate for servers": (
            "untrusted", below(usage=(ExtendedKeyUsageOID.SERVER_AUTH,)).answer(stamped)),
        "an intermediate certificate is missing": ("untrusted", unlisted.answer(stamped, others=[])),
        "a key of 1024 bits": ("untrusted", weak.answer(stamped)),
        "the authority is revoked": ("revoked", good, tsa.line(options="revoked")),
        "the authority is trusted, and revoked in another line": (
            "revoked", good, tsa.line() + tsa.line("again", "revoked")),
        "its root is trusted, and the authority revoked": (
            "revoked", good, trusted.root.line() + tsa.line("again", "revoked")),
        "an intermediate certificate is revoked": (
            "revoked", other.answer(stamped), trusted.other.line() + between.line("again", "revoked")),
        "before the window": ("window", good, tsa.line(options="valid-after=2026-03-14T15:00:00.0001Z")),
        "before the window, by the accuracy": (
            "window", tsa.answer(stamped, accuracy=(1,)), tsa.line(options="valid-after=2026-03-14T14:59:59.001Z")),
        "after the window": ("window", good, tsa.line(options="valid-before=2026-03-14T15:00:00Z")),
        "after the window, by the accuracy": (
            "window", tsa.answer(stamped, accuracy=(0, 0, 1)), tsa.line(options="valid-before=2026-03-14T15:00:00.001Z")),
        "outside of two windows": ("window", good, tsa.line(options="valid-before=2026-01-01")
                                   + tsa.line("again", "valid-after=2027-01-01")),
    }.items()


def manifest_hash(rig):
    told = json.loads(rig.run("verify", "--json", rig.out / "x.bundle").must(0).out)
    return told["bundle"]["manifest_sha256"].upper()


def forged_signature(trusted, stamped):
    """An answer that another key signed, and that shows the certificate of the authority."""
    info, thief = asn1.content(stamped), Signer("thief")
    thief.certificate, thief.der = trusted.tsa.certificate, trusted.tsa.der
    return asn1.response(asn1.token(info, [asn1.signer_info(thief, info)], [trusted.tsa.der]))


def trust(bench, rig, lines=None, device=""):
    """Writes a trust file with the rig's device and the lines of authorities; `device` are options of the device."""
    known = rig.trust.read_text().split()
    own = " ".join(filter(None, [known[0], device, *known[-2:]])) + "\n"
    if lines == "expired":
        lines = Signer("tsa", bench.authorities.root, key=bench.authorities.tsa.key, end="2026-03-01").line()
    path = rig.folder / "trusted"
    path.write_text(own + (bench.authorities.root.line() if lines is None else lines))
    return path


def verify(rig, stamp, trusted, *options, bundle="x.bundle"):
    file = rig.folder / "stamp"
    file.write_bytes(stamp)
    result = rig.run("verify", "--json", "--stamp", file, "--trust", trusted, *options, rig.out / bundle)
    return result, json.loads(result.out)


def codes(told, member):
    return [fault["code"] for fault in told[member]]


def judged(bench, cases, bundle="x.bundle"):
    """Stamps with faults: each is a warning, it is 4 if a time is required, and it does not help a revoked key.

    A case is a code, the bytes of the stamp, and the lines of the authorities. One command verifies all cases with the
    same lines.
    """
    rig, _ = scene(bench)
    folder = rig.folder / f"tries-{bundle}"
    folder.mkdir()
    for number, case in enumerate(cases.values()):
        os.link(rig.out / bundle, folder / f"{number}.bundle")
        (folder / f"{number}.bundle.tsr").write_bytes(case[1])
    numbers = {}
    for number, case in enumerate(cases.values()):
        numbers.setdefault(case[2] if len(case) > 2 else None, []).append(number)
    problems = []
    for lines, chosen in numbers.items():
        runs = [("", (), 0), ("revoked=2035-01-01", ("--require", "time"), 4)]
        for device, options, code in runs if lines is None else runs[1:]:
            result = rig.run("verify", "--json", "--stamps", "--trust", trust(bench, rig, lines, device), *options,
                             *(f"{number}.bundle" for number in [*chosen, chosen[0]]), cwd=folder).must(code)
            for number, line in zip(chosen, result.out.splitlines(), strict=False):
                told, (name, case) = json.loads(line), list(cases.items())[number]
                wanted = [f"stamp.{case[0]}"] + (["trust.revoked"] if device else [])
                found = codes(told, "faults" if device else "warnings")
                if found != wanted or told["exit_code"] != code or "stamp" in told:
                    problems.append(f"{name}: expected {code} {wanted}, found {found}, {told.get('stamp')}")
            expect(len(result.out.splitlines()) == len(chosen) + 1, "there is not a line for each bundle")
    expect(not problems, "; ".join(problems))


def false_times(bench):
    rig, stamped = scene(bench)
    cases = dict(responses(bench, rig, stamped))
    expect(len(cases) >= 65, f"only {len(cases)} tries")
    judged(bench, cases)


def claims(bench):
    """The device claims 15:05:01.001; the stamp is from 15:00:00, and its accuracy and five minutes are added."""
    rig, _ = scene(bench)
    late = imprint(rig.out / "late.bundle")
    tsa = bench.authorities.tsa
    judged(bench, {"five minutes and a millisecond later": ("claim", tsa.answer(late, accuracy=(1,)))}, "late.bundle")
    for accuracy in ((1, 1), (1, 0, 1), (2,)):
        result, told = verify(rig, tsa.answer(late, accuracy=accuracy), trust(bench, rig), bundle="late.bundle")
        result.must(0)
        expect(not told["warnings"] and told["stamp"]["time"] == "2026-03-14T15:00:00.000Z", f"{accuracy}: {told}")


def revoked_keys(bench):
    """What a good stamp of 15:00:00 does for a revoked key: the lines of the key's device, and the exit code."""
    rig, stamped = scene(bench)
    plain, seconds = bench.authorities.tsa.answer(stamped), bench.authorities.tsa.answer(stamped, accuracy=(2,))
    fine = bench.authorities.tsa.answer(stamped, time=b"20260314150000.0004Z")
    key = rig.trust.read_text().split()[-1]
    again = f"again revoked p256 {key}\n"
    root = bench.authorities.root.line()
    every({
        "after the stamp": (plain, "revoked=2026-03-14T15:00:00.001Z", "", 0),
        "after the stamp by less than a millisecond": (plain, "revoked=2026-03-14T15:00:00.0001Z", "", 0),
        "at the stamp": (plain, "revoked=2026-03-14T15:00:00Z", "", 4),
        "before the stamp": (plain, "revoked=2026-03-14T14:00:00Z", "", 4),
        "within the accuracy": (seconds, "revoked=2026-03-14T15:00:02Z", "", 4),
        "after the accuracy": (seconds, "revoked=2026-03-14T15:00:02.001Z", "", 0),
        "within the millisecond of the stamp": (fine, "revoked=2026-03-14T15:00:00.001Z", "", 4),
        "without a time": (plain, "revoked", "", 4),
        "once without a time": (plain, "revoked=2027-01-01", again, 4),
        "twice, once before": (plain, "revoked=2027-01-01", again.replace("revoked", "revoked=2026-01-01"), 4),
        "twice, both after": (plain, "revoked=2027-01-01", again.replace("revoked", "revoked=2026-06-01"), 0),
        "after, but outside of the window of the claim": (plain, "valid-before=2026-03-14,revoked=2027-01-01", "", 4),
        "after, another level": (plain, 'level=apple-appattest,rpid="T.app",revoked=2027-01-01', "", 4),
    }, lambda _, case: verify(rig, case[0], trust(bench, rig, root + case[2], case[1]))[0].must(case[3]))
    # A stamp helps against nothing else: the window of a device is about the time that the device claims.
    for options in ("valid-before=2026-03-14T08:00:00Z", "valid-after=2026-03-14T10:00:00Z"):
        result, told = verify(rig, plain, trust(bench, rig, device=options))
        result.must(4, about=options)
        expect("stamp" in told, "the stamp itself is good")


def levels(bench):
    """`token` and `tpm` are words of the operator: a key in a file signs for both, and never for Apple's level."""
    rig, _ = scene(bench)
    for options, code in (("level=token", 0), ("level=tpm", 0), ('level=apple-appattest,rpid="T.app"', 4),
                          ("level=hsm", 78), ('level=tpm,rpid="T.app"', 78), ("level=token,level=tpm", 78),
                          ("revoked,revoked=2026-01-01", 78), ("revoked=", 78), ("revoked=soon", 78)):
        path = trust(bench, rig, device=options)
        result = rig.run("verify", "--json", "--trust", path, rig.out / "x.bundle").must(code, about=options)
        if code == 0:
            expect(json.loads(result.out)["device"]["level"] == options[6:], f"{options}: another level")


def authority_lines(bench):
    """A line of an authority that breaks the grammar: no verdict on any bundle."""
    rig, _ = scene(bench)
    tsa = bench.authorities.tsa
    for line, code in ((tsa.line(), 0), (tsa.line(options="valid-after=2026-01-01,valid-before=2027-01-01,revoked"), 0),
                       (tsa.line(options="revoked=2026-01-01"), 78), (tsa.line(options="level=tpm"), 78),
                       (tsa.line(options="revoked,revoked"), 78), ("tsa tsa AAAA\n", 78), ("tsa tsa MAAA\n", 78),
                       ("tsa tsa MAAB\n", 78), (f"tsa tsa {base64.b64encode(asn1.seq(bytes(16_381))).decode()}\n", 78),
                       (f"tsa tsa {base64.b64encode(asn1.seq(bytes(16_380))).decode()}\n", 0), (tsa.line("a b"), 78)):
        rig.run("verify", "--trust", trust(bench, rig, line), rig.out / "x.bundle").must(code, about=line[:80])
    # Whether a line has a certificate is asked only when a stamp is checked.
    stamp = bench.authorities.tsa.answer(imprint(rig.out / "x.bundle"))
    verify(rig, stamp, trust(bench, rig, "tsa tsa MAMCAQE=\n"))[0].must(78, about="a line without a certificate")
    rig.run("verify", "--trust", trust(bench, rig, "tsa tsa MAMCAQE=\n"), rig.out / "x.bundle").must(0)


def revoked_authorities(bench):
    """A revoked authority stays revoked, whichever certificate of its key is in the stamp."""
    rig, stamped = scene(bench)
    root = bench.authorities.root
    between = Signer("between", root, is_authority=True)
    signer = Signer("tsa", between)
    twin = Signer("between", root, key=between.key, is_authority=True)
    lines = root.line("root") + between.line("between", "revoked")
    for name, shown in (("the same", between), ("its signature written in another way", between.again()),
                        ("another certificate of its key", twin)):
        stamp = signer.answer(stamped, others=[shown])
        verify(rig, stamp, trust(bench, rig, root.line("root")))[0].must(0, about=f"not revoked, {name}")
        result, told = verify(rig, stamp, trust(bench, rig, lines), "--require", "time")
        result.must(4, about=name)
        expect("stamp.revoked" in codes(told, "faults"), f"{name}: {told}")
        verify(rig, stamp, trust(bench, rig, lines, "revoked=2027-01-01"))[0].must(4, about=f"{name}, for a revoked device")


def good_ones(bench):
    """What the tries leave out: the same answers without a fault are good, at both ends of what is allowed."""
    rig, stamped = scene(bench)
    trusted = bench.authorities
    tsa, other = trusted.tsa, trusted.rsa
    expired = Signer("tsa", Signer("between", trusted.root, is_authority=True, end="2026-04-01"), end="2026-03-15")
    every({
        "by its root": (tsa.answer(stamped), None, "tsa", 0),
        "by its own certificate": (tsa.answer(stamped), tsa.line("mine"), "mine", 0),
        "without its certificate, by it": (tsa.answer(stamped, shows=False), tsa.line("mine"), "mine", 0),
        "by an intermediate certificate": (other.answer(stamped), trusted.between.line("mine"), "mine", 0),
        "RSA and SHA-512": (other.answer(stamped, digest="sha512"), trusted.other.line("mine"), "mine", 0),
        "certificates that are expired today": (expired.answer(stamped), None, "tsa", 0),
        "granted with modifications": (tsa.answer(stamped, status=1), None, "tsa", 0),
        "a day of accuracy": (tsa.answer(stamped, accuracy=(86_400,)), None, "tsa", 86_400_000),
        "all parts of an accuracy": (tsa.answer(stamped, accuracy=(1, 2, 3)), None, "tsa", 1003),
        "the second window": (tsa.answer(stamped), tsa.line("a", "valid-before=2026-01-01") + tsa.line("b"), "b", 0),
        "the first moment of a window": (
            tsa.answer(stamped, accuracy=(1,)), tsa.line("a", "valid-after=2026-03-14T14:59:59Z"), "a", 1000),
        "the last moment of a window": (tsa.answer(stamped), tsa.line(
            "a", "valid-before=2026-03-14T15:00:00.0001Z"), "a", 0),
        "by its own certificate, while its root is revoked": (
            tsa.answer(stamped), trusted.root.line("root", "revoked") + tsa.line("mine"), "mine", 0),
    }, lambda _, case: good(bench, rig, *case))


def good(bench, rig, bytes_, lines, name, accuracy):
    result, told = verify(rig, bytes_, trust(bench, rig, lines), "--require", "time")
    result.must(0)
    expect(told["stamp"] == {"accuracy_ms": accuracy, "authority": name, "time": "2026-03-14T15:00:00.000Z"},
           f"the report says {told.get('stamp')}")
    expect(not told["warnings"], f"warnings {told['warnings']}")


TESTS = [
    ("68 answers with a false time: each gets its code, and helps nobody", false_times),
    ("a device that claims a time after its stamp", claims),
    ("a good stamp helps only a key that was revoked later", revoked_keys),
    ("the levels token and tpm", levels),
    ("lines of authorities that break the grammar", authority_lines),
    ("a revoked authority, whichever certificate of its key is shown", revoked_authorities),
    ("good answers, at both ends of what is allowed", good_ones),
]
