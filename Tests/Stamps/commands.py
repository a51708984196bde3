"""`capbundle stamp` with the real `openssl ts`, and what other programs say of its files."""
import json
import os
import re
import signal
import subprocess

import jsonschema
from cryptography import x509
from rfc3161_client import VerificationError, VerifierBuilder, decode_timestamp_response

from Kit.injection import STATUS, at_path
from Kit.outcomes import PATIENCE, ROOT, every, expect
from Kit.sending import wait_until
from Stamps import asn1
from Stamps.authority import assertion, imprint
from Stamps.tries import codes, verify

SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "Spec/verify-report.schema.json").read_text()))


def rig_with(bench, *names):
    """A rig with bundles, and the certificates of both roots."""
    rig = bench.rig()
    for name in names or ("x.bundle",):
        rig.bundle(name)
    rig.root, rig.other = (bench.authorities.write(f"{name}.pem", signer.pem) for name, signer in (
        ("root", bench.authorities.root), ("other", bench.authorities.other)))
    return rig


def stamped(bench, rig, kind, root):
    rig.run("stamp", "x.bundle", "--with", bench.authorities.commands[kind], "--tsa-ca", root).must(0, about=kind)
    return rig.out / "x.bundle.tsr"


def both_authorities(bench):
    """openssl and rfc3161-client accept the same files, and refuse them for another signature."""
    for kind, certificate, others in (("P-256", "root", []), ("RSA", "other", ["between"])):
        rig = rig_with(bench)
        root = getattr(rig, certificate)
        file = stamped(bench, rig, kind, root)
        told = json.loads(rig.run("verify", "--json", "--stamps", "--require", "time", "--tsa-ca", root,
                                  "x.bundle").must(0).out)
        SCHEMA.validate(told)
        expect(told["stamp"]["authority"] == str(root) and told["stamp"]["accuracy_ms"] == 1000, f"{told['stamp']}")
        rig.run("verify", "--stamps", "--require", "time", "--tsa-ca",
                rig.other if root == rig.root else rig.root, "x.bundle").must(4, about=f"{kind}, another root")
        data = rig.folder / "assertion"
        for content, code in ((assertion(rig.out / "x.bundle"), 0), (assertion(rig.out / "x.bundle") + b"\n", 1)):
            data.write_bytes(content)
            rig.call("openssl", "ts", "-verify", "-data", data, "-in", file, "-CAfile", root).must(code, about=kind)
        builder = VerifierBuilder().add_root_certificate(x509.load_pem_x509_certificate(root.read_bytes()))
        for other in others:
            builder = builder.add_intermediate_certificate(getattr(bench.authorities, other).certificate)
        judge, answer = builder.build(), decode_timestamp_response(file.read_bytes())
        expect(judge.verify(answer, imprint(rig.out / "x.bundle")), f"{kind}: rfc3161-client refuses the stamp")
        try:
            judge.verify(answer, bytes(32))
            expect(False, f"{kind}: rfc3161-client accepts another signature")
        except VerificationError:
            pass


def query_and_reply(bench):
    """Without a network: the query is a file, and its answer another one."""
    rig = rig_with(bench, "x.bundle", "y.bundle")
    rig.run("stamp", "x.bundle", "--query", "q").must(0)
    shown = rig.call("openssl", "ts", "-query", "-in", rig.out / "q", "-text").must(0).out.decode()
    expect("Hash Algorithm: sha256" in shown and "Certificate required: yes" in shown and "Version: 1" in shown, shown)
    nonce = int(re.search(r"Nonce: 0x([0-9A-F]+)", shown)[1], 16)
    expect(1 << 56 <= nonce < 1 << 63, f"the nonce is {nonce:x}")
    rig.run("stamp", "x.bundle", "--query", "q").must(73, about="a query that exists")
    reply = rig.call("sh", "-c", bench.authorities.commands["P-256"], input=(rig.out / "q").read_bytes()).must(0).out
    (rig.out / "reply").write_bytes(reply)
    options = ("--query", "q", "--reply", "reply", "--tsa-ca", rig.root)
    rig.run("stamp", "x.bundle", "--query", "reply", "--reply", "reply", "--tsa-ca", rig.root).must(66).naming("reply")
    rig.run("stamp", "y.bundle", *options).must(66, about="the query of another bundle")
    rig.run("stamp", "x.bundle", *options).must(0)
    expect((rig.out / "x.bundle.tsr").read_bytes() == reply, "the file is not the answer")
    os.remove(rig.out / "x.bundle.tsr")
    rig.run("stamp", "x.bundle", "--query", "q", "--force").must(0)
    rig.run("stamp", "x.bundle", *options).must(4, about="the answer to an earlier query").naming("nonce")
    expect(not (rig.out / "x.bundle.tsr").exists(), "the answer to an earlier query was written")


