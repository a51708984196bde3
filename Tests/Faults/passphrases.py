"""The tool asks for a passphrase, limits the work for it, and warns if others can read its file."""
import base64
import subprocess
import time

from Kit.outcomes import every, expect

SECRET = "correct horse"
DEVICE = "0f8fad5b-d9cb-469f-a165-70867728950e"


def passphrase(bench):
    rig = bench.rig(empty=True)
    files = {"right": SECRET + "\nsecond line\n", "crlf": SECRET + "\r\n", "bare": SECRET, "wrong": SECRET + " \n",
             "empty": "", "blank": "\nx\n"}
    paths = {}
    for name, text in files.items():
        paths[name] = rig.folder / name
        paths[name].write_text(text)
    rig.run("key", "new", "--passphrase-file", paths["empty"]).must(77, about="key new, empty passphrase")
    expect(not rig.keys.exists() or not (rig.keys / "device.key").exists(), "a key was made without its passphrase")
    rig.run("key", "new", "--passphrase-file", paths["right"]).must(0)
    head = (rig.keys / "device.key").read_text()
    expect(head.startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----"), f"not encrypted: {head[:40]!r}")
    rig.run("trust", "add", "rig", rig.key + ".pub").must(0, about="trust add")
    rig.run("key", "show").must(0, about="key show needs no passphrase")

    def attempt(code, words=(), about="", **env):
        target = rig.out / f"{about}.bundle"
        result = rig.pack(target, *words, env=env).must(code, about=about)
        expect(target.exists() == (code == 0), f"{about}: exit {code}, target there: {target.exists()}")
        expect(SECRET not in result.text, f"{about}: the passphrase is printed")
        return result

    option = "--passphrase-file"
    attempt(77, about="no passphrase").naming(rig.key, "no passphrase")
    attempt(77, (option, paths["wrong"]), "wrong passphrase").naming(rig.key, "wrong passphrase")
    attempt(77, (option, paths["blank"]), "empty first line")
    attempt(66, (option, rig.folder), "a folder as passphrase file")
    attempt(0, (option, paths["bare"]), "no line end")
    attempt(0, (option, paths["crlf"]), "CRLF")
    attempt(77, (option, paths["wrong"]), "option before environment", CAPBUNDLE_PASSPHRASE_FILE=str(paths["right"]))
    expect(rig.state() == 2, f"{rig.state()} counters for 2 bundles: a refused passphrase uses one")
    rig.verify(*rig.out.iterdir())


def surplus_passphrase(bench):
    """A passphrase that the key does not need is ignored."""
    rig = bench.rig()
    secret = rig.folder / "secret"
    secret.write_text(SECRET)
    rig.bundle(env={"CAPBUNDLE_PASSPHRASE_FILE": str(secret)})


def der(tag, *parts):
    content = b"".join(parts)
    size = bytes([len(content)]) if len(content) < 128 else b"\x82" + len(content).to_bytes(2, "big")
    return bytes([tag]) + size + content


def endless(tag, *parts):
    """Encodes the value in BER with an end mark instead of a length; OpenSSL reads that too."""
    return bytes([tag, 0x80]) + b"".join(parts) + b"\0\0"


def number(value):
    return der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def sealed(path, oid, *parameters, wrap=der):
    """Makes an EncryptedPrivateKeyInfo (RFC 5958) that no passphrase opens."""
    algorithm = wrap(0x30, der(6, bytes.fromhex(oid)), wrap(0x30, *parameters))
    data = wrap(0x30, algorithm, der(4, bytes(range(144))))
    text = base64.encodebytes(data).decode()
    path.write_text(f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n{text}-----END ENCRYPTED PRIVATE KEY-----\n")
    path.chmod(0o600)
    return path


def scheme2(path, oid, *parameters, wrap=der):
    """Makes PBES2 parameters with AES-256-CBC (RFC 8018)."""
    derivation = wrap(0x30, der(6, bytes.fromhex(oid)), wrap(0x30, der(4, b"saltsalt"), *parameters))
    cipher = der(0x30, der(6, bytes.fromhex("60864801650304012a")), der(4, bytes(16)))
    return sealed(path, "2a864886f70d01050d", derivation, cipher, wrap=wrap)


def iterations(bench):
    """The tool knows the work for a passphrase before it tries it or asks for it."""
    rig = bench.rig(empty=True)
    path, secret = rig.folder / "device.key", rig.folder / "pass"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    kinds = {
        "PBKDF2": lambda count: scheme2(path, "2a864886f70d01050c", number(count)),
        "PBKDF2 in BER": lambda count: scheme2(path, "2a864886f70d01050c", number(count), wrap=endless),
        "PBKDF2 with SHA-256": lambda count: scheme2(
            path, "2a864886f70d01050c", number(count), der(0x30, der(6, bytes.fromhex("2a864886f70d0209")), b"\5\0")),
        "PBE-SHA1-3DES": lambda count: sealed(path, "2a864886f70d010c0103", der(4, b"saltsalt"), number(count)),
        "PBE-SHA1-DES": lambda count: sealed(path, "2a864886f70d01050a", der(4, b"saltsalt"), number(count)),
        "scrypt": lambda count: scheme2(path, "2b06010401da47040b", number(1024), number(1), number(count)),
    }

    def attempt(code, about, *options):
        start = time.monotonic()
        result = rig.run("sign-request", bench.raw / "photo.jpg", "--device-id", DEVICE, "--timestamp", "1",
                         "--key", path, *options, seconds=10).must(code, about=about)
        return result, time.monotonic() - start

    def judge(_, make):
        option = ("--passphrase-file", secret)
        make(1024)
        attempt(77, "1024, which no passphrase opens", *option)
        for count in (10_000_001, 2**31, 2**70):
            make(count)
            for words in (option, ()):
                result, took = attempt(78, f"{count}", *words)
                expect("iterations, expected at most 10000000" in result.text, f"{count}: {result.text!r}")
                expect(took < 2, f"{count} iterations: refused after {took:.1f} s")

    every(kinds, judge)
    for options in (["-v2", "aes-256-cbc", "-iter", "2048"], ["-scrypt"]):
        subprocess.run(["openssl", "pkcs8", "-topk8", "-in", bench.template.key, "-out", path, "-passout",
                        f"pass:{SECRET}", *options], check=True, capture_output=True)
        attempt(0, f"openssl pkcs8 {options}", "--passphrase-file", secret)


def secrets_of_the_user(bench):
    """A passphrase file that others can read causes one warning with a hint; a pipe causes none."""
    rig = bench.rig()
    secret = rig.folder / "it's secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    option = ["--passphrase-file", secret]
    result = rig.run("key", "new", "--key", rig.folder / "other", *option).must(0)
    expect("warning" not in result.text, f"mode 600: {result.text!r}")
    for mode in (0o640, 0o602):
        secret.chmod(mode)
        for how in (dict(), dict(env={"CAPBUNDLE_PASSPHRASE_FILE": str(secret)})):
            target = rig.out / "x.bundle"
            result = rig.pack(target, "--force", *([] if how else option), **how).must(0, about=f"mode {mode:o}")
            expect(result.text.count("warning") == 1 and f"mode {mode:o}" in result.text,
                   f"mode {mode:o}: {result.text!r}")
            command = result.text.split("hint: ")[1].splitlines()[0]
            expect(command.startswith("chmod 600 "), f"the hint is {command!r}")
            subprocess.run(["sh", "-c", command], check=True)
            expect(secret.stat().st_mode & 0o777 == 0o600, f"{command!r} does not help")
            secret.chmod(mode)
    result = rig.run("pack", rig.raw, "-o", target, "--force", "--passphrase-file", "/dev/stdin",
                     stdin=subprocess.Popen(["echo", SECRET], stdout=subprocess.PIPE).stdout).must(0)
    expect("warning" not in result.text, f"a pipe: {result.text!r}")


TESTS = [
    ("passphrases: right, wrong, missing, by option and environment", passphrase),
    ("a passphrase that the key does not need", surplus_passphrase),
    ("a passphrase that would take hours: 78, at once", iterations),
    ("a passphrase file that others can read: a warning", secrets_of_the_user),
]
