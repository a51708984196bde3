#!/bin/sh
# GNU cpio 2.13 (Debian 12) and 2.15 (Debian 13), reading a ustar archive from bsdtar (libarchive 3.6.2).
# Expected: cpio knows ustar, and POSIX ends a number in a header with spaces or NULs. So it reads the
#   archive, or refuses it.
# Seen: a space behind the digits is called malformed, but only after the number was shifted for the
#   next digit. Size and date are then 8 times too large, and cpio goes on. Small files get more
#   bytes out of their padding; a file of 1000 bytes becomes one of 8000 that swallows the next seven
#   files. The exit code is 0. The checksum, which bsdtar ends with a NUL, is read right.
#   With each of these spaces made a NUL, as GNU tar and Python write it, all is right. cpio -H ustar
#   changes nothing. An archive whose lengths do not fit ends with "premature end of file" instead.
# Output, for both versions:
#   spaces: exit 0, 24 of 31 files, m 8000 bytes of 1000, n17 56 bytes of 7, year 2418
#   NULs: exit 0, 31 of 31 files, m 1000 bytes of 1000, n17 7 bytes of 7, year 2026
set -eu
OLD=2.13+dfsg-7.1
NEW=2.15+dfsg-2
[ "$(dpkg-query -Wf '${Version}' cpio 2>/dev/null)" = $OLD ] && command -v bsdtar >/dev/null ||
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends cpio=$OLD libarchive-tools >/dev/null
bsdtar --version | grep -q ' 3\.6\.2 ' || { echo "needs bsdtar 3.6.2"; exit 2; }
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T"
mkdir -p lists/partial new in
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main" >sources
apt() {
  apt-get -qq -o Dir::Etc::sourcelist="$T/sources" -o Dir::Etc::sourceparts=/nonexistent -o Dir::Cache="$T" \
    -o Dir::State::lists="$T/lists" -o APT::Sandbox::User=root "$@" >/dev/null
}
apt update
apt download cpio=$NEW libc6  # this cpio needs the C library of Debian 13
for p in ./*.deb; do dpkg -x "$p" new; done
cd in
head -c 1000 /dev/urandom >m
for i in $(seq 10 39); do echo "file$i" >"n$i"; done
touch -d 2026-01-01 ./*
bsdtar --format=ustar -cf ../spaces.tar m n*
cd ..
python3 - <<'P'
import glob, os, subprocess, sys, tarfile, time

data = bytearray(open("spaces.tar", "rb").read())
with tarfile.open("spaces.tar") as t:
    for m in t:
        h = data[m.offset:m.offset + 512]
        for at, length in ((100, 8), (108, 8), (116, 8), (124, 12), (136, 12), (329, 8), (337, 8)):
            h[at:at + length] = h[at:at + length].replace(b" ", b"\0")
        h[148:156] = b" " * 8
        h[148:156] = b"%06o\0 " % sum(h)
        data[m.offset:m.offset + 512] = h
with open("NULs.tar", "wb") as f:
    f.write(data)
(loader,) = glob.glob(os.path.abspath("new/usr/lib/*/ld-linux*.so.*"))
new = [loader, "--library-path", os.path.dirname(loader), os.path.abspath("new/usr/bin/cpio")]
wrong = []
for version, tool in (("2.13", ["cpio"]), ("2.15", new)):
    said = subprocess.run([*tool, "--version"], capture_output=True, text=True, check=True).stdout
    if f" {version}\n" not in said:
        wrong.append(f"not version {version}")
    for kind, want in (("spaces", (0, 24, 8000, 56, 2418)), ("NULs", (0, 31, 1000, 7, 2026))):
        for more in ([], ["-H", "ustar"]):
            name = " ".join([version, kind, *more])
            os.mkdir(name)
            with open(kind + ".tar", "rb") as f:
                run = subprocess.run([*tool, "-idm", *more], stdin=f, cwd=name, capture_output=True, check=False)
            m, n = os.stat(name + "/m"), os.stat(name + "/n17")
            got = (run.returncode, len(os.listdir(name)), m.st_size, n.st_size, time.gmtime(m.st_mtime).tm_year)
            print(f"{name}: exit {got[0]}, {got[1]} of 31 files, m {got[2]} bytes of 1000, n17 {got[3]} bytes of 7, "
                  f"year {got[4]}")
            if got != want:
                wrong.append(f"{name}: {got}, was {want}")
if wrong:
    print("changed: " + "; ".join(wrong))
    sys.exit(1)
P
echo "as described"
