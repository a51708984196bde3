#!/bin/sh
# A multipart/form-data upload with an epilogue after its closing boundary, and with spaces behind a
#   boundary. RFC 2046 allows both; a reader skips them. streaming-form-data 2.1.0 and tornado 6.6.1,
#   against werkzeug 3.1.9 and the standard library's email.
# Expected: the same file from each reader, or an error.
# Seen: one empty line after the closing boundary is enough. streaming-form-data then stores a file
#   that is neither right nor refused: fed at once, 11 bytes of boundary follow the data; fed
#   in pieces of 1000, its last 69 bytes are missing instead; fed byte
#   by byte, it is right. data_received() raises nothing. tornado and streaming-form-data both
#   append a second part, headers included, to the first one's file when its boundary has a space
#   behind it. werkzeug and email are right in all cases.
# Output (a file of 100000 bytes):
#   whole: 100011 bytes | pieces of 1000: 99931 | of 4096: 100011 | of 1: 100000, right
#   space behind the middle boundary: werkzeug 2 files, email 2, tornado 1, streaming-form-data 1
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q streaming-form-data==2.1.0 tornado==6.6.1 werkzeug==3.1.9
cd "$T"
"$T/v/bin/python" - <<'P'
import email, email.policy, io, random, sys
from streaming_form_data import StreamingFormDataParser
from streaming_form_data.targets import ValueTarget
from tornado.httputil import parse_body_arguments
from werkzeug.formparser import parse_form_data

TYPE = "multipart/form-data; boundary=bnd"
def head(name):
    return b'Content-Disposition: form-data; name="%s"; filename="x.bin"\r\n\r\n' % name
data = random.Random(1).randbytes(100000)
def streaming(body, step):
    p = StreamingFormDataParser({"Content-Type": TYPE})
    parts = {n: ValueTarget() for n in ("a", "b")}
    for n, t in parts.items():
        p.register(n, t)
    for i in range(0, len(body), step):
        p.data_received(body[i:i + step])
    return [t.value for t in parts.values() if t.value]
def tornado(body, _):
    files = {}
    parse_body_arguments(TYPE, body, {}, files)
    return [f["body"] for l in files.values() for f in l]
def werkzeug(body, _):
    env = {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body)), "CONTENT_TYPE": TYPE}
    return [f.read() for f in parse_form_data(env)[2].values()]
def mail(body, _):
    m = email.message_from_bytes(f"Content-Type: {TYPE}\r\n\r\n".encode() + body, policy=email.policy.HTTP)
    return [p.get_payload(decode=True) for p in m.iter_parts()]
one = b"--bnd\r\n" + head(b"a") + data + b"\r\n--bnd--\r\n"
two = b"--bnd\r\n" + head(b"a") + data + b"\r\n--bnd \r\n" + head(b"b") + b"second\r\n--bnd--\r\n"
got = {}
for step in (10**6, 1000, 4096, 1):
    if streaming(one, step) != [data]:
        got["without an epilogue"] = step
    value = streaming(one + b"\r\n", step)[0]
    got[step] = (len(value), value == data)
for name, f in (("werkzeug", werkzeug), ("email", mail), ("tornado", tornado), ("streaming", streaming)):
    if f is not streaming and f(one + b"\r\n", 0) != [data]:
        got[name + " epilogue"] = False
    parts = f(two, 10**6)
    got[name] = "right" if parts == [data, b"second"] else f"{len(parts)} file(s), first {len(parts[0])} bytes"
for k, v in got.items():
    print(k, v)
merged = f"1 file(s), first {len(data) + len(head(b'b')) + 16} bytes"
want = {10**6: (100011, False), 1000: (99931, False), 4096: (100011, False), 1: (100000, True),
        "werkzeug": "right", "email": "right", "tornado": merged, "streaming": merged}
if got != want:
    print("changed:", {k: (got.get(k), want.get(k)) for k in got | want if got.get(k) != want.get(k)})
    sys.exit(1)
P
echo "as described"