def many(bench):
    rig = rig_with(bench, *(f"{number}.bundle" for number in range(9)))
    names = [f"{number}.bundle" for number in range(9)]
    rig.run("stamp", names[3], "--with", bench.authorities.commands["RSA"], "--tsa-ca", rig.other).must(0)
    before = (rig.out / f"{names[3]}.tsr").read_bytes()
    (rig.out / names[5]).write_bytes((rig.out / names[5]).read_bytes()[:-1])
    (rig.out / f"{names[7]}.tsr").write_bytes(b"something else")
    roots = bench.authorities.write("roots.pem", rig.root.read_bytes() + rig.other.read_bytes())
    run = lambda *more: rig.run("stamp", "--from0", "--with", bench.authorities.commands["P-256"], "--tsa-ca", roots, *more,
                                input=b"".join(name.encode() + b"\0" for name in names))
    result = run().must(73, about="one exists, one is cut short")
    lines = result.out.decode().splitlines()
    expect([line.partition(".tsr: existed at ")[0] for line in lines] == [name for index, name in enumerate(names)
           if index not in (5, 7)], f"lines {lines}")
    expect(all(" ± 1 s, says " in line for line in lines), f"no accuracy in {lines}")
    expect("as before" in lines[3] and (rig.out / f"{names[3]}.tsr").read_bytes() == before, "a good stamp was replaced")
    result.naming("7.bundle.tsr").naming("5.bundle")
    expect(not (rig.out / "5.bundle.tsr").exists(), "a damaged bundle was stamped")
    run("--force", "--jobs", "2").must(2, about="one is cut short")
    expect((rig.out / f"{names[3]}.tsr").read_bytes() != before, "--force replaces a good stamp too")
    told = rig.run("verify", "--json", "--stamps", "--tsa-ca", roots, "--require", "time", "0.bundle", "8.bundle").must(0)
    expect(told.out.count(b'"stamp":{') == 2, "two stamps")


def never_lost(bench):
    """--force replaces no bundle, a bundle that is named twice is stamped once, and a pipe is not waited for."""
    rig = rig_with(bench, "a.bundle", "b.bundle")
    ask = ("--with", bench.authorities.commands["P-256"], "--tsa-ca", rig.root)
    inner = (rig.out / "b.bundle").read_bytes()
    (rig.out / "a.bundle.tsr").write_bytes(inner)
    rig.run("stamp", "--force", "a.bundle", "a.bundle.tsr", *ask, "--jobs", "1").must(73).naming("a.bundle.tsr")
    expect((rig.out / "a.bundle.tsr").read_bytes() == inner, "a bundle was replaced")
    (rig.out / "a.bundle.tsr").unlink()
    rig.run("stamp", "a.bundle", "a.bundle", "./a.bundle", *ask).must(0, about="named three times")
    os.mkfifo(rig.out / "b.bundle.tsr")
    rig.run("verify", "--stamps", "--tsa-ca", rig.root, "b.bundle").must(66).naming("b.bundle.tsr")
    rig.run("stamp", "b.bundle", *ask).must(66).naming("b.bundle.tsr")
    rig.run("stamp", "b.bundle", "--query", "b.bundle.tsr").must(64)


