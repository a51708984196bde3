"""s3: where credentials and region come from, which headers a request has, and a wrong clock."""
import base64
import hashlib
import re
import shutil

from Kit.outcomes import Skipped, every, expect
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
        return Reply(200, {"Content-Length": str(len(puts[-1].body)), "x-amz-checksum-sha256": checksum})


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
    if not shutil.which("faketime"):
        raise Skipped("faketime is not installed (Debian's package of that name)")
    place, bundles = Place(bench), bench.stock[:2]
    rig = place.rig(*bundles)
    rig.before = ["faketime", "--exclude-monotonic", "-f", "+2h"]
    said = rig.send("--until-empty", code=15, about="run, which is done but for its own clock").text
    expect("the clock differs by 1 h 59 min" in said or "the clock differs by 2 h" in said, f"run says {said!r}")
    completed(rig, *bundles)
    place.holds(*bundles)


TESTS = [
    ("credentials and regions, from variables and files", places),
    ("a clock that is two hours off", skewed),
]
