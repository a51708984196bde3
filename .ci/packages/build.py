#!/usr/bin/env python3
"""Builds the Debian packages from the release builds: build.py FOLDER [--receiver FILE]

It also writes their SBOM (CycloneDX) and SHA256SUMS. If MINISIGN_KEY names a secret key of minisign, SHA256SUMS is signed.
The packages depend on the binaries and on the files of this folder only: every time in them is the date of the release in
the changelog. `make deb` calls this.
"""
import argparse
import datetime
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / ".ci/packages"
MAINTAINER = "Maintainers of capture-bundle <maintainers@capture-bundle.invalid>"
RELEASE = re.compile(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$", re.M)
# The package of each installed file: the first pattern that its path below /usr matches.
PLACES = [("capbundle-receiver", r"receiver"), ("capqueue", r"capqueue"), ("capbundle", r"")]
DOCUMENTS = ("README.md", "Spec", "Samples")
# Not documents: programs that tests build, and a package of their own.
NO_DOCUMENT = re.compile(r"/(__pycache__|\.build)(/|$)|/Receiver/Sources|\.pyc$")
# What lintian warns of and is meant.
OVERRIDES = {
    "capqueue": "# Others must not read keys for S3 stores.\n"
                "capqueue: non-standard-file-perm 0600 != 0644 [etc/capqueue/environment]\n",
    "capbundle-doc": "# Python asks only whether this file of the package exists.\n"
                     "capbundle-doc: zero-byte-file-in-doc-directory [*/Samples/python/src/capbundle/py.typed]\n",
}
SCRIPTS = ("postinst", "prerm", "postrm")


def run(*words, **how):
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True, **how).stdout.strip()


class Release:
    """The version, and the date that all files get."""

    def __init__(self):
        self.version = run(ROOT / ".ci/version")
        self.changes = (ROOT / ".github/CHANGELOG.md").read_text()
        found = RELEASE.search(self.changes)
        if not found or found[1] != self.version:
            sys.exit(f"build.py: .github/CHANGELOG.md begins with {found and found[1]}, and the version is {self.version}")
        self.date = datetime.datetime.fromisoformat(found[2]).replace(tzinfo=datetime.timezone.utc)
        self.epoch = int(self.date.timestamp())
        self.architecture = run("dpkg", "--print-architecture")

    def debian_changelog(self, package):
        """The entries of the changelog for this version, in Debian's form."""
        text = self.changes[RELEASE.search(self.changes).end():].split("\n## ")[0]
        entries = [" ".join(part.split()) for part in re.findall(r"^- (.*?)(?=^- |\Z)", text, re.M | re.S)]
        lines = [f"{package} ({self.version}) unstable; urgency=medium", ""]
        for entry in entries:
            lines += run("fmt", "-w", "74", input=entry).replace("\n", "\n    ").join(("  * ", "")).splitlines()
        return "\n".join([*lines, "", f" -- {MAINTAINER}  {self.date:%a, %d %b %Y %H:%M:%S +0000}", ""])


def stage(release, folder, receiver):
    """Installs everything below folder/usr, as in a Debian system."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(release.epoch)}
    tools = ROOT / ".build/release"
    run(ROOT / ".ci/install", tools / "capbundle", tools / "capqueue", "/usr", folder, env=environment)
    usr = folder / "usr"
    (usr / "share/capqueue/installed").unlink()  # the list of `make uninstall`, which a package does not need
    if receiver:
        run("install", receiver, usr / "bin/receiver")
        for shell, place in (("bash", "bash-completion/completions/receiver"), ("zsh", "zsh/site-functions/_receiver"),
                             ("fish", "fish/vendor_completions.d/receiver.fish")):
            (usr / "share" / place).write_text(run(receiver, "--generate-completion-script", shell) + "\n")
        run("python3", ROOT / ".ci/man.py", receiver, usr / "share/man/man1", env=environment)
        run("install", "-m", "644", ROOT / "Samples/Receiver/capbundle-receiver.service", usr / "lib/systemd/system")
        (usr / "lib/sysusers.d/capbundle-receiver.conf").write_text(
            'u capbundle-receiver - "Receiver of capture bundles" /var/lib/capbundle-receiver\n')
    (usr / "share/zsh/site-functions").rename(usr / "share/zsh/vendor-completions")  # where Debian's zsh looks
    (usr / "lib/systemd").rename(folder / "systemd")
    (folder / "lib").mkdir()
    (folder / "systemd").rename(folder / "lib/systemd")  # the same folder as below /usr, but bookworm's tools expect this name
    for completion in (usr / "share/bash-completion/completions").iterdir():
        completion.write_text(completion.read_text().removeprefix("#!/bin/bash\n"))  # it is sourced
    for page in (usr / "share/man").rglob("*.1"):
        page.with_name(page.name + ".gz").write_bytes(compressed(page.read_bytes()))
        page.unlink()


def compressed(data):
    return gzip.compress(data, 9, mtime=0)


def divide(folder, target):
    """Moves each installed file into the tree of its package."""
    for file in sorted(path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()):
        path = str(file.relative_to(folder)).removeprefix("usr/")
        package = next(name for name, pattern in PLACES if re.search(pattern, path))
        place = target / package / file.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        file.rename(place)


def documents(tree):
    """The tracked files of DOCUMENTS, so that links between pages work."""
    place = tree / "usr/share/doc/capbundle-doc"
    names = run("git", "-C", ROOT, "ls-files", "--", *DOCUMENTS).splitlines()
    for name in names:
        if (ROOT / name).is_file() and not NO_DOCUMENT.search(name):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place / name)


def libraries(binaries):
    """What the binaries are linked to, as dpkg-shlibdeps says."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "debian").mkdir()
        (pathlib.Path(folder) / "debian/control").write_text("Source: capture-bundle\n\nPackage: capbundle\nArchitecture: any\n")
        said = run("dpkg-shlibdeps", "-O", "--ignore-missing-info", *(f"-e{binary}" for binary in binaries), cwd=folder)
    return said.partition("=")[2]


