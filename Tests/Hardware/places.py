"""A software TPM, a token in a Debian of its own, and the places where the tools run with their keys."""
import fcntl
import functools
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import time

from Kit.outcomes import ROOT, Failed, expect
from Kit.records import counter_in, fields_of_state
from Kit.rigs import Home, write_raw

PIN = "24681357"
TIMEOUT = 20
MODULE = "/usr/lib/softhsm/libsofthsm2.so"
RELEASE = "trixie"  # the first Debian with pkcs11-provider
PACKAGES = "softhsm2,pkcs11-provider,opensc,openssl,libdeflate0,zlib1g,libssl3t64"


class Place(Home):
    """A folder with raw captures, in which the tool runs with a home of its own. `key` needs no PIN, or has its own;
    `asking` is a key that asks for `PIN`. `prefix` comes before the words of each call."""

    def __init__(self, folder, inside, prefix, environment, key, asking):
        super().__init__(folder)
        self.env |= {"HOME": str(inside)} | environment
        self.prefix, self.key, self.asking = prefix, key, asking
        (self.home / "pin").write_text(PIN + "\n")
        (self.home / "pin").chmod(0o600)
        write_raw(self.home / "raw")

    def argv(self, *words):
        return [*map(str, self.prefix), *map(str, words)]

    def run(self, *words, **how):
        return self.call(*self.argv(*words), **how)

    def begin(self, key=None, *words):
        """Begins the counter of a key that never signed, and trusts the key."""
        key = key or self.key
        self.run("key", "recover", "--counter", "0", "--key", key, *words).must(0, about="key recover")
        pem = self.home / f"key{len(list(self.home.iterdir()))}.pem"
        pem.write_bytes(self.run("key", "public", "--key", key).must(0, about="key public").out)
        self.run("trust", "add", "rig", pem.name).must(0, about="trust add")
        return pem

    def states(self):
        """Returns the files of keys, by their names."""
        folder = self.home / ".local/share/capbundle"
        return {path.name: path for path in folder.iterdir()} if folder.is_dir() else {}

    def state(self):
        """Returns the fields of the only state."""
        (path,) = (path for name, path in self.states().items() if name.endswith(".state"))
        return fields_of_state(path.read_bytes())

    def counters(self):
        """Returns the counters of all bundles in the place, which must differ."""
        found = [counter_in(path.read_bytes()) for path in self.home.rglob("*.bundle")]
        expect(len(found) == len(set(found)) and None not in found, f"counters occur twice: {sorted(found)}")
        return found

    def refuses(self, code, text, *words, environment=None):
        """Runs a command that must fail with this exit code and these words, and must not show a PIN."""
        result = self.run(*words, env=environment).must(code, about=" ".join(map(str, words)))
        expect(text in result.text, f"{words}: expected {text!r}, the message is {result.text.strip()[:300]!r}")
        expect(PIN not in result.text and PIN.encode() not in result.out, f"{words}: the message shows the PIN")
        return result


def called(*words, environment=None, about=None):
    """Runs a tool of the test's own, and returns its output."""
    result = subprocess.run([*map(str, words)], capture_output=True, text=True, env=os.environ | (environment or {}))
    expect(result.returncode == 0, f"{about or words[0]}: {result.stderr.strip()[-300:]}")
    return result.stdout


