#!/bin/sh
# curl 7.88.1 (Debian 12): -F 'a=@file;encoder=base64' and encoder=quoted-printable encode the part of an upload
#   and say so in its Content-Transfer-Encoding. Readers: aiohttp 3.14.5, Django 5.2.19, Werkzeug 3.1.9,
#   falcon 4.4.0, python-multipart 0.0.34.
# Expected: a server refuses such a part, or stores the original file.
# Seen: falcon refuses both. Werkzeug stores the text of both as the file. Django decodes base64 and stores
#   quoted-printable as text. request.post() of aiohttp decodes base64 right, but quoted-printable in
#   separate pieces of at most 64 KiB: an escape that is cut between two leaves stray bytes in the file;
#   read(decode=True) of the same part is right. python-multipart decodes both, but refuses base64 that
#   arrives in several pieces. So the file of one quoted-printable upload has
#   three lengths, each without an error.
# Output (a file of 200000 bytes; no encoder | base64 | quoted-printable):
#   aiohttp post(): right | right | 200002 bytes
#   aiohttp read(): right | right | right
#   Django: right | right | 469492 bytes
#   Werkzeug: right | 273684 bytes | 469492 bytes
#   falcon: right | MultipartParseError | MultipartParseError
#   python-multipart: right | right | right
#   python-multipart, 64 KiB: right | DecodeError | right
set -eu
curl --version | grep -q '^curl 7\.88\.1 ' || { echo "needs curl 7.88.1"; exit 2; }
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q aiohttp==3.14.5 django==5.2.19 werkzeug==3.1.9 falcon==4.4.0 python-multipart==0.0.34
cd "$T"
"$T/v/bin/python" -W ignore - <<'P'
import asyncio, io, random, socket, subprocess, sys, threading

data = random.Random(1).randbytes(200000)
with open("x.bin", "wb") as f:
    f.write(data)
def capture(server, out):
    c, _ = server.accept()
    f = c.makefile("rb")
    head = {}
    for line in iter(f.readline, b"\r\n"):
        name, _, value = line.decode().partition(":")
        head[name.lower()] = value.strip()
    if "expect" in head:
        c.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    body = b""
    if "content-length" in head:
        body = f.read(int(head["content-length"]))
    else:
        while n := int(f.readline(), 16):
            body += f.read(n)
            f.readline()
    c.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    c.close()
    out += [head["content-type"], body]
def curl(part):
    out = []
    with socket.create_server(("127.0.0.1", 0)) as s:
        t = threading.Thread(target=capture, args=(s, out))
        t.start()
        subprocess.run(["curl", "-sS", "-F", part, f"http://127.0.0.1:{s.getsockname()[1]}/"], check=True)
        t.join()
    return out

def aiohttp(kind, body, way):
    from aiohttp import StreamReader
    from aiohttp.base_protocol import BaseProtocol
    from aiohttp.test_utils import make_mocked_request
    async def run():
        loop = asyncio.get_running_loop()
        stream = StreamReader(BaseProtocol(loop), 2**20, loop=loop)
        stream.feed_data(body)
        stream.feed_eof()
        r = make_mocked_request("POST", "/", headers={"Content-Type": kind}, payload=stream)
        if way == "post":
            return (await r.post())["a"].file.read()
        return await (await (await r.multipart()).next()).read(decode=True)
    return asyncio.run(run())
def django(kind, body):
    from django.conf import settings
    from django.core.files.uploadhandler import MemoryFileUploadHandler
    from django.http.multipartparser import MultiPartParser
    if not settings.configured:
        settings.configure()
    meta = {"CONTENT_TYPE": kind, "CONTENT_LENGTH": len(body)}
    return MultiPartParser(meta, io.BytesIO(body), [MemoryFileUploadHandler()]).parse()[1]["a"].read()
def python_multipart(kind, body, step):
    from python_multipart import parse_form
    got = []
    def file(f):
        f.file_object.seek(0)
        got.append(f.file_object.read())
    headers = {"Content-Type": kind.encode(), "Content-Length": str(len(body)).encode()}
    parse_form(headers, io.BytesIO(body), None, file, chunk_size=step)
    return got[0]
def werkzeug(kind, body):
    from werkzeug.formparser import parse_form_data
    env = {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body)), "CONTENT_TYPE": kind}
    return parse_form_data(env)[2]["a"].read()
def falcon(kind, body):
    from falcon.media import MultipartFormHandler
    return [p.stream.read() for p in MultipartFormHandler().deserialize(io.BytesIO(body), kind, len(body))][0]

readers = {"aiohttp post()": lambda *a: aiohttp(*a, "post"), "aiohttp read()": lambda *a: aiohttp(*a, "read"),
           "Django": django, "Werkzeug": werkzeug, "falcon": falcon,
           "python-multipart": lambda *a: python_multipart(*a, 2**20),
           "python-multipart, 64 KiB": lambda *a: python_multipart(*a, 2**16)}
table = {}
for encoder in ("", ";encoder=base64", ";encoder=quoted-printable"):
    kind, body = curl("a=@x.bin" + encoder)
    for name, read in readers.items():
        try:
            b = read(kind, body)
            got = "right" if b == data else f"{len(b)} bytes"
        except Exception as e:
            got = type(e).__name__
        table.setdefault(name, []).append(got)
for name, row in table.items():
    print(f"{name}: " + " | ".join(row))
want = {"aiohttp post()": ["right", "right", "200002 bytes"], "aiohttp read()": ["right"] * 3,
        "Django": ["right", "right", "469492 bytes"], "Werkzeug": ["right", "273684 bytes", "469492 bytes"],
        "falcon": ["right", "MultipartParseError", "MultipartParseError"], "python-multipart": ["right"] * 3,
        "python-multipart, 64 KiB": ["right", "DecodeError", "right"]}
if table != want:
    print("changed:", {k: (table.get(k), w) for k, w in want.items() if table.get(k) != w})
    sys.exit(1)
P
echo "as described"