def unreadable_stamp(bench):
    """A stamp that cannot be looked at may be there: no verdict without it. One with too long a name cannot."""
    rig = rig_with(bench, "x.bundle", f"{'n' * 248}.bundle")
    stamp = stamped(bench, rig, "P-256", rig.root)
    look = ("verify", "--stamps", "--tsa-ca", rig.root)
    for error, code, words in (("EIO", 74, "input/output error"), ("EACCES", 66, "permission denied")):
        told = rig.run(*look, rig.out / "x.bundle", prefix=at_path(stamp, *STATUS, error=error)).must(code)
        expect(not told.out and f"{stamp}: cannot be read: {words}" in told.text, f"says {told.out!r}, {told.text!r}")
    kept, ask = stamp.read_bytes(), ("--with", bench.authorities.commands["P-256"], "--tsa-ca", rig.root)
    rig.run("stamp", "--force", rig.out / "x.bundle", *ask, prefix=at_path(stamp, "openat")).must(74).naming(stamp)
    expect(stamp.read_bytes() == kept, "--force replaces what may be a bundle")
    rig.run(*look, f"{'n' * 248}.bundle").must(0, about="a long name")
    rig.run("stamp", "--force", f"{'n' * 248}.bundle", *ask).must(73, about="a name that is too long for a stamp")


