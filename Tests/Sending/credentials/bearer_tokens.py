"""Bearer tokens from a file or a command: one new token after a 401; if that fails too, the destination is blocked."""
import shlex
import threading
import time

from Kit.servers.capture_api import Answer, CaptureAPI
from Kit.outcomes import IS_LONG, every, expect, long
from Kit.sending import wait_until
from Kit.servers.scripted import Reply, Scripted
from Sending.answers.tries import is_left, sent, some, token_file
from Sending.leftovers import cleaned, left



def write_token(rig, text):
    path = rig.out / "token"
    path.write_text(text)
    path.chmod(0o600)
    return path


def counting(rig, *tokens):
    """Makes a command that prints several tokens and repeats the last, and a file with a line for each run."""
    for number, token in enumerate(tokens, 1):
        (rig.out / f"token{number}").write_text(token + "\n")
    log = rig.out / "runs"
    log.touch()
    script = rig.out / "token.sh"
    script.write_text(f'cd {shlex.quote(str(rig.out))}\necho run >> runs\nn=$(wc -l < runs)\n'
                      f'[ "$n" -gt {len(tokens)} ] && n={len(tokens)}\ncat "token$n"\n')
    return f"sh {shlex.quote(str(script))}", lambda: len(log.read_text().splitlines())


def judge_held(rig, api, requests, about=""):
    """Checks that nothing landed, no attempt was used, and the destination is blocked with a reason."""
    rows = rig.deliveries()
    expect({(row.state, row.attempts) for row in rows} == {("pending", 0)}, f"{about}: {rows[0].state}, "
           f"{rows[0].attempts} attempts")
    expect(not api.stored and len(api.requests) <= requests, f"{about}: {len(api.requests)} requests")
    destination = rig.destination()
    expect(destination.blocked_until and destination.blocked_message, f"{about}: the destination is not held")
    expect(destination.blocked_reason in ("credentials", "local"), f"{about}: blocked as {destination.blocked_reason}")


def from_a_file(bench):
    """Uploads and polls carry the token; the question about a file does not."""
    with CaptureAPI(bench.public) as api:
        api.token, api.verdicts = "abc.DEF-1~2+3/4==", ["complete"] if IS_LONG else []
        api.answer(Answer(when="stored", then="cut"))
        options = token_file(bench, api.token)
        sent(bench, "http", api.url, *options, bundles=bench.stock[:2], mode="--until-empty", code=0)
        api.holds(*map(bench.photo, bench.stock[:2]))
        expect(api.seen("verify"), "the lost answer was not asked for")
        api.content()


@long
def open_to_others(bench):
    """A file that others can read is used, with one warning in each run that says what to do."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.token, secret = "one", rig.out / "passphrase"
        token = write_token(rig, "one\n")
        secret.write_text("not needed\n")
        token.chmod(0o644)
        secret.chmod(0o640)
        texts = {"dest add": rig.http(api.url, "--token-file", token, "--passphrase-file", secret).text,
                 "dest set": rig.run("dest", "set", "api", "--jitter", "0%").must(0).text,
                 "dest test": rig.run("dest", "test", "api").must(0).text}
        for command, text in texts.items():
            for path in (token, secret):
                expect(text.count(f"warning: {path}: others can read") == 1, f"{command}: {text!r}")
                expect(f"hint: chmod 600 {path}" in text, f"{command}: no hint in {text!r}")
        rig.push(*bench.stock[:6])
        text = rig.send("--until-empty", code=0).text
        for path, mode in ((token, 644), (secret, 640)):
            advice = f"(mode {mode}), expected 600; chmod 600 {path}"
            expect(text.count(str(path)) == 2 and text.count(advice) == 1, f"run: {text!r}")
            path.chmod(0o600)
        rig.push(bench.stock[6])
        text = rig.send("--until-empty", code=0).text
        expect("warning" not in text, f"mode 600: {text!r}")


def rotated(bench):
    """If the token was renewed in the meantime, it is read again after the 401; the retry is immediate and free."""
    rig, gate = bench.rig(), threading.Event()
    with CaptureAPI(bench.public) as api:
        api.token = "two"
        path = write_token(rig, "one")
        api.answer(Answer(401, "TOKEN_INVALID", gate=gate))
        rig.http(api.url, "--token-file", path)
        rig.push(*bench.stock[:2])
        with rig.start("run") as running:
            wait_until(api.seen, "the first upload")
            path.write_text("two\r\n")
            gate.set()
            running.end().must(0)
        expect([request.status for request in api.seen()] == [401, 202, 202], "other answers")
        expect({row.attempts for row in rig.deliveries()} == {1}, "the old token used an attempt")


def single_flight(bench):
    """The command runs when a token is needed, and once for many requests. Four simultaneous transfers that get 401 run
    it once more, not four times."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.token = "new"
        command, runs = counting(rig, "old", "new", "never")
        rig.http(api.url, "--token-command", command, "--concurrency", "4")
        rig.send(code=0)
        expect(runs() == 0, "the command was run for nothing")
        bundles = bench.stock[:8]
        rig.push(*bundles)
        rig.send("--until-empty", code=0)
        api.holds(*map(bench.photo, bundles))
        expect(runs() == 2, f"the command ran {runs()} times instead of 2")
        expect({row.attempts for row in rig.deliveries()} == {1}, "the old token used an attempt")


