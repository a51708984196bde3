"""A pseudo-terminal and pyte: the judge checks what a person sees, and that the terminal is unchanged afterwards.

cryptography opens the key whose passphrase was typed.
"""
import os
import re
import shutil
import signal
import threading
import time

from cryptography.hazmat.primitives.serialization import load_pem_private_key

from bench import SAMPLE, Failed, expect
from terminals import INTERRUPTED, Terminal

SECRET = "correct h\u00f6rse \U0001f4f7"
NEW, AGAIN, ASK = "New passphrase: ", "Repeat the passphrase: ", "Passphrase of "
ESCAPE = b"\x1b"
MANY = 60


def _folder(bench, name):
    folder = bench.scratch(name)
    folder.chmod(0o700)
    return folder


def _sealed(bench):
    """Returns a key whose passphrase was typed, made once."""
    key = bench.folder / "typed/device.key"
    if not key.exists():
        _folder(bench, "typed")
        with Terminal(bench, "key", "new", "--passphrase", "--key", key) as terminal:
            terminal.answer(NEW, SECRET + "\n")
            terminal.answer(AGAIN, SECRET + "\n")
            code, shown, _, _ = terminal.end()
            expect(code == 0, f"key new --passphrase: exit {code}")
            expect(SECRET.encode() not in shown and terminal.echoes, "the passphrase is shown, or the echo stays off")
    return key


