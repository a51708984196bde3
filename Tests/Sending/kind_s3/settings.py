"""s3: where credentials and region come from, which headers a request has, and a wrong clock."""
import base64
import hashlib
import json
import re

from Kit.clocks import shifted
from Kit.outcomes import every, expect
from Kit.sending import AT_ONCE, completed
from Kit.servers.s3_places import Place
from Kit.servers.scripted import Reply, Scripted

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
    """Accepts any signature, and records the requests."""

    def __init__(self):
        super().__init__(self._reply)

    def _reply(self, request):
        puts = self.seen("PUT")
        if request.method == "PUT":
            return Reply(200, {"ETag": f'"{hashlib.md5(request.body).hexdigest()}"'})
        if not puts:
            return Reply(404 if request.path.endswith(".bundle") else 200)
        checksum = base64.b64encode(hashlib.sha256(puts[-1].body).digest()).decode()
        return Reply(200, {"Content-Length": str(len(puts[-1].body)), "x-amz-checksum-sha256": checksum,
                           "ETag": f'"{hashlib.md5(puts[-1].body).hexdigest()}"'})


def credential(request):
    """Returns the key and the region of the signature."""
    found = re.match(r"AWS4-HMAC-SHA256 Credential=([^/]+)/\d{8}/([^/]+)/s3/aws4_request, ?SignedHeaders=",
                     request.headers.get("authorization", ""))
    expect(found, f"signed by {request.headers.get('authorization')!r}")
    return found.groups()


def places(bench):
    """Variables win over files, and the named profile over the default one; the same is true for regions."""
    rig = bench.rig()
    (rig.home / ".aws").mkdir()
    for name, text in ((".aws/credentials", FILE), (".aws/config", CONFIG), ("keys", FILE.replace("AKDEF", "AKELSE")),
                       ("conf", CONFIG.replace("eu-north-7", "eu-else-8"))):
        (rig.home / name).write_text(text)
    region, second = {"AWS_REGION": "r-1"}, {"AWS_DEFAULT_REGION": "r-2"}
    elsewhere = {"AWS_SHARED_CREDENTIALS_FILE": str(rig.home / "keys"), "AWS_CONFIG_FILE": str(rig.home / "conf")}
    cases = {
        "variables before files": (ENVIRONMENT, "plain", ("AKENV", "eu-north-7")),
        "variables alone": (ENVIRONMENT | {"HOME": str(rig.folder)}, "plain", ("AKENV", "us-east-1")),
        "the default profile": ({}, "plain", ("AKDEFAULT", "eu-north-7")),
        "AWS_PROFILE": ({"AWS_PROFILE": "roof"}, "plain", ("AKROOF", "sa-west-9")),
        "--profile": ({"AWS_PROFILE": "default"}, "profile", ("AKROOF", "sa-west-9")),
        "AWS_REGION": (ENVIRONMENT | region | second, "plain", ("AKENV", "r-1")),
        "AWS_DEFAULT_REGION": (ENVIRONMENT | second, "plain", ("AKENV", "r-2")),
        "--region": (ENVIRONMENT | region, "region", ("AKENV", "r-0")),
        "files elsewhere": (elsewhere, "plain", ("AKELSEAULT", "eu-else-8"))}
    with Mirror() as store:
        for name, options in (("plain", ()), ("profile", ("--profile", "roof")), ("region", ("--region", "r-0"))):
            rig.dest(name, "s3", "--url", f"{store.url}/bucket", "--retry", AT_ONCE, *options)

        def judge(_, case):
            environment, name, wanted = case
            store.requests.clear()
            rig.run("dest", "test", name, env=environment).must(0, about="dest test")
            expect(store.requests, "dest test asks nothing")
            expect(credential(store.requests[0]) == wanted, f"signed by {credential(store.requests[0])}, not {wanted}")
            token = "roof-token" if wanted[0] == "AKROOF" else None
            expect(store.requests[0].headers.get("x-amz-security-token") == token, "another session token")

        every(cases, judge)


def skewed(bench):
    """If the clock is two hours off, the request is signed again with the store's time, and no attempt is used."""
    place, bundles = Place(bench), bench.stock[:2]
    rig = place.rig(*bundles)
    rig.before = shifted("+2h", "--exclude-monotonic")
    said = rig.send("--until-empty", code=15, about="run, which is done but for its own clock").text
    expect("the clock differs by 1 h 59 min" in said or "the clock differs by 2 h" in said, f"run says {said!r}")
    completed(rig, *bundles)
    place.holds(*bundles)


