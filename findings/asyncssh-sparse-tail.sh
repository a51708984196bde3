#!/bin/sh
# asyncssh 2.24.1: copying a file that ends with a hole, by SFTP; sshfs 2026.8.0 (for fsspec) uses it. Needs a
#   file system with holes of 4 KiB. paramiko 5.1.0 and asyncssh's own scp for comparison.
# Expected: the copy has the bytes of the file; sparse=True, the default, may only change how it is stored.
# Seen: put, get and copy send the ranges of data and never set the size: the copy ends where the last data ends, and
#   no call raises; with sparse=True the check of the length is left out. Only zeros are lost, but the file is too
#   short. This hits a raw depth frame with empty last rows after `cp --sparse=always`, a frame of zeros (its copy
#   is empty), and a file that was set to its planned size first. sparse=False, scp and paramiko are right.
# Output (bytes; depth 614400 | zero 614400 | planned 1048576 | hole inside 614400):
#   asyncssh put, get and copy, sshfs put_file and get_file: 487424 | 0 | 303104 | right
#   asyncssh put and get with sparse=False, asyncssh scp, paramiko: right | right | right | right
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q asyncssh==2.24.1 sshfs==2026.8.0 paramiko==5.1.0
cd "$T"
mkdir here there back
"$T/v/bin/python" -W ignore - <<'P'
import asyncio, os, random, subprocess, sys
import asyncssh, paramiko
from sshfs import SSHFileSystem

noise = random.Random(1).randbytes
def store(name, data):
    with open("full", "wb") as f:
        f.write(data)
    subprocess.run(["cp", "--sparse=always", "full", "here/" + name], check=True)
store("depth", noise(640 * 380 * 2) + bytes(640 * 100 * 2))
store("zero", bytes(640 * 480 * 2))
with open("here/planned", "wb") as f:
    f.truncate(1 << 20)
    f.write(noise(300000))
store("inside", noise(204800) + bytes(204800) + noise(204800))
names = ["depth", "zero", "planned", "inside"]
with open("here/depth", "rb") as f:
    if os.lseek(f.fileno(), 0, os.SEEK_HOLE) == os.path.getsize("here/depth"):
        print("needs a file system with holes")
        sys.exit(2)

class Open(asyncssh.SSHServer):
    def begin_auth(self, user):
        return False
def look(folder):
    row = []
    for n in names:
        with open("here/" + n, "rb") as a, open(folder + "/" + n, "rb") as b:
            a, b = a.read(), b.read()
        row.append("right" if a == b else str(len(b)) if a.startswith(b) else "wrong")
        os.remove(folder + "/" + n)
    return row
def with_paramiko(port):
    t = paramiko.Transport(("127.0.0.1", port))
    t.connect()
    t.auth_none("u")
    s = paramiko.SFTPClient.from_transport(t)
    for n in names:
        s.put("here/" + n, "there/" + n)
        s.get("here/" + n, "back/" + n)
    t.close()
def with_sshfs(port):
    fs = SSHFileSystem("127.0.0.1", port=port, username="u", known_hosts=None)
    for n in names:
        fs.put_file("here/" + n, os.path.abspath("there/" + n))
        fs.get_file(os.path.abspath("here/" + n), "back/" + n)
async def main():
    got = {}
    key = asyncssh.generate_private_key("ssh-ed25519")
    server = await asyncssh.create_server(Open, "127.0.0.1", 0, server_host_keys=[key], sftp_factory=True,
                                          allow_scp=True)
    port = server.sockets[0].getsockname()[1]
    async with asyncssh.connect("127.0.0.1", port, known_hosts=None, username="u") as c, c.start_sftp_client() as s:
        for title, options in (("asyncssh", {}), ("asyncssh, sparse=False", {"sparse": False})):
            for n in names:
                await s.put("here/" + n, "there/" + n, **options)
                await s.get("here/" + n, "back/" + n, **options)
            got[title] = look("there"), look("back")
        for n in names:
            await s.copy("here/" + n, "there/" + n)
            await asyncssh.scp("here/" + n, (c, "back/" + n))
        got["asyncssh copy"], got["asyncssh scp"] = look("there"), look("back")
    for title, run in (("sshfs", with_sshfs), ("paramiko", with_paramiko)):
        await asyncio.to_thread(run, port)
        got[title] = look("there"), look("back")
    server.close()
    return got
got = asyncio.run(main())
for k, row in got.items():
    print(f"{k}: " + (" | ".join(row) if isinstance(row, list) else f"{' | '.join(row[0])}; get {' | '.join(row[1])}"))
right, short = ["right"] * 4, ["487424", "0", "303104", "right"]
want = {"asyncssh": (short, short), "asyncssh, sparse=False": (right, right), "asyncssh copy": short,
        "asyncssh scp": right, "sshfs": (short, short), "paramiko": (right, right)}
if got != want:
    print("changed:", {k: (got[k], want[k]) for k in got if got[k] != want[k]})
    sys.exit(1)
P
echo "as described"
