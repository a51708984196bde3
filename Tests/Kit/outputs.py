"""Reads what a stage printed, and turns it into tests with an outcome and a time."""
import dataclasses
import re

from Kit.outcomes import ROOT, ending, expect


@dataclasses.dataclass
class Test:
    """`word` is ok, FAIL, skip, or later (only `make test-all` plays the test); `weight` is the number of tests."""

    word: str
    title: str
    reason: str
    seconds: float
    weight: int = 1


LINE = re.compile(r"^(ok|FAIL|skip) +(.*?)(?: \((\d+\.\d) s\))?$", re.M)
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", re.M)
SWIFT = re.compile(r"^\S+ Test (?!run with |case )(.+?)(?: with \d+ test cases?)? (passed|failed|skipped)(?: after (\d+\.\d+) seconds)?(?:: \"(.*)\"|[ .].*)?$", re.M)
SWIFT_END = re.compile(r"Test run with [1-9]\d* tests? .*(passed|failed) after")
ISSUE = re.compile(r"^\S+ Test (.+?) recorded an issue(?: with \d+ arguments?)?(.*?) at (\S+: .*)$", re.M)
LATER = "a test of make test-all"


def lines(text, code):
    """Reads a line for each test, as Tests/run.py SUITE prints them, and the closing line with their numbers."""
    found = [Test(word, *_split(title) if word != "ok" else (title, ""), float(seconds or 0))
             for word, title, seconds in LINE.findall(text)]
    closing = CLOSING.findall(text)
    if not closing:
        last = "\n".join(text.splitlines()[-30:])
        return [*found, Test("FAIL", "", f"{ending(code)} without a closing line: {last}", 0)]
    # A program that prints its failures only still says how many tests passed.
    for word, number in zip(("ok", "FAIL", "skip"), closing[-1]):
        more = int(number or 0) - sum(test.word == word for test in found)
        reason = "more failures, without a line for each" if word == "FAIL" else ""
        found += [Test(word, "", reason, 0, more)] if more > 0 else []
    return found


def command(text, code):
    """Reads the tests of a command that prints a closing line; any other command is one test."""
    if CLOSING.search(text) or code:
        return lines(text, code)
    return [Test("ok", "", "", 0)]


def _split(title):
    """Splits a line of a failed or skipped test into its title, which has the family, and the reason."""
    parts = title.split(": ", 2)
    return (": ".join(parts[:2]), parts[2]) if len(parts) == 3 else ("", title)


def swift(text, code):
    """Reads the lines of Swift Testing. A run without a closing line has failed."""
    issues = {}
    for title, arguments, issue in ISSUE.findall(text):
        issues.setdefault(title, []).append(f"{arguments} {issue}".strip())
    found = []
    for title, word, seconds, reason in SWIFT.findall(text):
        word = {"passed": "ok", "failed": "FAIL", "skipped": "later" if reason == LATER else "skip"}[word]
        found.append(Test(word, title, reason or "; ".join(issues.get(title, [])[:3]), float(seconds or 0)))
    if not SWIFT_END.search(text):
        found.append(Test("FAIL", "", "ended before its closing line:\n" + "\n".join(text.splitlines()[-20:]), 0))
    return found


def reasons(text):
    """Returns the words before the `|` of each line of Tests/skips.txt."""
    found = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            words, _, why = (part.strip() for part in line.partition("|"))
            expect(words and why, f"Tests/skips.txt: expected `words of the message | why`, found {line!r}")
            found.append(words)
    return found


def excused(tests):
    """Turns each skipped test into a failure, unless Tests/skips.txt has words of its reason."""
    allowed = reasons((ROOT / "Tests/skips.txt").read_text())
    for test in tests:
        if test.word == "skip" and not any(words in test.reason for words in allowed):
            test.word, test.reason = "FAIL", f"skipped, and Tests/skips.txt does not allow it: {test.reason}"
    return tests
