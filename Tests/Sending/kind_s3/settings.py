"""s3: where credentials and region come from, which headers a request has, and a wrong clock."""
import base64
import hashlib
import re
import shutil

import seaweed
from checks import Skipped, every, expect
from rigs import AT_ONCE
from s3_places import Place
from scripted import Reply, Scripted
from sigv4 import Keys

ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "AKENV", "AWS_SECRET_ACCESS_KEY": "env-secret"}
FILE = """# credentials of a test
[default]
aws_access_key_id = AKDEFAULT
aws_secret_access_key = default-secret

[ roof ]
aws_access_key_id=AKROOF
aws_secret_access_key=roof-secret
aws_session_token=roof-token
"""
CONFIG = "[default]\nregion = eu-north-7\noutput = json\n\n[profile roof]\nregion=sa-west-9\n"


class Mirror(Scripted):
    """Accepts any signature, and records the PUTs."""

    def __init__(self):
        super().__init__(self._reply)

    def _reply(self, request):
        puts = self.seen("PUT")
        if request.method == "PUT":
            return Reply(200, {"ETag": f'"{hashlib.md5(request.body).hexdigest()}"'})
        if not puts:
            return Reply(404)
        checksum = base64.b64encode(hashlib.sha256(puts[-1].body).digest()).decode()
        return Reply(200, {"Content-Length": str(len(puts[-1].body)), "x-amz-checksum-sha256": checksum})


def sent(bench, environment, files=(), options=()):
    """Returns the one PUT of a run that has these variables, and these files in its home."""
    rig = bench.rig()
    for name, text in dict(files).items():
        path = rig.home / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    rig.env |= {name: value.replace("HOME", str(rig.home)) for name, value in environment.items()}
    with Mirror() as store:
        rig.dest("s3", "s3", "--url", f"{store.url}/bucket/a%20b/x", "--retry", AT_ONCE, *options)
        rig.push(bench.stock[0])
        rig.send("--until-empty", code=0)
        put, = store.seen("PUT")
    return put


def credential(put):
    """Returns the key and the region of the signature."""
    found = re.match(r"AWS4-HMAC-SHA256 Credential=([^/]+)/\d{8}/([^/]+)/s3/aws4_request, ?SignedHeaders=",
                     put.headers.get("authorization", ""))
    expect(found, f"signed by {put.headers.get('authorization')!r}")
    return found.groups()


def places(bench):
    """Variables win over files, and the named profile over the default one; the same is true for regions."""
    files = {".aws/credentials": FILE, ".aws/config": CONFIG}
    cases = {
        "variables": (ENVIRONMENT, {}, (), ("AKENV", "us-east-1")),
        "variables before files": (ENVIRONMENT, {".aws/credentials": FILE}, (), ("AKENV", "us-east-1")),
        "the default profile": ({}, files, (), ("AKDEFAULT", "eu-north-7")),
        "AWS_PROFILE": ({"AWS_PROFILE": "roof"}, files, (), ("AKROOF", "sa-west-9")),
        "--profile": ({"AWS_PROFILE": "default"}, files, ("--profile", "roof"), ("AKROOF", "sa-west-9")),
        "AWS_REGION": (ENVIRONMENT | {"AWS_REGION": "r-1", "AWS_DEFAULT_REGION": "r-2"}, files, (), ("AKENV", "r-1")),
        "AWS_DEFAULT_REGION": (ENVIRONMENT | {"AWS_DEFAULT_REGION": "r-2"}, files, (), ("AKENV", "r-2")),
        "--region": (ENVIRONMENT | {"AWS_REGION": "r-1"}, files, ("--region", "r-0"), ("AKENV", "r-0")),
        "files elsewhere": ({"AWS_SHARED_CREDENTIALS_FILE": "HOME/keys", "AWS_CONFIG_FILE": "HOME/conf"},
                            {"keys": FILE, "conf": CONFIG}, (), ("AKDEFAULT", "eu-north-7"))}

    def judge(name, case):
        environment, files, options, wanted = case
        put = sent(bench, environment, files, options)
        expect(credential(put) == wanted, f"signed by {credential(put)}, not {wanted}")
        token = "roof-token" if wanted[0] == "AKROOF" else None
        expect(put.headers.get("x-amz-security-token") == token, "another session token")

    every(cases, judge)


def open_to_others(bench):
    """A credentials file that others can read causes a warning where it is used; the variables cause none."""
    rig = bench.rig()
    path = rig.home / ".aws/credentials"
    path.parent.mkdir()
    path.write_text(FILE)
    path.chmod(0o644)
    with Mirror() as store:
        for environment, count in (({}, 1), (ENVIRONMENT, 0)):
            rig.env |= environment
            name = f"s3-{count}"
            text = rig.dest(name, "s3", "--url", f"{store.url}/bucket", "--retry", AT_ONCE).text
            expect(text.count(f"warning: {path}: others can read") == count, f"dest add: {text!r}")
            rig.run("push", bench.stock[count].path, "--dest", name).must(0)
            text = rig.send("--until-empty", "--dest", name, code=0).text
            expect(text.count(f"chmod 600 {path}") == count, f"run: {text!r}")


