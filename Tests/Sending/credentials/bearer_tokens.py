"""Bearer tokens from a file or a command: one new token after a 401; if that fails too, the destination is blocked."""
import contextlib
import pathlib
import shlex

from capture_api import Answer, CaptureAPI
from checks import every, expect
from rigs import wait_until

SECONDS = 40


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


def judge_held(rig, api, bundles, requests, about=""):
    """Checks that nothing landed, no attempt was used, and the destination is blocked with a reason."""
    rows = rig.deliveries()
    expect({(row.state, row.attempts) for row in rows} == {("pending", 0)}, f"{about}: {rows[0].state}, "
           f"{rows[0].attempts} attempts")
    expect(not api.stored and len(api.requests) <= requests, f"{about}: {len(api.requests)} requests")
    destination = rig.destination()
    expect(destination.blocked_until and destination.blocked_message, f"{about}: the destination is not held")
    expect(destination.blocked_reason in ("credentials", "local"), f"{about}: blocked as {destination.blocked_reason}")
    expect(len(rows) == bundles, f"{about}: {len(rows)} deliveries")


def from_a_file(bench):
    """Uploads and polls carry the token; the question about a file does not."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.token, api.verdicts = "abc.DEF-1~2+3/4==", ["complete"]
        api.answer(Answer(when="stored", then="cut"))
        rig.http(api.url, "--token-file", write_token(rig, "abc.DEF-1~2+3/4==\n"))
        rig.push(*bench.stock[:2])
        rig.send("--until-empty", code=0)
        api.holds(*map(bench.photo, bench.stock[:2]))
        expect(api.seen("verify"), "the lost answer was not asked for")
        api.content()


def open_to_others(bench):
    """A file that others can read is used, with one warning in each run that says what to do."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.token = "one"
        token = write_token(rig, "one\n")
        token.chmod(0o644)
        secret = rig.out / "passphrase"
        secret.write_text("not needed\n")
        secret.chmod(0o640)
        added = rig.http(api.url, "--token-file", token, "--passphrase-file", secret)
        for command, text in (("add", added.text), ("set", rig.run("dest", "set", "api", "--jitter", "0%").must(0).text),
                              ("test", rig.run("dest", "test", "api").must(0).text)):
            for path in (token, secret):
                expect(text.count(f"warning: {path}: others can read") == 1, f"dest {command}: {text!r}")
                expect(f"hint: chmod 600 {path}" in text, f"dest {command}: no hint in {text!r}")
        rig.push(*bench.bundles(6))
        text = rig.send("--until-empty", code=0).text
        for path, mode in ((token, 644), (secret, 640)):
            expect(text.count(str(path)) == 2 and text.count(f"(mode {mode}), expected 600; chmod 600 {path}") == 1,
                   f"run: {text!r}")
        token.chmod(0o600)
        secret.chmod(0o600)
        rig.push(bench.bundles(1, 6)[0])
        text = rig.send("--until-empty", code=0).text
        expect("warning" not in text, f"mode 600: {text!r}")


def rotated(bench):
    """If the token was renewed in the meantime, it is read again after the 401; the retry is immediate and free."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.token = "one"
        path = write_token(rig, "one")
        rig.http(api.url, "--token-file", path)
        rig.push(bench.stock[0])
        with rig.start("run", "--watch") as running:
            rig.run("wait", "--all", "--timeout", "60s", seconds=70).must(0, about="the first token")
            api.token = "two"
            path.write_text("two\r\n")
            rig.push(*bench.stock[1:4])
            rig.run("wait", "--all", "--timeout", "60s", seconds=70).must(0, about="the second token")
            running.stop()
        expect([request.status for request in api.seen()] == [202, 401, 202, 202, 202], "other answers")
        expect({row.attempts for row in rig.deliveries()} == {1}, "the old token used an attempt")


def single_flight(bench):
    """Four simultaneous transfers that get 401 run the command once more, not four times."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.token = "new"
        command, runs = counting(rig, "old", "new", "never")
        rig.http(api.url, "--token-command", command, "--concurrency", "4")
        bundles = bench.stock[:8]
        rig.push(*bundles)
        rig.send("--until-empty", code=0)
        api.holds(*map(bench.photo, bundles))
        expect(runs() == 2, f"the command ran {runs()} times instead of 2")
        expect({row.attempts for row in rig.deliveries()} == {1}, "the old token used an attempt")