def key_new_asks(bench):
    key = _sealed(bench)
    load_pem_private_key(key.read_bytes(), SECRET.encode())
    expect(key.read_bytes().startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"), "the key is not encrypted")


def key_new_refuses(bench):
    for name, typed, code in (("two that differ", ["one\n", "two\n"], 77), ("nothing", ["\n"], 77),
                              ("Ctrl-D", ["\x04"], 77)):
        key = _folder(bench, "refused") / "device.key"
        with Terminal(bench, "key", "new", "--passphrase", "--key", key) as terminal:
            for prompt, text in zip((NEW, AGAIN), typed):
                terminal.answer(prompt, text)
            ended = terminal.end()[0]
            expect(ended == code and terminal.echoes, f"{name}: exit {ended}, echo {terminal.echoes}")
        expect(not key.exists(), f"{name}: a key was made")
    words = ["setsid", bench.binary, "key", "new", "--passphrase", "--key", key]
    result = bench.run(*words, input=b"x\nx\n", expected=None)
    expect(result.returncode == 77 and not key.exists(), f"without a terminal: exit {result.returncode}")


def pack_asks_once(bench):
    key = _sealed(bench)
    for name, words in (("pack", [SAMPLE, "-o", bench.folder / "typed.bundle", "--force"]),
                        ("pack of three", [*_raws(bench, 3), "--out-dir", bench.folder / "typed-out", "--force"])):
        with Terminal(bench, "pack", *words, "--key", key) as terminal:
            terminal.answer(ASK, SECRET + "\n")
            code, shown, _, _ = terminal.end()
            expect(code == 0, f"{name}: exit {code}: {shown[-200:]!r}")
            expect(ASK.encode() not in shown, f"{name}: asks again")
            expect(SECRET.encode() not in shown and terminal.echoes, f"{name}: shows it, or the echo stays off")
    # The streams are redirected, and the question still goes to the terminal from which the tool was started.
    with Terminal(bench, "pack", SAMPLE, "-o", "-", "--key", key, streams="") as terminal:
        terminal.answer(ASK, SECRET + "\n")
        code, shown, out, _ = terminal.end()
        expect(code == 0 and bench.write("typed-pipe.bundle", out), f"to a pipe: exit {code}")
        expect(bench.verify(bench.folder / "typed-pipe.bundle") == 3, "to a pipe: the output is not a bundle")


def sign_request_asks(bench):
    key, body = _sealed(bench), bench.write("typed.body", b"body")
    words = ["sign-request", body, "--device-id", "3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c", "--key", key]
    with Terminal(bench, *words, streams="stdin stderr") as terminal:
        terminal.answer(ASK, SECRET + "\n")
        code, _, out, _ = terminal.end()
        expect(code == 0 and out.startswith(b"X-Device-Id: ") and out.count(b"\n") == 3, f"exit {code}, or other lines")


def wrong_passphrase(bench):
    key = _sealed(bench)
    for typed in ("wrong\n", SECRET[:-1] + "\n", SECRET + " \n", "\n", "\x04"):
        target = bench.folder / "wrong.bundle"
        with Terminal(bench, "pack", SAMPLE, "-o", target, "--key", key) as terminal:
            terminal.answer(ASK, typed)
            code, shown, _, _ = terminal.end()
            expect(code == 77 and terminal.echoes, f"{typed!r}: exit {code}, echo {terminal.echoes}")
            expect(str(key).encode() in shown.replace(b"\r\n", b""), f"{typed!r}: the message does not name the key")
        expect(not target.exists(), f"{typed!r}: a bundle was made")


def leaves_the_echo_on(bench):
    """If Ctrl-C or a signal ends the question, even while the echo is off, no file is made and the echo is on again."""
    key, target = _sealed(bench), bench.folder / "ended.bundle"
    problems = []
    for name, end in (("Ctrl-C", Terminal.interrupt), ("SIGINT", lambda it: it.signal(signal.SIGINT)),
                      ("SIGTERM", lambda it: it.signal(signal.SIGTERM)),
                      ("SIGHUP", lambda it: it.signal(signal.SIGHUP))):
        for words in (["pack", SAMPLE, "-o", target, "--key", key], ["key", "new", "--passphrase", "--key", target]):
            with Terminal(bench, *words) as terminal:
                terminal.wait_for(ASK if words[0] == "pack" else NEW)
                terminal.hidden()
                end(terminal)
                try:
                    code = terminal.end(3)[0]
                    expect(code != 0 and not target.exists(), f"exit {code}, or something was made")
                    expect(terminal.echoes, f"the echo stays off (exit {code})")
                except Failed as reason:
                    problems.append(f"{name} in {words[0]}: {reason}")
    expect(not problems, "; ".join(problems))


def interrupted_by_keyboard(bench):
    """Spec/command-line.md section 2: an interrupt gives 130 by a signal, so that a script around it ends too."""
    target = bench.folder / "ended.bundle"
    with Terminal(bench, "pack", SAMPLE, "-o", target, "--key", _sealed(bench)) as terminal:
        terminal.wait_for(ASK)
        terminal.hidden()
        terminal.interrupt()
        code = terminal.end(3)[0]
        expect(code in INTERRUPTED, f"Ctrl-C at the question: exit {code}")


def _raws(bench, count):
    folder = bench.folder / f"typed-raws{count}"
    for number in range(count):
        if not (folder / str(number)).exists():
            shutil.copytree(SAMPLE, folder / str(number))
    return [folder / str(number) for number in range(count)]


def _slow_verify(bench, terminal_streams, environment=None, columns=80):
    """`verify` of many files on a terminal; one input is slow, so that there is time for a progress line."""
    names = []
    for number in range(MANY):
        names.append(bench.folder / f"slow{number}.bundle")
        if not names[-1].exists():
            names[-1].write_bytes(bench.pack().data)
    slow = bench.folder / "slow.fifo"
    slow.unlink(missing_ok=True)
    os.mkfifo(slow)

    def feed():
        time.sleep(0.6)
        with open(slow, "wb") as pipe:
            pipe.write(bench.pack().data)

    thread = threading.Thread(target=feed, daemon=True)
    with Terminal(bench, "verify", "--jobs", 2, *names[:30], slow, *names[30:], streams=terminal_streams,
                  environment=environment, columns=columns) as terminal:
        thread.start()
        ended = terminal.end(30)
        lines = terminal.lines
    thread.join(5)
    return ended, lines


PROGRESS = re.compile(rb"\d+ of \d+ bundles, ")


def progress(bench):
    (code, shown, out, _), lines = _slow_verify(bench, "stderr")
    expect(code == 0 and PROGRESS.search(shown), f"exit {code}, no progress on the terminal: {shown[-200:]!r}")
    expect(not PROGRESS.search(out) and ESCAPE not in out, "progress or escapes are in the data")
    expect(out.count(b"\n") == MANY + 2, f"{out.count(bytes([10]))} lines of data")
    expect(not lines, f"a person still sees {lines}")
    (code, shown, out, err), _ = _slow_verify(bench, "stdin stdout")
    expect(code == 0 and not PROGRESS.search(shown + err), "progress although standard error is a pipe")
    expect(ESCAPE not in err and b"\r" not in err, "escapes in a pipe")
    (code, shown, _, _), lines = _slow_verify(bench, "stdin stdout stderr")
    whole = [line for line in lines if re.search(r"slow\S*: verified|bundles: \d+ verified$", line)]
    expect(code == 0 and len(whole) == len(lines), f"a person sees {set(lines) - set(whole)} between the lines")
    (code, shown, _, _), _ = _slow_verify(bench, "stderr", columns=30)
    pieces = [piece for piece in re.split(rb"\r\x1b\[K|\r\n", shown) if piece]
    expect(all(len(piece) < 30 for piece in pieces), "a progress line is wider than the terminal")
    (code, shown, _, _), _ = _slow_verify(bench, "stderr", columns=60)
    expect(re.search(rb"\d of \d+ bundles, \d+ s left, \d+ a second", shown), f"60 columns: {shown[-200:]!r}")


def no_colour(bench):
    """With NO_COLOR (no-color.org) there are no colours; a dumb terminal gets no escape sequence at all."""
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        for words in (["verify", bench.pack().path], ["show", bench.pack().path], ["verify", "nothing.bundle"],
                      ["key", "show"], ["trust", "list"], ["--help"]):
            with Terminal(bench, *words, environment=environment) as terminal:
                _, shown, _, _ = terminal.end()
            expect(ESCAPE not in shown, f"{environment}: {words[0]} writes {shown[:80]!r}")
        (_, shown, _, _), _ = _slow_verify(bench, "stdin stdout stderr", environment)
        expect(not re.search(rb"\x1b\[[0-9;]*m", shown), f"{environment}: colour between the lines")
        expect("TERM" not in environment or ESCAPE not in shown, "TERM=dumb: escape sequences of the progress line")
    for words in (["verify", bench.pack().path], ["verify", "nothing.bundle"], ["show", bench.pack().path]):
        result = bench.capbundle(*words, expected=None)
        expect(ESCAPE not in result.stdout + result.stderr, f"{words[0]} writes escapes into a pipe")


def colour(bench):
    """Spec/command-line.md section 1: on a terminal a verdict and the words `error` and `warning` have a colour."""
    good, bad = bench.pack().path, bench.write("bad.bundle", bench.pack().spoilt("photo.jpg", 999))
    for words, streams, word in ((["verify", good], "stdout", b"verified"), (["verify", bad], "stdout", b"ALTERED"),
                                 (["verify", good, bad], "stdout", b"verified"),
                                 (["verify", "nothing.bundle"], "stderr", b"error"),
                                 (["key", "show", "--key", "nothing"], "stderr", b"error")):
        with Terminal(bench, *words, streams=f"stdin {streams}") as terminal:
            _, shown, out, err = terminal.end()
        expect(re.search(rb"\x1b\[[0-9;]+m[^\x1b]*" + word, shown), f"{words[0]}: {word.decode()} has no colour")
        expect(b"\x1b[0m" in shown, f"{words[0]}: the colour never ends")
        expect(ESCAPE not in out + err, f"{words[0]}: escapes in a stream that is not a terminal")
    with Terminal(bench, "verify", "--json", good) as terminal:
        shown = terminal.end()[1]
    expect(ESCAPE not in shown, "JSON has escapes")


def refuses_terminals(bench):
    """Binary output is not written to a terminal."""
    bundle = bench.pack().path
    body = bench.folder / "terminal.body"
    bench.capbundle("multipart", bundle, "-o", body, "--force")
    for words in (["pack", SAMPLE, "-o", "-"], ["multipart", bundle, "-o", "-"], ["from-body", body, "-o", "-"],
                  ["extract", bundle, "photo.jpg"], ["extract", bundle, "photo.jpg", "-o", "-"]):
        with Terminal(bench, *words) as terminal:
            code, shown, _, _ = terminal.end()
        expect(code == 64 and b"terminal" in shown and len(shown) < 500, f"{words[0]}: exit {code}")


JUDGES = [
    ("a terminal: key new --passphrase asks twice and shows nothing; cryptography opens the key", key_new_asks),
    ("a terminal: passphrases that differ, are empty or given up make no key", key_new_refuses),
    ("a terminal: pack asks once for the passphrase, with many captures and redirected streams too", pack_asks_once),
    ("a terminal: sign-request asks while its output goes to a pipe", sign_request_asks),
    ("a terminal: a wrong passphrase is 77", wrong_passphrase),
    ("a terminal: the echo is on again after Ctrl-C, SIGINT, SIGTERM and SIGHUP", leaves_the_echo_on),
    ("a terminal: Ctrl-C at the question is 130", interrupted_by_keyboard),
    ("a terminal: the progress line is only for people, and disappears at the end", progress),
    ("a terminal: NO_COLOR, TERM=dumb and pipes get no escape sequences", no_colour),
    ("a terminal: verdicts and errors have a colour, and JSON has none", colour),
    ("a terminal: no bundle, body or entry is written to it", refuses_terminals),
]
