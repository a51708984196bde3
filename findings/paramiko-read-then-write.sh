#!/bin/sh
# paramiko 5.1.0: an SFTP file opened with "r+", read up to a place and then changed there. asyncssh 2.24.1 is the
#   server; a local file and asyncssh's own client for comparison. Issue 661 (open since 2016) says that r+ appends.
# Expected: a write goes to the place that tell() names, as in a local file; after truncate(tell()) too.
# Seen: readline(), and read() with a buffer, fetch ahead, and a write goes after what was fetched, while tell() names
#   the reader's place: the new bytes replace other data. After truncate(tell()) the gap becomes zeros. No call
#   raises. seek(tell()) before the write helps.
# Output (where the new bytes are | the length of the file; they belong at 7, the file has 20007 bytes):
#   local: 7 | 20007, after truncate: 7 | 10
#   asyncssh: 7 | 20007, after truncate: 7 | 10
#   paramiko readline: 8192 | 20007, after truncate: 8192 | 8195 with 8185 zeros
#   paramiko read, bufsize 4096: 4096 | 20007, after truncate: 4096 | 4099 with 4089 zeros
#   paramiko readline, seek(tell()): 7 | 20007, after truncate: 7 | 10
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q asyncssh==2.24.1 paramiko==5.1.0
cd "$T"
"$T/v/bin/python" -W ignore - <<'P'
import asyncio, sys
import asyncssh, paramiko

old = b"header\n" + b"x" * 20000
class Open(asyncssh.SSHServer):
    def begin_auth(self, user):
        return False
def edit(f, cut, read, seek=False):
    read(f)
    if seek:
        f.seek(f.tell())
    place = f.tell()
    if cut:
        f.truncate(place)
    f.write(b"NEW")
    f.close()
    return place
def local(cut):
    return edit(open("f", "r+b"), cut, lambda f: f.readline())
def sftp(read, bufsize=-1, seek=False):
    def run(cut):
        t = paramiko.Transport(("127.0.0.1", port))
        t.connect()
        t.auth_none("u")
        place = edit(paramiko.SFTPClient.from_transport(t).open("f", "r+", bufsize), cut, read, seek)
        t.close()
        return place
    return run
async def with_asyncssh(cut):
    async with asyncssh.connect("127.0.0.1", port, known_hosts=None, username="u") as c, c.start_sftp_client() as s:
        async with s.open("f", "r+b") as f:
            await f.read(7)
            place = await f.tell()
            if cut:
                await f.truncate(place)
            await f.write(b"NEW")
            return place
ways = {"local": local, "asyncssh": with_asyncssh, "paramiko readline": sftp(lambda f: f.readline()),
        "paramiko read, bufsize 4096": sftp(lambda f: f.read(7), 4096),
        "paramiko readline, seek(tell())": sftp(lambda f: f.readline(), seek=True)}
async def main():
    global port
    key = asyncssh.generate_private_key("ssh-ed25519")
    server = await asyncssh.create_server(Open, "127.0.0.1", 0, server_host_keys=[key], sftp_factory=True)
    port = server.sockets[0].getsockname()[1]
    got = {}
    for name, way in ways.items():
        row = []
        for cut in (False, True):
            with open("f", "wb") as f:
                f.write(old)
            place = await way(cut) if way is with_asyncssh else await asyncio.to_thread(way, cut)
            with open("f", "rb") as f:
                b = f.read()
            row += [place, b.find(b"NEW"), len(b), b.count(0)]
        got[name] = row
    server.close()
    return got
got = asyncio.run(main())
for name, (p, at, size, _, p2, at2, size2, zeros) in got.items():
    print(f"{name}: {at} | {size}, after truncate: {at2} | {size2}" + (f" with {zeros} zeros" if zeros else ""))
right = [7, 7, 20007, 0, 7, 7, 10, 0]
want = {"local": right, "asyncssh": right, "paramiko readline": [7, 8192, 20007, 0, 7, 8192, 8195, 8185],
        "paramiko read, bufsize 4096": [7, 4096, 20007, 0, 7, 4096, 4099, 4089],
        "paramiko readline, seek(tell())": right}
if got != want:
    print("changed:", {k: (got.get(k), w) for k, w in want.items() if got.get(k) != w})
    sys.exit(1)
P
echo "as described"
