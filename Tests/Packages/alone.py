"""The packages as files: equal when they are built again, without complaints of lintian, signed, with a list of parts."""
import json
import re
import shutil

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from Kit.outcomes import ROOT, Failed, expect
from Packages.bench import BUILT, NAMES, RECEIVER, tracked

# Of these, 14 MB are the code of Foundation, which GRDB needs; the 39 MB of ICU's data are left out already.
LARGEST = {"capqueue": 35_000_000, "capbundle": 27_000_000}


def reproducible(bench):
    """The same binaries, a copy of the files in another folder, another time zone, umask and language: the same bytes."""
    copy = bench.folder / "elsewhere/checkout"
    for name in tracked():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    for name in ("capbundle", "capqueue", "capbundle-decode"):
        (copy / ".build/release").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / ".build/release" / name, copy / ".build/release" / name)
        (copy / ".build/release" / name).chmod(0o755)
    for place in (".build/checkouts", ".build-receiver/checkouts", "Package.resolved", "Samples/Receiver/Package.resolved"):
        (copy / place).parent.mkdir(parents=True, exist_ok=True)
        (copy / place).symlink_to(ROOT / place)
    (copy / RECEIVER).parent.mkdir(parents=True)
    shutil.copy(ROOT / RECEIVER, copy / RECEIVER)
    bench.run("git", "init", "--quiet", cwd=copy)
    bench.run("git", "add", "--force", *tracked(), cwd=copy)
    bench.run("sh", "-c", 'umask 077; exec "$@"', "sh", copy / ".ci/packages/build.py", bench.folder / "again", "--receiver",
              copy / RECEIVER, env={"TZ": "Asia/Tokyo", "LC_ALL": "C"}, seconds=900)
    for file in sorted(path.name for path in BUILT.iterdir() if not path.name.startswith("SHA256SUMS.")):
        expect((bench.folder / "again" / file).read_bytes() == (BUILT / file).read_bytes(), f"{file} has other bytes")


def clean(bench):
    for package in bench.packages.values():
        done = bench.call("lintian", "--allow-root", "--fail-on", "error,warning", package, seconds=600)
        expect(done.code == 0 and not done.out.strip(), f"exit {done.code}: {done.out.decode()[:500]}{done.text[:500]}")


def sized(bench):
    """What is installed stays small, and each file belongs to one package."""
    owners = {}
    for name, package in bench.packages.items():
        lines = [line.split(None, 5) for line in bench.run("dpkg-deb", "-c", package).splitlines()]
        for fields in lines:
            expect(fields[1] == "root/root", f"{fields[5]} belongs to {fields[1]}")
            if not fields[0].startswith("d"):
                expect(fields[5] not in owners, f"{fields[5]} is in {name} and {owners.get(fields[5])}")
                owners[fields[5]] = name
        size = sum(int(fields[2]) for fields in lines)
        expect(size < LARGEST.get(name, 100_000_000), f"{name} has {size} bytes")
    expect(owners.get("./usr/libexec/capbundle/capbundle-decode") == "capbundle", "capbundle-decode is elsewhere")
    expect(owners.get("./lib/systemd/system/capbundle-receiver.service") == "capbundle-receiver", "the receiver has no unit")


def signed(bench):
    """A key is made, the checksums are signed with it, and a changed package is found."""
    secret, public, target = bench.folder / "secret", bench.folder / "public", bench.folder / "signed"
    bench.run("minisign", "-G", "-W", "-p", public, "-s", secret)
    bench.build(target, MINISIGN_KEY=str(secret))
    said = bench.run("minisign", "-V", "-p", public, "-m", target / "SHA256SUMS")
    expect("capture-bundle 1." in said, f"the trusted comment is in {said!r}")
    listed = bench.run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=target)
    expect(listed.count(": OK") == len(NAMES) + 1, f"SHA256SUMS lists {listed}")
    package = next(target.glob("capqueue_*.deb"))
    package.write_bytes(package.read_bytes()[:-1] + b"x")
    bench.run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=target, code=1)
    (target / "SHA256SUMS").write_text(bench.run("sha256sum", package.name, cwd=target))
    bench.run("minisign", "-V", "-q", "-p", public, "-m", target / "SHA256SUMS", code=1)


def listed(bench):
    """The list of parts is valid CycloneDX, and has each Swift package and each package of a library that is linked."""
    text = next(BUILT.glob("*.cdx.json")).read_text()
    fault = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
    if fault:
        raise Failed(f"cyclonedx-python-lib says: {str(fault)[:300]}")
    parts = {one["name"]: one for one in json.loads(text)["components"]}
    for file in ("Package.resolved", "Samples/Receiver/Package.resolved"):
        for pin in json.loads((ROOT / file).read_text())["pins"]:
            name = re.sub(r"\.git$", "", pin["location"]).rpartition("/")[2]
            expect(name in parts and parts[name]["version"] == pin["state"].get("version", parts[name]["version"]),
                   f"{name} of {file} is not listed")
    for package in bench.packages.values():
        for name in re.findall(r"[a-z0-9.+-]+(?= \(>=)", bench.run("dpkg-deb", "-f", package, "Depends")):
            expect(name in parts, f"{name}, which {package.name} needs, is not listed")


TESTS = [
    ("built again in another folder, the packages have the same bytes", reproducible),
    ("lintian finds nothing", clean),
    ("each file is in one package, belongs to root, and the packages are small", sized),
    ("SHA256SUMS is signed, and shows a changed package", signed),
    ("the list of parts is valid and complete (cyclonedx-python-lib)", listed),
]