def by_process(bench):
    """The credential_process of a profile is run, and again when its keys have ended. Other ways are named."""
    rig = bench.rig()
    (rig.home / ".aws").mkdir()
    runs, printed = rig.folder / "runs", rig.folder / "printed"
    config = (f"[profile tool]\ncredential_process = echo x >> {runs}; cat {printed}\n[profile sso]\nsso_session = office\n"
              "[profile role]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = tool\n")
    (rig.home / ".aws/config").write_text(config)
    ends = {"2999-01-01T00:00:00Z": True, "2999-01-01T00:00:00.123456+00:00": True, None: True, "2020-01-01T00:00:00Z": False}
    with Mirror() as store:
        rig.dest("it", "s3", "--url", f"{store.url}/bucket", "--profile", "tool", "--retry", AT_ONCE)
        for number, (end, is_kept) in enumerate(ends.items()):
            runs.unlink(missing_ok=True)
            keys = {"Version": 1, "AccessKeyId": "AKTOOL", "SecretAccessKey": "s", "SessionToken": "tool-token"}
            printed.write_text(json.dumps(keys | ({"Expiration": end} if end else {}), indent=1))
            rig.push(*bench.bundles(2, 2 * number))
            store.requests.clear()
            rig.send("--until-empty", code=0)
            found = runs.read_text().count("x")
            asked = len(store.requests)
            expect(found == 1 if is_kept else found >= asked > 1, f"{end}: run {found} times for {asked} requests")
            expect({credential(one)[0] for one in store.requests} == {"AKTOOL"}, "other keys")
            expect({one.headers.get("x-amz-security-token") for one in store.requests} == {"tool-token"}, "other tokens")
        printed.write_text('{"Version": 2}')
        said = rig.run("dest", "test", "it").must(78, about="dest test").text
        expect("credential_process" in said and "Version 1" in said, f"it says {said}")
        for name, word in (("sso", "sso_session"), ("role", "role_arn")):
            rig.run("dest", "set", "it", "--profile", name).must(0, about="dest set")
            said = rig.run("dest", "test", "it").must(78, about="dest test").text
            expect(word in said and f"profile {name}" in said and "export its keys" in said, f"it says {said}")


def bucket_in_the_host(bench):
    """A bucket in the host name, with and without a prefix. Where the bucket is missing, or cannot be in the host, is said."""
    kept, xml = {}, {"Content-Type": "application/xml"}

    def reply(request):
        if request.headers["host"].startswith("nobody."):
            return Reply(404, xml, b"<Error><Code>NoSuchBucket</Code></Error>")
        if request.method == "PUT":
            kept[request.path] = request.body
            return Reply(200)
        if request.path not in kept:
            return Reply(404, xml, b"" if request.method == "HEAD" else b"<Error><Code>NoSuchKey</Code></Error>")
        data = kept[request.path]
        return Reply(200, {"ETag": f'"{hashlib.md5(data).hexdigest()}"', "Content-Length": str(len(data))})

    rig, bundle = bench.rig(), bench.stock[0]
    rig.env |= ENVIRONMENT
    with Scripted(reply) as store:
        port = store.url.rpartition(":")[2]
        host = f"captures.localhost:{port}"
        for name, url in (("bare", host), ("folder", f"{host}/a/b"), ("nobody", f"nobody.localhost:{port}/a")):
            rig.dest(name, "s3", "--url", f"http://{url}")
        for name in ("bare", "folder"):
            rig.run("dest", "test", name).must(0, about="dest test")
        said = rig.run("dest", "test", "nobody").must(78, about="dest test").text
        expect("bucket does not exist" in said, f"it says {said}")
        rig.push(bundle, options=("--dest", "bare", "--dest", "folder"))
        rig.send("--until-empty", code=0)
        wrong = rig.run("dest", "add", "wrong", "--kind", "s3", "--url", store.url).must(78, about="dest add").text
    expect(set(kept) == {f"/{bundle.sha256}.bundle", f"/a/b/{bundle.sha256}.bundle"}, f"stored {list(kept)}")
    expect("names no bucket" in wrong, f"it says {wrong}")


def refused_key(bench):
    """`dest test` says why a key is refused, which the answer to HEAD cannot tell."""
    body = b"<Error><Code>InvalidAccessKeyId</Code><Message>no such key in our records</Message></Error>"
    with Scripted(lambda request: Reply(403, {"Content-Type": "application/xml"},
                                        b"" if request.method == "HEAD" else body)) as store:
        rig = bench.rig()
        rig.env |= ENVIRONMENT
        rig.dest("it", "s3", "--url", f"{store.url}/bucket")
        said = rig.run("dest", "test", "it").must(78, about="dest test").text
    expect("InvalidAccessKeyId" in said and "no such key in our records" in said, f"it says {said}")


TESTS = [
    ("credentials and regions, from variables and files", places),
    ("a profile with a credential_process, and profiles of other kinds", by_process),
    ("a bucket in the host name", bucket_in_the_host),
    ("dest test says why a key is refused", refused_key),
    ("a clock that is two hours off", skewed),
]