def stopped(bench):
    """SIGTERM ends the command of --with too."""
    rig = rig_with(bench, "a.bundle", "b.bundle")
    mark = f"sleep {987_654 + os.getpid()}"
    words = rig.argv("stamp", "a.bundle", "b.bundle", "--with", f"exec {mark}", "--tsa-ca", rig.root)

    def left():
        return subprocess.run(["pgrep", "-f", f"^{mark}$"], capture_output=True, check=False).stdout

    with subprocess.Popen(words, env=rig.env, cwd=rig.out, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        wait_until(left, "the command")
        running.send_signal(signal.SIGTERM)
        expect(running.wait(PATIENCE) == 143, f"exit {running.returncode}")
    expect(not left() and not (rig.out / "a.bundle.tsr").exists(), "the command goes on")


def hidden_pin(bench):
    """A key in hardware is not a file to trust, and a PIN in its URI is not shown."""
    result = bench.rig().run("trust", "add", "tok", "pkcs11:token=a?pin-value=SECRET99").must(64)
    expect("SECRET99" not in result.text and "key public" in result.text, result.text)


def bad_answers(bench):
    """An answer that is not good is not written; the exit code says why."""
    rig = rig_with(bench)
    tsa, hash = bench.authorities.tsa, imprint(rig.out / "x.bundle")
    stamp = lambda command, *more: rig.run("stamp", "x.bundle", "--with", command, "--tsa-ca", rig.root, *more)
    def case(name, answer):
        data, code, word = answer
        path = bench.authorities.write("answer", data)
        result = stamp(f"cat > /dev/null; cat {path}").must(code, about=name)
        expect(word in result.text, f"the message says {result.text!r}")
        expect(not list(rig.out.glob("*tsr*")), "something was written")
    every({
        "another nonce": (tsa.answer(hash, nonce=1 << 60), 4, "nonce"),
        "the nonce below 0": (tsa.answer(hash, nonce=-(1 << 60)), 4, "nonce"),
        "no nonce": (tsa.answer(hash), 4, "nonce"),
        "another imprint": (tsa.answer(bytes(32)), 4, "another signature"),
        "rejected": (asn1.seq(asn1.seq(asn1.integer(2), asn1.seq(asn1.der(0x0c, b"no \x1bmoney")),
                                       asn1.der(0x03, b"\0\x01"))), 4, "status 2 and without a token: no \\u{1b}money"),
        "rejected in many words": (asn1.seq(asn1.seq(asn1.integer(2), asn1.seq(asn1.der(0x0c, b"n" * 60_000)))), 4,
                                   f"without a token: {'n' * 200}\n"),
        "10 MB": (bytes(10_000_000), 4, "65536"),
        "nothing": (b"", 4, "TimeStampResp"),
        "a page": (b"<html>502 Bad Gateway</html>", 4, "TimeStampResp"),
    }, case)
    for command, word in (("exit 7", "exit status 7"), ("kill -9 $$", "signal 9"), ("/nowhere/ask", "exit status 127")):
        stamp(command).must(74, about=command).naming(word)
    expect(not list(rig.out.glob("*tsr*")), "something was written")
    stamp(f"({bench.authorities.commands['P-256']}) | head -c 100").must(4, about="cut short")
    # The failures of a file that exists, and of a machine that trusts nobody.
    rig.run("stamp", "x.bundle", "--with", "true").must(78).naming("--tsa-ca")
    (rig.out / "x.bundle.tsr").mkdir()
    stamp(bench.authorities.commands["P-256"], "--force").must(73, about="a folder")
    (rig.out / "x.bundle.tsr").rmdir()
    rig.run("stamp", "x.bundle", "--with", "true", "--tsa-ca", rig.out / "x.bundle").must(78, about="no certificate")
    rig.run("stamp", "x.bundle", "--with", "true", "--tsa-ca", "nowhere").must(66)
    rig.run("stamp", "missing.bundle", "--with", "true", "--tsa-ca", rig.root).must(66)


def faulty_lines(bench):
    """A line whose bytes are not a certificate is found before any authority is asked."""
    rig = rig_with(bench)
    good, kept = rig.trust.read_text(), rig.out / "kept"
    for line, word in (("tsa tsa MAMCAQE=\n", "the tsa line tsa does not hold an X.509"), ("tsa tsa MAAB\n", "line 2")):
        rig.trust.write_text(good + line)
        for more in ((), ("--tsa-ca", rig.root)):
            result = rig.run("stamp", "x.bundle", "--with", f"touch {kept}; exit 1", *more).must(78, about=line)
            expect(f"{rig.trust}: {word}" in result.text, f"the message says {result.text!r}")
    expect(not kept.exists(), "the authority was asked")
    # With a query and a reply as files, the answer is not judged before the line is.
    rig.run("stamp", "x.bundle", "--query", "q").must(0)
    (rig.out / "reply").write_bytes(b"junk")
    rig.trust.write_text(good + "tsa tsa MAMCAQE=\n")
    rig.run("stamp", "x.bundle", "--query", "q", "--reply", "reply").must(78).naming("X.509 certificate")


def without_temporary_folder(bench):
    """The query goes to the command without a file on a disk."""
    rig = rig_with(bench)
    answer = bench.authorities.commands["P-256"]
    for folder in ("/nowhere", "/proc"):
        rig.run("stamp", "x.bundle", "--force", "--with", f"export TMPDIR={rig.folder}; {answer}", "--tsa-ca", rig.root,
                env={"TMPDIR": folder}).must(0, about=folder)


def words(bench):
    """Options that do not go together."""
    rig = rig_with(bench)
    for line in (["stamp", "x.bundle"], ["stamp", "x.bundle", "--with", "true", "--query", "q"], ["stamp", "--with", "true"],
                 ["stamp", "x.bundle", "--with", "true", "--reply", "r"], ["stamp", "-", "--with", "true"],
                 ["stamp", "x.bundle", "x.bundle", "--query", "q"], ["verify", "x.bundle", "--tsa-ca", rig.root],
                 ["verify", "x.bundle", "x.bundle", "--stamp", "s"], ["verify", "-", "--stamps"],
                 ["verify", "x.bundle", "--stamp", "s", "--stamps"], ["report", "x.bundle", "-o", "r", "--require", "time"],
                 ["trust", "add", "a", "--tsa", rig.root, "--level", "tpm"], ["trust", "revoke", "rig", "--since", "soon"]):
        rig.run(*line).must(64, about=" ".join(map(str, line)))


def beside(bench):
    """Nothing is read beside a bundle unless it is named, and a bundle without a stamp is only lacking it."""
    rig = rig_with(bench, "x.bundle", "y.bundle")
    stamped(bench, rig, "P-256", rig.root)
    plain = rig.run("verify", "--json", "x.bundle").must(0).out
    os.rename(rig.out / "x.bundle.tsr", rig.out / "kept")
    expect(rig.run("verify", "--json", "x.bundle").must(0).out == plain, "verify reads a stamp that was not named")
    pipe = rig.run("verify", "--json", "-", "--stamp", "kept", "--tsa-ca", rig.root,
                   input=(rig.out / "x.bundle").read_bytes()).must(0).out
    file = rig.run("verify", "--json", "x.bundle", "--stamp", "kept", "--tsa-ca", rig.root).must(0).out
    expect(json.loads(pipe) | {"file": "x.bundle"} == json.loads(file), "a file and a pipe differ")
    for options, code in (((), 0), (("--require", "time"), 4)):
        result = rig.run("verify", "--json", "--stamps", "--tsa-ca", rig.root, "y.bundle", *options).must(code)
        expect(codes(json.loads(result.out), "faults") == ["policy.required"] * (code == 4), f"{result.out}")
    rig.run("verify", "--require", "time", "y.bundle").must(4, about="no stamp is named")
    rig.run("verify", "--stamp", "nowhere", "y.bundle").must(66)
    damaged = bytearray((rig.out / "x.bundle").read_bytes())
    damaged[-2000] ^= 1
    (rig.out / "z.bundle").write_bytes(damaged)
    told = json.loads(rig.run("verify", "--json", "--stamp", "kept", "--tsa-ca", rig.root, "z.bundle").must(1, 2).out)
    expect({"name": "stamp", "outcome": "not-reached"} in told["checks"] and "stamp" not in told, f"{told['checks']}")


def trust_lines(bench):
    """`trust` adds, lists and revokes authorities, and revokes a device since a time; other lines stay as they were."""
    rig = rig_with(bench)
    rig.run("trust", "add", "office", "--tsa", rig.root, "--valid-after", "2026-01-01").must(0)
    for again in (["office", "--tsa", rig.other], ["other", "--tsa", rig.root], ["office", rig.key + ".pub"]):
        rig.run("trust", "add", *again).must(73, about=" ".join(map(str, again)))
    rig.run("trust", "add", "bad", "--tsa", rig.key + ".pub").must(78)
    path = stamped(bench, rig, "P-256", rig.root)
    rig.run("verify", "--stamps", "--require", "time", "x.bundle").must(0)
    rig.run("trust", "set", "office", "--valid-before", "2026-01-01").must(64)
    rig.run("trust", "revoke", "rig", "--since", "2035-01-01").must(0)
    rig.run("verify", "--stamps", "x.bundle").must(0, about="a stamp before the theft")
    rig.run("verify", "x.bundle").must(4, about="no stamp")
    rig.run("trust", "revoke", "rig", "--since", "2036-01-01").must(0).naming("already")
    expect("revoked=2035-01-01T00:00:00.000Z" in rig.trust.read_text(), "a later time replaced an earlier one")
    rig.run("trust", "revoke", "office", "--since", "2026-01-01").must(64)
    rig.run("trust", "revoke", "office").must(0)
    told = verify(rig, path.read_bytes(), rig.trust, "--require", "time")[1]
    expect(codes(told, "faults") == ["stamp.revoked", "trust.revoked"], f"{told['faults']}")
    rig.run("trust", "revoke", "rig").must(0)
    rig.run("verify", "--stamp", path, "--tsa-ca", rig.other, "x.bundle").must(4)
    listed = [json.loads(line) for line in rig.run("trust", "list", "--json").must(0).out.splitlines()]
    expect(listed[0]["revoked"] and "revoked_since" not in listed[0] and listed[1]["revoked"]
           and listed[1]["valid_after"] == "2026-01-01T00:00:00.000Z", f"{listed}")


TESTS = [
    ("two authorities of openssl: openssl and rfc3161-client agree", both_authorities),
    ("a query and a reply as files", query_and_reply),
    ("many bundles at once", many),
    ("what exists is never lost, and a pipe is not waited for", never_lost),
    ("a stamp that cannot be looked at is not absent", unreadable_stamp),
    ("a command does not outlive the tool", stopped),
    ("a key in hardware is not a file to trust", hidden_pin),
    ("an answer that is not good is not written", bad_answers),
    ("a faulty line of an authority is found before one is asked", faulty_lines),
    ("no temporary folder is needed", without_temporary_folder),
    ("options that do not go together", words),
    ("nothing is read beside a bundle unless it is named", beside),
    ("trust add, list and revoke", trust_lines),
]
