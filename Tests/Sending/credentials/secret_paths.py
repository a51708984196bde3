"""--secret-path: a URL whose path grants access is used, and no output shows the path."""
from capture_api import Answer, CaptureAPI
from checks import every, expect
from scripted import Reply, Scripted, in_json
from secrecy import outputs

SECONDS = 25
SECRET = "k9x-drop-7Qv2"


def judged(rig, bundle, name, *said):
    """Checks that the path is in no output, and in the database only in the settings of the destination."""
    texts = {f"output {number}": one.out + one.err for number, one in enumerate(said)} | outputs(rig, bundle, name)
    for words, text in texts.items():
        expect(SECRET.encode() not in text, f"{words} shows the path: {text[:300]!r}")
    with rig.database() as database:
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            if table != "destinations":
                expect(SECRET not in str(database.execute(f'SELECT * FROM "{table}"').fetchall()), f"it is in {table}")


def put(bench):
    """put: the path stays secret after a success, a refusal that quotes it, a redirect, and without a server."""
    bundle = bench.stock[0]
    text = {"Content-Type": "text/plain"}

    def away(request):
        return Reply(302, {"Location": f"/{SECRET}/login"})

    ends = {"landed": lambda request: Reply(201 if request.method == "PUT" else 405),
            "refused": lambda request: Reply(400, text, f"no {request.path}".encode()),
            "refused, a part of it": lambda request: Reply(403, text, f"no {SECRET} here".encode()),
            "a conflict": lambda request: Reply(409 if request.method == "PUT" else 200, {}, b"x"),
            "led elsewhere": away, "nobody there": lambda request: Reply(lost=True)}

    def judge(name, answer):
        with Scripted(answer) as server:
            rig = bench.rig()
            added = rig.dest("web", "put", "--url", f"{server.url}/{SECRET}/{{sha256}}", "--secret-path", "--retry", "0,600",
                             "--session-end-url", f"{server.url}/{SECRET}/end")
            rig.push(bundle, options=("--session", "roof"))
            rig.run("session", "end", "roof").must(0, about="session end")
            said = [added, rig.send("--json", "--once"), rig.run("dest", "test", "web"), rig.run("check", "--remote")]
            expect(server.seen("PUT")[0].path == f"/{SECRET}/{bundle.sha256}", "it was sent elsewhere")
        judged(rig, bundle, "web", *said)
        expect(server.url.encode() in rig.run("dest", "show", "web").out, "the server is not named")

    every(ends, judge)


def fetched(bench):
    """put: the path of a URL from an endpoint stays secret."""
    bundle = bench.stock[0]
    with Scripted(None) as server:
        url = f"{server.url}/{SECRET}/x"
        server.answer = lambda request: (in_json({"url": url}) if request.method == "POST"
                                         else Reply(201 if request.method == "PUT" else 405))
        rig = bench.rig()
        rig.dest("web", "put", "--url-endpoint", f"{server.url}/{SECRET}/ask", "--secret-path")
        rig.push(bundle)
        said = rig.send("--json", code=0)
    judged(rig, bundle, "web", said)
    expect(rig.receipt(bundle)["url"] == f"{server.url}/…", f"the receipt is {rig.receipt(bundle)}")


def s3(bench):
    """s3: the path stays secret after a success and after a conflict, whose message names the object."""
    bundle = bench.stock[0]

    def judge(name, length):
        def answer(request):
            return Reply(200, {"Content-Length": str(length), "ETag": '"x"'} if request.method == "HEAD" else {},
                         bundle.data if request.method == "GET" else b"")

        with Scripted(answer) as server:
            rig = bench.rig()
            rig.env |= {"AWS_ACCESS_KEY_ID": "AKSECRET", "AWS_SECRET_ACCESS_KEY": "secret"}
            rig.dest("s3", "s3", "--url", f"{server.url}/bucket/{SECRET}", "--secret-path")
            rig.push(bundle)
            said = rig.send("--json")
        judged(rig, bundle, "s3", said)

    every({"landed": len(bundle.data), "a conflict": 7}, judge)


def http(bench):
    """http: the path stays secret when a server quotes it in its answers and links."""
    bundle = bench.stock[0]
    yes = {"data": {"capture_id": "c-1", "status": "complete", "verification_url": f"https://a.example/{SECRET}/c-1"}}
    no = {"error": {"code": "NOT_HERE", "message": f"no such place: /{SECRET}/captures"}}

    def judge(name, says):
        with CaptureAPI(bench.public) as api:
            api.always(says)
            rig = bench.rig()
            rig.http(f"{api.url}/{SECRET}/captures", "--verify-url", f"{api.url}/{SECRET}/verify-file", "--secret-path",
                     retry="0,600")
            rig.push(bundle)
            said = rig.send("--json", "--once")
        judged(rig, bundle, "api", said)

    every({"landed": Answer(202, body=yes), "refused": Answer(422, body=no), "broken": Answer(500, body=no)}, judge)


def shown_again(bench):
    """--no-secret-path removes the setting; a folder does not have it."""
    rig = bench.rig()
    rig.dest("web", "put", "--url", f"http://127.0.0.1:9/{SECRET}/{{sha256}}", "--secret-path")
    expect(rig.run("dest", "list").out.split() == [b"web", b"default", b"put", "http://127.0.0.1:9/…".encode()],
           f"dest list says {rig.run('dest', 'list').out!r}")
    rig.run("dest", "set", "web", "--no-secret-path").must(0, about="dest set")
    expect(SECRET.encode() in rig.run("dest", "show", "web").out, "the path is still hidden")
    rig.dest("disk", "folder", "--path", str(rig.out), "--secret-path", code=78)


FAMILY = [
    ("put: no output shows the path, whatever the result", put),
    ("put: no output shows the path of a fetched URL", fetched),
    ("s3: no output shows the path", s3),
    ("http: no output shows the path", http),
    ("--no-secret-path shows it again", shown_again),
]
