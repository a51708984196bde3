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

from Judges.bench import SAMPLE, expect
from Kit.outcomes import every
from Kit.rigs import write_raw
from Kit.sending import DEVICE
from Kit.terminals import INTERRUPTED, Terminal, played

SECRET = "correct h\u00f6rse \U0001f4f7"
NEW, AGAIN, ASK = "New passphrase: ", "Repeat the passphrase: ", "Passphrase of "
ESCAPE = b"\x1b"
MANY = 60


def _sealed(bench):
    """Returns a key whose passphrase was typed, made once: `key new` asks twice, and cryptography opens the key."""
    key = bench.folder / "typed/device.key"
    if not key.exists():
        bench.scratch("typed")
        code, shown, _, _ = played(bench, "key", "new", "--passphrase", "--key", key,
                                   answers=[(NEW, SECRET + "\n"), (AGAIN, SECRET + "\n")])
        expect(code == 0 and SECRET.encode() not in shown, f"key new --passphrase: exit {code}, or it is shown")
        load_pem_private_key(key.read_bytes(), SECRET.encode())
        expect(b"BEGIN ENCRYPTED PRIVATE KEY" in key.read_bytes(), "the key is not encrypted")
    return key


def key_new_refuses(bench):
    key = bench.scratch("refused") / "device.key"
    for name, typed in (("two that differ", ["one\n", "two\n"]), ("nothing", ["\n"]), ("Ctrl-D", ["\x04"])):
        ended = played(bench, "key", "new", "--passphrase", "--key", key, answers=zip((NEW, AGAIN), typed))
        expect(ended[0] == 77 and not key.exists(), f"{name}: exit {ended[0]}, or a key was made")
    bench.refused(77, "key", "new", "--passphrase", "--key", key, input=b"x\nx\n")
    expect(not key.exists(), "without a terminal: a key was made")


def pack_asks_once(bench):
    key, other = _sealed(bench), write_raw(bench.folder / "typed-raw")
    for name, words in (("pack", [SAMPLE, "-o", bench.folder / "typed.bundle", "--force"]),
                        ("pack of two", [SAMPLE, other, "--out-dir", bench.folder / "typed-out", "--force"])):
        code, shown, _, _ = played(bench, "pack", *words, "--key", key, answers=[(ASK, SECRET + "\n")])
        expect(code == 0, f"{name}: exit {code}: {shown[-200:]!r}")
        expect(ASK.encode() not in shown and SECRET.encode() not in shown, f"{name}: asks again, or shows it")
    # The streams are redirected, and the question still goes to the terminal from which the tool was started.
    code, _, out, _ = played(bench, "pack", SAMPLE, "-o", "-", "--key", key, streams="", answers=[(ASK, SECRET + "\n")])
    expect(code == 0, f"to a pipe: exit {code}")
    expect(bench.verify(bench.write("typed-pipe.bundle", out)) == 3, "to a pipe: the output is not a bundle")
    words = ["sign-request", bench.write("typed.body", b"body"), "--device-id", DEVICE, "--key", key]
    code, _, out, _ = played(bench, *words, streams="stdin stderr", answers=[(ASK, SECRET + "\n")])
    expect(code == 0 and out.startswith(b"X-Device-Id: ") and out.count(b"\n") == 3, f"exit {code}, or other lines")


def wrong_passphrase(bench):
    key, target = _sealed(bench), bench.folder / "wrong.bundle"
    for typed in ("wrong\n", SECRET[:-1] + "\n", SECRET + " \n", "\n", "\x04"):
        code, shown, _, _ = played(bench, "pack", SAMPLE, "-o", target, "--key", key, answers=[(ASK, typed)])
        expect(code == 77 and not target.exists(), f"{typed!r}: exit {code}, or a bundle was made")
        expect(str(key).encode() in shown.replace(b"\r\n", b""), f"{typed!r}: the message does not name the key")


def passwd_asks(bench):
    """key passwd asks for the old passphrase once and for the new one twice; what it refuses changes nothing."""
    folder = bench.scratch("passwd")
    for end in ("", ".pub", ".state"):
        shutil.copy(f"{_sealed(bench)}{end}", f"{folder}/device.key{end}")
    key = folder / "device.key"
    before = key.read_bytes()
    for name, typed in (("a wrong one", ["wrong\n"]), ("two that differ", [SECRET + "\n", "one\n", "two\n"])):
        ended = played(bench, "key", "passwd", "--key", key, answers=zip((ASK, NEW, AGAIN), typed))
        expect(ended[0] == 77 and key.read_bytes() == before, f"{name}: exit {ended[0]}, or the key has changed")
    code, shown, _, _ = played(bench, "key", "passwd", "--key", key,
                               answers=zip((ASK, NEW, AGAIN), [SECRET + "\n", "other\n", "other\n"]))
    expect(code == 0 and b"other" not in shown and SECRET.encode() not in shown, f"exit {code}, or it is shown")
    load_pem_private_key(key.read_bytes(), b"other")


