#!/bin/sh
# A multipart/form-data upload with an epilogue: one empty line after the closing boundary. RFC 2046
#   allows it, and a reader skips it. streaming-form-data 2.1.0, against werkzeug 3.1.9 and the
#   standard library's email.
# Expected: the same file from each reader, or an error.
# Seen: streaming-form-data stores a file that is neither right nor refused. Fed at once, 11 bytes of
#   boundary follow the data; fed in pieces of 1000, its last 69 bytes are missing instead; fed byte
#   by byte, it is right. data_received() raises nothing. werkzeug and email are right.
# Output (a file of 100000 bytes):
#   whole: 100011 bytes | pieces of 1000: 99931 | of 4096: 100011 | of 1: 100000, right
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q streaming-form-data==2.1.0 werkzeug==3.1.9
cd "$T"
"$T/v/bin/python" - <<'P'
import email, email.policy, io, random, sys
from streaming_form_data import StreamingFormDataParser
from streaming_form_data.targets import ValueTarget
from werkzeug.formparser import parse_form_data

TYPE = "multipart/form-data; boundary=bnd"
HEAD = b'Content-Disposition: form-data; name="a"; filename="x.bin"\r\n\r\n'
data = random.Random(1).randbytes(100000)
def streaming(body, step):
    p = StreamingFormDataParser({"Content-Type": TYPE})
    part = ValueTarget()
    p.register("a", part)
    for i in range(0, len(body), step):
        p.data_received(body[i:i + step])
    return part.value
def werkzeug(body):
    env = {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body)), "CONTENT_TYPE": TYPE}
    return [f.read() for f in parse_form_data(env)[2].values()]
def mail(body):
    m = email.message_from_bytes(f"Content-Type: {TYPE}\r\n\r\n".encode() + body, policy=email.policy.HTTP)
    return [p.get_payload(decode=True) for p in m.iter_parts()]
one = b"--bnd\r\n" + HEAD + data + b"\r\n--bnd--\r\n"
got = {}
for step in (10**6, 1000, 4096, 1):
    if streaming(one, step) != data:
        got["without an epilogue"] = step
    value = streaming(one + b"\r\n", step)
    got[step] = (len(value), value == data)
for name, read in (("werkzeug", werkzeug), ("email", mail)):
    got[name] = read(one + b"\r\n") == [data]
for k, v in got.items():
    print(k, v)
want = {10**6: (100011, False), 1000: (99931, False), 4096: (100011, False), 1: (100000, True),
        "werkzeug": True, "email": True}
if got != want:
    print("changed:", {k: (got.get(k), want.get(k)) for k in got | want if got.get(k) != want.get(k)})
    sys.exit(1)
P
echo "as described"