def lazily(bench):
    """The command runs only when a token is needed, and once for many requests."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.token = "t"
        command, runs = counting(rig, "t")
        rig.http(api.url, "--token-command", command)
        rig.send(code=0)
        expect(runs() == 0, "the command was run for nothing")
        rig.push(*bench.stock[:3])
        rig.send(code=0)
        expect(runs() == 1, f"the command ran {runs()} times for three requests")


def refused_for_ever(bench):
    """A 401 after the renewal blocks the destination after two requests; all captures land once the token is right."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.token = "right"
        path = write_token(rig, "sesame")
        rig.http(api.url, "--token-file", path)
        rig.push(*bench.stock[:3])
        result = rig.send("--until-empty", code=15)
        judge_held(rig, api, 3, 2)
        expect(rig.destination().blocked_reason == "credentials", f"blocked as {rig.destination().blocked_reason}")
        expect("sesame" not in result.text + rig.destination().blocked_message, "the token is shown")
        path.write_text("right")
        rig.send("--until-empty", code=0)
        api.holds(*map(bench.photo, bench.stock[:3]))


def command_fails(bench):
    """If the command fails, prints nothing or prints too much, nothing is sent and the destination is blocked."""
    def held(name, command):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            rig.http(api.url, "--token-command", command)
            rig.push(*bench.stock[:2])
            result = rig.send("--until-empty", code=15)
            judge_held(rig, api, 2, 0, name)
            expect("sesame" not in result.text, "the output of the command is shown")

    every({"exit 3": "echo sesame; exit 3", "no output": "true", "an empty line": "echo",
           "no command": "/nothing/there", "a megabyte": "head -c 1000000 /dev/zero | tr '\\0' s",
           "a letter that cannot be in a header": "printf 'sesame\\001'", "a header in it": "printf 'a\\rX-Evil: 1'",
           "killed": "kill -9 $$"}, held)


def command_hangs(bench):
    """A command that hangs is killed after 30 seconds, with the processes that it started."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        rig.http(api.url, "--token-command", "echo $$ > pid; sleep 3217 & echo sesame; sleep 3217")
        rig.push(bench.stock[0])
        rig.send("--until-empty", code=15, seconds=120)
        judge_held(rig, api, 1, 0)
    wait_until(lambda: not alive("sleep\x003217\0"), "the command's child processes to end", seconds=20)


def alive(words):
    """Returns the processes whose command lines contain these words, each ended by NUL."""
    found = []
    for place in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if words in place.read_text():
                found.append(place)
    return found


def file_goes_away(bench):
    """A missing, empty or unreadable token file blocks the destination; nothing is sent and no attempt is used."""
    def held(name, change):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            path = write_token(rig, "t")
            rig.http(api.url, "--token-file", path)
            rig.push(bench.stock[0])
            change(path)
            rig.send("--until-empty", code=(15, 78), about=name)
            judge_held(rig, api, 1, 0, name)

    every({"gone": lambda path: path.unlink(), "empty": lambda path: path.write_text(""),
           "a folder": lambda path: (path.unlink(), path.mkdir())}, held)


def header_cannot_be_broken(bench):
    """Text after a carriage return or line feed in the file never becomes a header."""
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        rig.http(api.url, "--token-file", write_token(rig, "t\r\nX-Evil: 1\r\n"))
        rig.push(bench.stock[0])
        rig.send("--until-empty", code=(0, 15))
        expect(all("x-evil" not in request.headers for request in api.requests), "a second line became a header")


FAMILY = [
    ("a token from a file is sent with uploads, and not with questions", from_a_file),
    ("files with secrets that others can read: a warning", open_to_others),
    ("a token that was renewed in the meantime uses no attempt", rotated),
    ("four transfers at once renew it once", single_flight),
    ("the command runs only when a token is needed, and once", lazily),
    ("401 for ever: blocked after one renewal, nothing burned", refused_for_ever),
    ("a command that fails sends nothing", command_fails),
    ("a command that hangs is killed", command_hangs),
    ("a missing, empty or unreadable token file", file_goes_away),
    ("no second header comes out of a token", header_cannot_be_broken),
]