def request(bench):
    """The request has the checksum, the condition and the hash of the payload, and its signature covers all of them."""
    put = sent(bench, ENVIRONMENT | {"AWS_SESSION_TOKEN": "env-token"})
    data = bench.stock[0].data
    expect(put.body == data, "other bytes came")
    wanted = {"if-none-match": "*", "x-amz-content-sha256": bench.stock[0].sha256, "content-length": str(len(data)),
              "x-amz-checksum-sha256": base64.b64encode(hashlib.sha256(data).digest()).decode(),
              "x-amz-security-token": "env-token"}
    expect(wanted.items() <= put.headers.items(), f"headers are {put.headers}")
    expect(put.path == f"/bucket/a%20b/x/{bench.stock[0].sha256}.bundle", f"sent to {put.path}")
    signed = re.search(r"SignedHeaders=([^,]+)", put.headers["authorization"])[1].split(";")
    expect(set(signed) <= set(put.headers), f"signed but not sent: {set(signed) - set(put.headers)}")
    needed = {"host", "x-amz-content-sha256", "x-amz-date", "x-amz-checksum-sha256", "x-amz-security-token"}
    expect(needed <= set(signed), f"signed are {signed}")
    keys = Keys("AKENV", "env-secret")
    _, _, signature = keys.signature("PUT", "/bucket/a b/x/" + bench.stock[0].sha256 + ".bundle", {},
                                     {name: put.headers.get(name, "") for name in signed}, bench.stock[0].sha256,
                                     put.headers["x-amz-date"])
    expect(put.headers["authorization"].endswith(f"Signature={signature}"), "the signature is another one")


def skewed(bench):
    """If the clock is two hours off, the request is signed again with the store's time, and no attempt is used."""
    if not shutil.which("faketime"):
        raise Skipped("faketime is not installed (Debian's package of that name)")
    store = seaweed.shared(bench)

    def judge(name, offset):
        rig, prefix = bench.rig(), f"skew{next(bench.numbers)}"
        rig.env |= store.keys.environment
        rig.dest("s3", "s3", "--url", f"{store.url}/{prefix}", "--retry", AT_ONCE)
        rig.push(*bench.stock[:2])
        rig.before = ["faketime", "--exclude-monotonic", "-f", offset]
        said = rig.send("--until-empty", code=15, about="run, which is done but for its own clock").text
        expect("the clock differs by 1 h 59 min" in said or "the clock differs by 2 h" in said, f"run says {said!r}")
        for bundle in bench.stock[:2]:
            row = rig.delivery(bundle)
            expect((row.state, row.attempts) == ("completed", 1), f"{row.state} after {row.attempts} attempts")
            expect(store.client().get(f"{prefix}/{bundle.sha256}.bundle") == bundle.data, "the store has other bytes")

    every({"ahead": "+2h"}, judge)


def refused_settings(bench):
    """`dest add` refuses URLs without a bucket and URLs that contain a query or a password."""
    urls = {"no bucket": "http://127.0.0.1:9", "only a slash": "http://127.0.0.1:9/",
            "a password": "http://me:pw@127.0.0.1:9/bucket", "another scheme": "s3://bucket/prefix"}

    def judge(name, url):
        rig = bench.rig()
        rig.run("dest", "add", "bad", "--kind", "s3", "--url", url).must(64, 78, about="dest add")

    every(urls, judge)


def signed_headers(bench):
    """s3: own headers are signed in the order of their names and with single spaces, as the store demands."""
    place, bundle = Place(bench), bench.stock[0]
    lines = {"x-amz-meta-site": "a", "x-amz-meta-site-name": "b", "x-amz-meta-note": "two  blanks"}
    place.rig(bundle, options=[word for line in lines.items() for word in ("--header", ": ".join(line))]).send(code=0)
    place.holds(bundle)
    told = place.client.head(place.key(bundle))
    expect({name: " ".join(told.get(name, "").split()) for name in lines} ==
           {name: " ".join(value.split()) for name, value in lines.items()}, f"the store has {told}")


FAMILY = [
    ("credentials and regions, from variables and files", places),
    ("a credentials file that others can read: a warning", open_to_others),
    ("the request, and its signature computed by the test", request),
    ("a clock that is two hours off", skewed),
    ("URLs that cannot belong to a store", refused_settings),
    ("s3: own headers are signed as the store expects", signed_headers),
]