def licences(package, checkouts):
    """The copyright file: our licence, and the licences of what is linked statically."""
    text = ["capture-bundle is under the Apache License, version 2.0: /usr/share/common-licenses/Apache-2.0",
            "Copyright 2026 the contributors of capture-bundle"]
    if package == "capbundle-doc":
        return "\n\n".join(text) + "\n"
    text += ["The programs contain the Swift runtime and Foundation, under the same license with the Runtime Library Exception\n"
             "(https://swift.org/LICENSE.txt), with ICU under the Unicode License V3 (https://www.unicode.org/license.txt), and\n"
             "libstdc++ and libgcc, under the GPL, version 3, with the GCC Runtime Library Exception\n"
             "(/usr/share/common-licenses/GPL-3). They also contain these packages:"]
    for checkout in sorted(checkouts.iterdir()):
        licence = next(path for name in ("LICENSE", "LICENSE.txt") if (path := checkout / name).is_file()).read_text()
        is_apache = "Apache License" in licence and "Version 2.0" in licence
        text.append(f"{checkout.name}: " + ("Apache License, version 2.0" if is_apache else licence.strip()))
        text += [notice.read_text().strip() for notice in sorted(checkout.glob("NOTICE*"))]
    return "\n\n".join(text) + "\n"


def write(path, data, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    path.chmod(mode)


def pack(release, tree, fields, target, checkouts):
    """Completes the tree of a package and packs it."""
    name, control = fields["Package"], tree / "DEBIAN"
    doc = tree / "usr/share/doc" / name
    write(doc / "changelog.gz", compressed(release.debian_changelog(name).encode()))
    write(doc / "copyright", licences(name, checkouts))
    for script in SCRIPTS:
        if (HERE / f"{name}.{script}").is_file():
            write(control / script, (HERE / f"{name}.{script}").read_text(), 0o755)
    if name == "capqueue":
        write(tree / "etc/capqueue/environment", (HERE / "environment").read_text(), 0o600)
        write(control / "conffiles", "/etc/capqueue/environment\n")
    if name in OVERRIDES:
        write(tree / "usr/share/lintian/overrides" / name, OVERRIDES[name])
    files = sorted(path for path in tree.rglob("*") if path.is_file() and control not in path.parents)
    binaries = [path for path in files if path.read_bytes()[:4] == b"\x7fELF"]
    write(control / "md5sums", "".join(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(tree)}\n"
                                       for path in files if "/etc/" not in str(path.relative_to(tree.parent))))
    if binaries:
        fields["Depends"] = fields["Depends"].replace("${libraries}", libraries(binaries))
    if fields["Architecture"] == "any":
        fields["Architecture"] = release.architecture
    fields |= {"Version": release.version, "Maintainer": MAINTAINER, "Priority": "optional",
               "Installed-Size": str(sum(-(-path.stat().st_size // 1024) for path in files))}
    order = ["Package", "Version", "Architecture", "Maintainer", "Installed-Size", "Depends", "Recommends", "Suggests",
             "Section", "Priority", "Description"]
    write(control / "control", "".join(f"{key}: {fields[key]}\n" for key in order if key in fields))
    for path in [tree, *tree.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
        os.utime(path, (release.epoch, release.epoch), follow_symlinks=False)
    package = target / f"{name}_{release.version}_{fields['Architecture']}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, package, env=os.environ | {"SOURCE_DATE_EPOCH": str(release.epoch)})
    return package


def control():
    """The paragraphs of the file control."""
    text = "".join(line for line in open(HERE / "control") if not line.startswith("#"))
    return [dict(re.findall(r"^(\S+): (.*(?:\n .*)*)", paragraph, re.M)) for paragraph in text.strip().split("\n\n")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--receiver", type=pathlib.Path, default=ROOT / ".build-receiver/release/receiver")
    options = parser.parse_args()
    os.umask(0o022)
    release, target = Release(), options.folder.resolve()
    if target.exists() and any(target.iterdir()):
        sys.exit(f"build.py: {target} is not empty")
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        (work / "installed").mkdir()
        stage(release, work / "installed", options.receiver.absolute())
        divide(work / "installed", work / "trees")
        documents(work / "trees/capbundle-doc")
        for fields in control():
            build = options.receiver.parents[1] if fields["Package"] == "capbundle-receiver" else ROOT / ".build"
            pack(release, work / "trees" / fields["Package"], fields, target, build / "checkouts")
    run("python3", HERE / "sbom.py", target / f"capture-bundle_{release.version}_{release.architecture}.cdx.json", release.version, release.epoch)
    names = sorted(path.name for path in target.iterdir())
    write(target / "SHA256SUMS", run("sha256sum", *names, cwd=target) + "\n")
    if key := os.environ.get("MINISIGN_KEY"):
        run("minisign", "-S", "-s", os.path.abspath(key), "-t", f"capture-bundle {release.version}", "-m", "SHA256SUMS", cwd=target, stdin=subprocess.DEVNULL)
    print("\n".join(sorted(path.name for path in target.iterdir())))


if __name__ == "__main__":
    main()