def leaves_the_echo_on(bench):
    """If Ctrl-C or a signal ends the question, even while the echo is off, no file is made and the echo is on again.

    Spec/command-line.md section 2: an interrupt gives 130 by a signal, so that a script around it ends too.
    """
    key, target = _sealed(bench), bench.folder / "ended.bundle"

    def ends(_, case):
        words, end, codes = case
        with Terminal(bench, *words) as terminal:
            terminal.wait_for(ASK if words[0] == "pack" else NEW)
            terminal.hidden()
            end(terminal)
            code = terminal.end(3)[0]
            expect(code in codes if codes else code, f"exit {code}")
            expect(not target.exists(), "something was made")
            expect(terminal.echoes, f"the echo stays off (exit {code})")

    ways = {"Ctrl-C": (Terminal.interrupt, INTERRUPTED)}
    ways |= {f"SIG{name}": (lambda it, name=name: it.signal(getattr(signal, f"SIG{name}")), None)
             for name in ("INT", "TERM", "HUP")}
    commands = (["pack", SAMPLE, "-o", target, "--key", key], ["key", "new", "--passphrase", "--key", target])
    every({f"{name} in {words[0]}": (words, *how) for name, how in ways.items() for words in commands}, ends)


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
    (code, shown, _, _), lines = _slow_verify(bench, "stdin stdout stderr", columns=160)
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
            _, shown, _, _ = played(bench, *words, environment=environment)
            expect(ESCAPE not in shown, f"{environment}: {words[0]} writes {shown[:80]!r}")
        (_, shown, _, _), _ = _slow_verify(bench, "stdin stdout stderr", environment)
        expect(not re.search(rb"\x1b\[[0-9;]*m", shown), f"{environment}: colour between the lines")
        expect("TERM" not in environment or ESCAPE not in shown, "TERM=dumb: escape sequences of the progress line")
    for words in (["verify", bench.pack().path], ["verify", "nothing.bundle"], ["show", bench.pack().path]):
        result = bench.capbundle(*words, code=None)
        expect(ESCAPE not in result.out + result.err, f"{words[0]} writes escapes into a pipe")


def colour(bench):
    """Spec/command-line.md section 1: on a terminal a verdict and the words `error` and `warning` have a colour."""
    good, bad = bench.pack().path, bench.write("bad.bundle", bench.pack().spoilt("photo.jpg", 999))
    for words, streams, word in ((["verify", good], "stdout", b"verified"), (["verify", bad], "stdout", b"ALTERED"),
                                 (["verify", good, bad], "stdout", b"verified"),
                                 (["verify", "nothing.bundle"], "stderr", b"error"),
                                 (["key", "show", "--key", "nothing"], "stderr", b"error")):
        _, shown, out, err = played(bench, *words, streams=f"stdin {streams}")
        expect(re.search(rb"\x1b\[[0-9;]+m[^\x1b]*" + word, shown), f"{words[0]}: {word.decode()} has no colour")
        expect(b"\x1b[0m" in shown, f"{words[0]}: the colour never ends")
        expect(ESCAPE not in out + err, f"{words[0]}: escapes in a stream that is not a terminal")
    expect(ESCAPE not in played(bench, "verify", "--json", good)[1], "JSON has escapes")


def refuses_terminals(bench):
    """Binary output is not written to a terminal."""
    bundle = bench.pack().path
    body = bench.folder / "terminal.body"
    bench.capbundle("multipart", bundle, "-o", body, "--force")
    for words in (["pack", SAMPLE, "-o", "-"], ["multipart", bundle, "-o", "-"], ["from-body", body, "-o", "-"],
                  ["extract", bundle, "photo.jpg"], ["extract", bundle, "photo.jpg", "-o", "-"],
                  ["depth", bundle, "--image", "-"]):
        code, shown, _, _ = played(bench, *words)
        expect(code == 64 and b"terminal" in shown and len(shown) < 500, f"{words[0]}: exit {code}")


TESTS = [
    ("a terminal: key new --passphrase asks twice and shows nothing; cryptography opens the key", _sealed),
    ("a terminal: passphrases that differ, are empty or given up make no key", key_new_refuses),
    ("a terminal: pack asks once for the passphrase, for many captures and redirected streams; so does sign-request",
     pack_asks_once),
    ("a terminal: a wrong passphrase is 77", wrong_passphrase),
    ("a terminal: key passwd asks for the old passphrase once and for the new one twice", passwd_asks),
    ("a terminal: Ctrl-C at the question is 130; the echo is on again after it, SIGINT, SIGTERM and SIGHUP",
     leaves_the_echo_on),
    ("a terminal: the progress line is only for people, and disappears at the end", progress),
    ("a terminal: NO_COLOR, TERM=dumb and pipes get no escape sequences", no_colour),
    ("a terminal: verdicts and errors have a colour, and JSON has none", colour),
    ("a terminal: no bundle, body, entry or picture is written to it", refuses_terminals),
]