def refused_for_ever(bench):
    """A 401 after the renewal blocks the destination after two requests; all captures land once the token is right."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.token = "right"
        path = write_token(rig, "sesame")
        rig.http(api.url, "--token-file", path)
        rig.push(*bench.stock[:3])
        result = rig.send("--until-empty", code=15)
        judge_held(rig, api, 2)
        expect(rig.destination().blocked_reason == "credentials", f"blocked as {rig.destination().blocked_reason}")
        expect("sesame" not in result.text + rig.destination().blocked_message, "the token is shown")
        path.write_text("right")
        rig.send("--until-empty", code=0)
        api.holds(*map(bench.photo, bench.stock[:3]))


def no_token(bench):
    """Without a usable token nothing is sent and the destination is blocked."""
    commands = {"exit 3": "echo sesame; exit 3", "a header in it": "printf 'a\\rX-Evil: 1'", "no output": "true",
                "killed": "kill -9 $$", "a megabyte": "head -c 1000000 /dev/zero | tr '\\0' s",
                "a letter that cannot be in a header": "printf 'sesame\\001'"}
    changes = {"a folder": lambda path: (path.unlink(), path.mkdir()), "empty": lambda path: path.write_text("")}

    def held(name, case):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            path = write_token(rig, "t")
            rig.http(api.url, *(("--token-file", path) if name in changes else ("--token-command", case)))
            rig.push(*bench.stock[:2])
            if name in changes:
                case(path)
            result = rig.send("--until-empty", code=(15, 78))
            judge_held(rig, api, 0, name)
            expect("sesame" not in result.text, "the output of the command is shown")

    every(some(changes, 1) | some(commands, 1), held)


def asked_once(bench):
    """If the command gives no token, the transfers that waited for it do not run it again."""
    rig, script = bench.rig(), "echo run >> runs; while [ ! -e go ]; do sleep 0.02; done; exit 1"
    with CaptureAPI(bench.public) as api:
        rig.http(api.url, "--token-command", script, "--concurrency", "4")
        rig.push(*bench.stock[:4])
        with rig.start("run", "--json") as running:
            wait_until(lambda: len(running.saw("attempt")) == 4, "four transfers to begin")
            time.sleep(0.2)  # the event comes just before the token is needed
            (rig.out / "go").touch()
            running.end().must(15, about="run")
        judge_held(rig, api, 0)
    expect((rig.out / "runs").read_text() == "run\n", f"the command ran {(rig.out / 'runs').read_text()!r}")


@long
def command_hangs(bench):
    """A command that hangs is killed after 30 seconds, with the processes that it started."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        rig.http(api.url, "--token-command", f"sleep 4242 & echo $$ $! > {rig.out}/pids; echo sesame; sleep 4242")
        rig.push(bench.stock[0])
        rig.send("--until-empty", code=15, seconds=120)
        judge_held(rig, api, 0)
    with cleaned(rig):
        expect((rig.out / "pids").exists(), "the command did not run")
        wait_until(lambda: not left(rig), "the command's child processes to end", seconds=20)


def header_cannot_be_broken(bench):
    """Text after a carriage return or line feed in the file never becomes a header."""
    with CaptureAPI(bench.public) as api:
        sent(bench, "http", api.url, *token_file(bench, "t\r\nX-Evil: 1\r"), code=(0, 15))
        expect(all("x-evil" not in request.headers for request in api.requests), "a second line became a header")


def copied_with_more(bench):
    """A token file that was copied with "Bearer " or a byte order mark says so, and nothing is sent."""
    cases = {"Bearer abc123": 'begins with "Bearer "', "\ufeffabc123": "begins with a byte order mark",
             "Authorization: Bearer abc123": "begins with a header name"}

    def judge(token, words):
        with Scripted(lambda _: Reply(500)) as server:
            rig = sent(bench, "put", server.url + "/{sha256}", *token_file(bench, token), code=15)
            expect(not server.requests, "something was sent")
        is_left(rig, "pending", 0, "local")
        expect(words in rig.said.text and "abc123" not in rig.said.text, f"run says {rig.said.text!r}")

    every(cases, judge)


TESTS = [
    ("a token file with too much before the token", copied_with_more),
    ("a token from a file is sent with uploads, and not with questions", from_a_file),
    ("files with secrets that others can read: a warning", open_to_others),
    ("a token that was renewed in the meantime uses no attempt", rotated),
    ("four transfers at once renew it once", single_flight),
    ("401 for ever: blocked after one renewal, nothing burned", refused_for_ever),
    ("a command that fails sends nothing", no_token),
    ("a command that fails or hangs is run once for all transfers", asked_once),
    ("a command that hangs is killed", command_hangs),
    ("no second header comes out of a token", header_cannot_be_broken),
]
