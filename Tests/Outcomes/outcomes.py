"""How the Python tests report results: a line for each test and a closing line, in Tests/Faults and all others."""
import importlib
import pathlib
import signal

PATIENCE = 120  # seconds until a test counts as hanging; on a busy machine a run can take many


# nohup makes the tests ignore signals, and every tool would inherit that.
for number, usual in ((signal.SIGHUP, signal.SIG_DFL), (signal.SIGINT, signal.default_int_handler),
                      (signal.SIGTERM, signal.SIG_DFL), (signal.SIGQUIT, signal.SIG_DFL)):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, usual)


class Failed(Exception):
    """The tool did something that it must not do; the text says what."""


class Skipped(Exception):
    """The test cannot run here; the text says why."""


def expect(condition, detail):
    if not condition:
        raise Failed(detail)


def ending(code):
    """Describes how a process ended, from the code of `subprocess`: its exit code, or the signal that ended it."""
    if code >= 0:
        return f"exit {code}"
    known = {int(one): one.name for one in signal.Signals}
    return f"ended by signal {-code} ({known.get(-code, 'without a name')})"


def families(folder):
    """Yields name and tests of each file of a folder that has a list TESTS; other files contain shared code."""
    for path in sorted(folder.glob("*.py")):
        tests = path.stem != "run" and getattr(importlib.import_module(path.stem), "TESTS", None)
        if tests:
            yield path.stem, tests


class Outcomes:
    def __init__(self):
        self._counts = {"ok": 0, "FAIL": 0, "skip": 0}

    def run(self, title, function, *arguments):
        """Runs one test and prints its line."""
        try:
            function(*arguments)
        except Skipped as reason:
            self.say("skip", f"{title} because {reason}")
        except Failed as reason:
            self.say("FAIL", f"{title}: {reason}")
        except Exception as error:  # the other tests still run if one breaks
            # Print only the type, because the text of an error may quote contents of a capture.
            self.say("FAIL", f"{title}: the test broke: {type(error).__name__} at {_place(error)}")
        else:
            self.say("ok", title)

    def say(self, word, text):
        self._counts[word] += 1
        print(f"{word:<4} {_printable(text)}", flush=True)

    def close(self):
        """Prints the closing line and returns the exit code. If no test ran, that is a failure."""
        counts = self._counts
        print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
        return 1 if counts["FAIL"] or not counts["ok"] else 0


def _place(error):
    """Returns the innermost line of our own code."""
    tests = pathlib.Path(__file__).resolve().parents[1]
    place, step = "", error.__traceback__
    while step:
        file = pathlib.Path(step.tb_frame.f_code.co_filename).resolve()
        if tests in file.parents:
            place = f"{file.name}:{step.tb_lineno}"
        step = step.tb_next
    return place


def _printable(text, limit=1000):
    """Returns the text without terminal control characters, cut to a limit."""
    text = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return text if len(text) <= limit else f"{text[:limit]}…"