class Tpm:
    """A software TPM with keys at handles from 0x81000010: a key on P-256, the same with a PIN, RSA, P-384."""

    def __init__(self, folder, ending):
        folder.mkdir()
        socket = folder / "S"
        self.process = subprocess.Popen(
            ["swtpm", "socket", "--tpm2", "--tpmstate", f"dir={folder}", "--server", f"type=unixio,path={socket}",
             "--ctrl", f"type=unixio,path={socket}.ctrl", "--flags", "not-need-init,startup-clear"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ending.callback(self.end)
        end = time.monotonic() + TIMEOUT
        while not socket.exists():
            expect(time.monotonic() < end and self.process.poll() is None, "swtpm does not start")
            time.sleep(0.01)
        self.environment = {"TPM2OPENSSL_TCTI": f"swtpm:path={socket}"}
        self._folder, self._variables = folder, {"TPM2TOOLS_TCTI": f"swtpm:path={socket}"}
        self._tool("dictionarylockout", "-s", "-n", "100000", "-t", "1", "-l", "1")
        self._tool("createprimary", "-C", "o", "-c", "primary")
        self._tool("flushcontext", "-t")
        for number, words in enumerate(("ecc256:ecdsa-sha256", f"ecc256:ecdsa-sha256 -p {PIN}", "rsa2048", "ecc384")):
            self.add(0x81000010 + number, *words.split())

    def _tool(self, name, *words):
        result = subprocess.run([f"tpm2_{name}", *words], cwd=self._folder, env=os.environ | self._variables,
                                capture_output=True, text=True)
        expect(result.returncode == 0, f"tpm2_{name}: {result.stderr.strip()[-300:]}")

    def add(self, handle, algorithm, *words):
        """Makes a key, and keeps it at a handle."""
        self._tool("create", "-C", "primary", "-G", algorithm, *words, "-u", "public", "-r", "private")
        self._tool("flushcontext", "-t")
        self._tool("load", "-C", "primary", "-u", "public", "-r", "private", "-c", "key")
        self._tool("flushcontext", "-t")
        self._tool("evictcontrol", "-c", "key", hex(handle))
        self._tool("flushcontext", "-t")

    def lock(self, is_locked):
        """Lets the next wrong PIN lock the TPM, or ends that."""
        self._tool("dictionarylockout", "-s", "-n", "1" if is_locked else "100000", "-t", "100000", "-l", "1")
        if not is_locked:
            self._tool("dictionarylockout", "-c")

    def end(self):
        self.process.kill()
        self.process.wait()


def mirror():
    """Returns the mirror from which apt takes this Debian."""
    found = called("apt-get", "indextargets", "--format", "$(SITE)", "Origin: Debian", "Created-By: Packages").split()
    expect(found, "apt has no mirror of Debian")
    return next((site for site in found if "security" not in site), found[0])


def debian():
    """Returns the root of a Debian with the packages of a token, which is made once for the repository, also if two suites
    need it at the same time."""
    root, stamp = ROOT / f".build/{RELEASE}", ROOT / f".build/{RELEASE}/.packages"
    with open(ROOT / f".build/{RELEASE}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return made(root, stamp)


def made(root, stamp):
    if stamp.is_file() and stamp.read_text() == PACKAGES:
        return root
    expect(os.geteuid() == 0, "a token is tested in a Debian of its own, which only the superuser can make")
    shutil.rmtree(root, ignore_errors=True)
    # debootstrap takes a proxy from the environment, and apt from its configuration.
    proxy = re.findall(r"='(.*)'", called("apt-config", "shell", "proxy", "Acquire::http::Proxy"))
    called("debootstrap", "--variant=minbase", f"--include={PACKAGES}", RELEASE, root, mirror(),
           environment={"http_proxy": proxy[0]} if proxy else None, about="debootstrap")
    shutil.rmtree(root / "var/cache/apt/archives")
    stamp.write_text(PACKAGES)
    return root


def entering(root):
    """Returns the words that enter a Debian, with a /proc that ends with the command."""
    return ["unshare", "--mount", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', str(root)]


class Token:
    """A Debian with two tokens. `rig` has a key on P-256, RSA, P-384, and one on P-256 without an id; `second` has another
    key with the name of the first. All need PIN."""

    def __init__(self, binary, ending):
        self.root = debian()
        self.work = pathlib.Path("/work")
        outside = self.root / "work"
        shutil.rmtree(outside, ignore_errors=True)
        (outside / "tokens").mkdir(parents=True)
        ending.callback(shutil.rmtree, outside, ignore_errors=True)
        shutil.copy(binary, outside / "capbundle")
        shutil.copy(binary.with_name("capbundle-decode"), outside / "capbundle-decode")
        (outside / "softhsm2.conf").write_text(f"directories.tokendir = {self.work}/tokens\n")
        self.environment = {"SOFTHSM2_CONF": f"{self.work}/softhsm2.conf", "PKCS11_PROVIDER_MODULE": MODULE}
        for label in ("rig", "second"):
            self._call("softhsm2-util", "--init-token", "--free", "--label", label, "--pin", PIN, "--so-pin", "5678")
        keys = {"device": "EC:prime256v1 --id 01", "rsa": "rsa:2048 --id 02", "curve": "EC:secp384r1 --id 03",
                "lonely": "EC:prime256v1"}
        for token, label in [*(("rig", label) for label in keys), ("second", "device")]:
            self._call("pkcs11-tool", "--module", MODULE, "--token-label", token, "--login", "--pin", PIN, "--keypairgen",
                       "--label", label, "--key-type", *keys[label].split())
        version = subprocess.run(self.prefix("."), capture_output=True, text=True)
        expect(version.returncode == 64, "capbundle does not run in this Debian; test the build of .ci/build: "
               f"{version.stderr.strip()[-200:]}")

    def _call(self, *words):
        return called(*self._enter("."), *words, environment=self.environment, about=words[0])

    def refusing(self):
        """Returns the labels of the tokens that refused the last PIN that they got."""
        blocks = self._call("pkcs11-tool", "--module", MODULE, "--list-token-slots").split("token label")[1:]
        return [block.split()[1] for block in blocks if "user PIN count low" in block]

    def _enter(self, folder):
        return [*entering(self.root), "env", "-C", str(self.work / folder)]

    def prefix(self, folder):
        return [*self._enter(folder), str(self.work / "capbundle")]


class Bench:
    """The tools, and a TPM and a token that are made when a test needs them."""

    def __init__(self, programs, folder, ending):
        for name in ("swtpm", "tpm2_create", "debootstrap"):
            if not shutil.which(name):
                raise Failed(f"{name} is missing; .ci/dependencies test installs it")
        self.programs, self._folder, self._ending = programs, folder, ending
        self._numbers = itertools.count(1)

    @functools.cached_property
    def tpm(self):
        return Tpm(self._folder / "tpm", self._ending)

    @functools.cached_property
    def token(self):
        return Token(self.programs["capbundle"], self._ending)

    def at_tpm(self, tpm=None):
        folder = self._folder / f"place{next(self._numbers)}"
        return Place(folder, folder, [self.programs["capbundle"]], (tpm or self.tpm).environment, "handle:0x81000010",
                     "handle:0x81000011?pass")

    def at_token(self):
        name = f"place{next(self._numbers)}"
        uri, inside = "pkcs11:token=rig;object=device", self.token.work / name
        return Place(self.token.root / f"work/{name}", inside, self.token.prefix(name), self.token.environment,
                     f"{uri}?pin-source=file:{inside}/pin", uri)

    def new_tpm(self):
        return Tpm(self._folder / f"tpm{next(self._numbers)}", self._ending)
