#!/bin/sh
# rfc3161ng 2.1.3: make_timestamp_request(data=..., hashname="sha256"). Its requests go to three time-stamp
#   services that run here without a network: OpenSSL 3.0, certomancer 0.16.0 and pyHanko 0.38.0.
# Expected: the request holds the SHA-256 of the data, or the call fails.
# Seen: it names SHA-256 (or SHA-512) and holds the SHA-1, 20 bytes; no error. OpenSSL refuses it. certomancer
#   and pyHanko, whose services are made for tests, grant a time stamp for it. "openssl ts -verify" accepts
#   the stamp for that request, but OpenSSL and rfc3161ng itself reject it for the data.
#   With digest=..., as RemoteTimestamper does it, the request is right.
# Output:
#   sha512: names sha512, holds 20 bytes, the SHA-1: True
#   digest=: names sha256, holds 32 bytes, the SHA-1: False
#   digest= to certomancer: granted | its request: OK | the data: OK | rfc3161ng: right
#   sha256: names sha256, holds 20 bytes, the SHA-1: True
#   OpenSSL: Status: Rejected. Status description: Bad message digest.
#   certomancer: granted | its request: OK | the data: FAILED | rfc3161ng: Message imprint mismatch
#   pyHanko: granted | its request: OK | the data: FAILED | rfc3161ng: Message imprint mismatch
set -eu
openssl version | grep -q '^OpenSSL 3\.0\.' || { echo "needs OpenSSL 3.0"; exit 2; }
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q rfc3161ng==2.1.3 certomancer==0.16.0 pyHanko==0.38.0 pyasn1==0.6.5 asn1crypto==1.5.1
cd "$T"
printf 'extendedKeyUsage=critical,timeStamping\nkeyUsage=critical,digitalSignature\n' >ext
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 30 -subj /CN=ca 2>/dev/null
openssl req -newkey rsa:2048 -nodes -keyout tsa.key -out tsa.csr -subj /CN=tsa 2>/dev/null
openssl x509 -req -in tsa.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile ext -out tsa.pem 2>/dev/null
cat >tsa.cnf <<'C'
[tsa]
default_tsa = a
[a]
serial = serial
signer_cert = tsa.pem
signer_key = tsa.key
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha1, sha256, sha512
C
"$T/v/bin/python" -W ignore - <<'P'
import hashlib, subprocess, sys
from asn1crypto import keys, pem, tsp, x509
import rfc3161ng
from certomancer.services import TimeStamper
from pyhanko.sign.timestamps import DummyTimeStamper

data = b"a capture" * 1000
with open("data", "wb") as f:
    f.write(data)
def load(kind, name):
    with open(name, "rb") as f:
        return kind.load(pem.unarmor(f.read())[2])
tsa = {"tsa_cert": load(x509.Certificate, "tsa.pem"), "tsa_key": load(keys.PrivateKeyInfo, "tsa.key")}
with open("tsa.pem", "rb") as f:
    certificate = f.read()
got = {}
def request(name, **k):
    der = rfc3161ng.encode_timestamp_request(rfc3161ng.make_timestamp_request(**k))
    with open("request", "wb") as f:
        f.write(der)
    r = tsp.TimeStampReq.load(der)
    m = r["message_imprint"].native
    algorithm, digest = m["hash_algorithm"]["algorithm"], m["hashed_message"]
    got[name] = (algorithm, len(digest), digest == hashlib.sha1(data).digest())
    print("{}: names {}, holds {} bytes, the SHA-1: {}".format(name, *got[name]))
    return r
def openssl(*a):
    return subprocess.run(["openssl", "ts", *a], capture_output=True, text=True, check=False).stdout
def verify(*a):
    said = openssl("-verify", *a, "-in", "reply", "-CAfile", "ca.pem", "-untrusted", "tsa.pem")
    return said.strip().removeprefix("Verification: ")
def ask(name, service, r):
    reply = service.request_tsa_response(r)
    with open("reply", "wb") as f:
        f.write(reply.dump())
    token = reply["time_stamp_token"].dump()
    try:
        rfc3161ng.check_timestamp(token, certificate=certificate, data=data, hashname="sha256")
        ng = "right"
    except ValueError as e:
        ng = str(e)
    got[name] = (reply["status"]["status"].native, verify("-queryfile", "request"), verify("-data", "data"), ng)
    print("{}: {} | its request: {} | the data: {} | rfc3161ng: {}".format(name, *got[name]))

request("sha512", data=data, hashname="sha512")
right = request("digest=", digest=hashlib.sha256(data).digest(), hashname="sha256")
ask("digest= to certomancer", TimeStamper(**tsa), right)
wrong = request("sha256", data=data, hashname="sha256")
with open("serial", "w") as f:
    f.write("01\n")
openssl("-reply", "-config", "tsa.cnf", "-queryfile", "request", "-out", "reply")
text = openssl("-reply", "-in", "reply", "-text")
got["OpenSSL"] = [line for line in text.splitlines() if line.startswith("Status")][1:]
print("OpenSSL:", *got["OpenSSL"])
ask("certomancer", TimeStamper(**tsa), wrong)
ask("pyHanko", DummyTimeStamper(**tsa), wrong)
mismatch = ("granted", "OK", "FAILED", "Message imprint mismatch")
want = {"sha512": ("sha512", 20, True), "digest=": ("sha256", 32, False), "sha256": ("sha256", 20, True),
        "digest= to certomancer": ("granted", "OK", "OK", "right"),
        "OpenSSL": ["Status: Rejected.", "Status description: Bad message digest."],
        "certomancer": mismatch, "pyHanko": mismatch}
if got != want:
    print("changed:", {k: (got.get(k), w) for k, w in want.items() if got.get(k) != w})
    sys.exit(1)
P
echo "as described"
