#!/bin/sh
# davfs2 1.6.1-1 (Debian 12): fsync, close and rename on a mounted WebDAV folder. Needs root and /dev/fuse.
# Expected: fsync reports 0 when the server has the file. A rename over an older file leaves one of the
#   two on the server, whatever fails later.
# Seen: fsync, close and the fsync of the folder report 0 and no PUT was sent; it follows 10 seconds
#   later. If the server then answers 507 (full), no call reports it and the name is gone from the mount.
#   A rename of a new file over an older one deletes the older one on the server at once and
#   uploads afterwards: while the server answers 507, it has neither.
# Output:
#   first: fsync 0, close 0, sent 0 | later: PUT /a.jpg 201
#   full: fsync 0, close 0, sent 0 | later: PUT /b.jpg 507, in the mount: False
#   replace: before the PUT: DELETE /a.jpg 204 | later: PUT /a.jpg 507, on the server: nothing
set -eu
[ "$(id -u)" = 0 ] && [ -e /dev/fuse ] || { echo "needs root and /dev/fuse"; exit 2; }
[ "$(dpkg-query -Wf '${Version}' davfs2 2>/dev/null)" = 1.6.1-1 ] ||
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends davfs2=1.6.1-1 >/dev/null
T=$(mktemp -d)
S=
trap 'umount "$T/m" 2>/dev/null || :; [ -z "$S" ] || kill "$S"; rm -rf "$T"' EXIT
chmod 755 "$T"
cd "$T"
mkdir m cache
chown davfs2:davfs2 cache
chmod 775 cache
printf 'use_locks 0\nask_auth 0\ncache_dir %s/cache\n' "$T" >conf
cat >server.py <<'P'
import http.server, urllib.parse
files = {}
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self, code, body=b"", **headers):
        with open("log", "a") as f:
            f.write(f"{self.command} {self.path} {code}\n")
        self.send_response(code)
        for k, v in headers.items():
            self.send_header(k.replace("_", "-"), v)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))
    def do_OPTIONS(self):
        self.answer(200, DAV="1", Allow="OPTIONS, GET, HEAD, PUT, DELETE, PROPFIND, MOVE")
    def do_PROPFIND(self):
        self.body()
        names = ["/", *files] if self.path == "/" else [self.path] if self.path in files else []
        item = "<D:response><D:href>{}</D:href><D:propstat><D:prop><D:resourcetype>{}</D:resourcetype></D:prop>" \
               "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
        xml = "".join(item.format(n, "<D:collection/>" if n == "/" else "") for n in names)
        xml = f'<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">{xml}</D:multistatus>'.encode()
        self.answer(207, xml, Content_Type="application/xml") if names else self.answer(404)
    def do_GET(self):
        self.answer(200, files[self.path]) if self.path in files else self.answer(404)
    do_HEAD = do_GET
    def do_PUT(self):
        b = self.body()
        code = int(open("mode").read())
        if code == 201:
            files[self.path] = b
        self.answer(code)
    def do_DELETE(self):
        self.answer(204 if files.pop(self.path, None) is not None else 404)
    def do_MOVE(self):
        files[urllib.parse.urlparse(self.headers["Destination"]).path] = files.pop(self.path)
        self.answer(201)
    def log_message(self, *_):
        pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
open("port.new", "w").write(str(s.server_port))
__import__("os").rename("port.new", "port")
s.serve_forever()
P
python3 server.py & S=$!
while [ ! -e port ]; do sleep 0.1; done
mount -t davfs -o conf="$T/conf" "http://127.0.0.1:$(cat port)/" m </dev/null
python3 - <<'P'
import os, sys, time, urllib.request
def sent():
    return [l.strip() for l in open("log") if l.split()[0] in ("PUT", "DELETE", "MOVE")]
def write(name, mode):
    open("mode", "w").write(str(mode))
    fd = os.open("m/" + name, os.O_CREAT | os.O_WRONLY)
    os.write(fd, b"x" * 5000)
    os.fsync(fd)
    os.close(fd)
    top = os.open("m", os.O_RDONLY)
    os.fsync(top)
    os.close(top)
def wait(before):
    for _ in range(60):
        if any(l.startswith("PUT") for l in sent()[before:]):
            break
        time.sleep(0.5)
    time.sleep(1)
    return sent()[before:]
def server(name):
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{open('port').read()}/{name}").status
    except urllib.error.HTTPError as e:
        return e.code
got = []
for name, mode in (("a.jpg", 201), ("b.jpg", 507)):
    n = len(sent())
    write(name, mode)
    early = sent()[n:]
    got.append((early, wait(n), os.path.exists("m/" + name)))
n = len(sent())
write("new.tmp", 507)
os.rename("m/new.tmp", "m/a.jpg")
early = sent()[n:]
got.append((early, wait(n), server("a.jpg"), server("new.tmp")))
open("mode", "w").write("201")  # so that the unmount does not wait for a full server
for g in got:
    print(*g)
want = [([], ["PUT /a.jpg 201"], True), ([], ["PUT /b.jpg 507"], False),
        (["DELETE /a.jpg 204"], ["DELETE /a.jpg 204", "PUT /a.jpg 507"], 404, 404)]
if got != want:
    print("changed:", want)
    sys.exit(1)
P
echo "as described"
