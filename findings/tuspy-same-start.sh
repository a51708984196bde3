#!/bin/sh
# tuspy 1.1.0 (the Python client of tus.io) with store_url=True: raw depth frames of one size whose first 52 rows are
#   empty. resumable-upload 0.3.0 is the server; its client and its PartialMD5Fingerprint for comparison.
# Expected: each frame is stored; an upload is resumed only for the same file.
# Seen: the key of the stored URL is the size and the MD5 of the first 64 KiB (pull request 37, for speed), and the URL
#   stays after the upload. So the second frame is not sent at all: upload() returns, and its url is that of the
#   first. If the first upload was cut off, the second continues it: one complete file made of two halves.
#   PartialMD5Fingerprint does the same; its text says that a false match "just causes a server-side 404 at worst".
#   The default of its client, a hash of the whole file, is right.
# Output (files on the server after a, b | after half of a, then b):
#   tuspy, empty first rows: [a] | [a to 300000, then b]
#   tuspy, other first rows: [a, b] | [a to 300000, b]
#   resumable-upload: [a, b] | [a to 300000, b]
#   resumable-upload, PartialMD5Fingerprint: [a] | [a to 300000, then b]
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q tuspy==1.1.0 resumable-upload==0.3.0
cd "$T"
"$T/v/bin/python" -W ignore - <<'P'
import os, random, sys, tempfile, threading
from http.server import ThreadingHTTPServer
from resumable_upload import FileURLStorage, SQLiteStorage, TusClient, TusHTTPRequestHandler, TusServer
from resumable_upload.fingerprint import Fingerprint, PartialMD5Fingerprint
from tusclient.client import TusClient as Tuspy
from tusclient.storage.filestorage import FileStorage

class Handler(TusHTTPRequestHandler):
    def log_message(self, *_):
        pass
def frame(name, empty):  # 640 x 480 pixels of 16 bits
    rows = random.Random(name).randbytes(640 * 480 * 2)
    with open(name, "wb") as f:
        f.write(bytes(empty * 1280) + rows[empty * 1280:])
def tuspy(folder, url):
    urls = FileStorage(folder + "/urls")
    def send(name, stop=None):
        up = Tuspy(url).uploader(name, store_url=True, url_storage=urls, chunk_size=100000, metadata={"filename": name})
        up.upload(stop)
    return send
def other(fingerprint):
    def make(folder, url):
        client = TusClient(url, store_url=True, url_storage=FileURLStorage(folder + "/urls"), chunk_size=100000,
                           fingerprinter=fingerprint())
        return lambda name, stop=None: client.upload_file(name, metadata={"filename": name}, stop_at=stop)
    return make
def content(path):
    with open(path, "rb") as f:
        b = f.read()
    with open("a", "rb") as f:
        a = f.read()
    with open("b", "rb") as f:
        other = f.read()
    known = {a: "a", other: "b", a[:300000]: "a to 300000", a[:300000] + other[300000:]: "a to 300000, then b"}
    return known.get(b, f"{len(b)} other bytes")
def run(make, empty, stop):
    for name in "ab":
        frame(name, empty)
    folder = tempfile.mkdtemp(dir=".")
    Handler.tus_server = TusServer(storage=SQLiteStorage(folder + "/db", folder + "/up"), base_path="/files")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    send = make(folder, f"http://127.0.0.1:{server.server_port}/files")
    send("a", stop)
    send("b")
    server.shutdown()
    return sorted(content(f.path) for f in os.scandir(folder + "/up"))
got = {}
for name, make, empty in (("tuspy, empty first rows", tuspy, 52), ("tuspy, other first rows", tuspy, 0),
                          ("resumable-upload", other(Fingerprint), 52),
                          ("resumable-upload, PartialMD5Fingerprint", other(PartialMD5Fingerprint), 52)):
    got[name] = [run(make, empty, None), run(make, empty, 300000)]
    print(f"{name}: " + " | ".join("[" + ", ".join(x) + "]" for x in got[name]))
lost, right = [["a"], ["a to 300000, then b"]], [["a", "b"], ["a to 300000", "b"]]
want = {"tuspy, empty first rows": lost, "tuspy, other first rows": right, "resumable-upload": right,
        "resumable-upload, PartialMD5Fingerprint": lost}
if got != want:
    print("changed:", {k: (got.get(k), w) for k, w in want.items() if got.get(k) != w})
    sys.exit(1)
P
echo "as described"
