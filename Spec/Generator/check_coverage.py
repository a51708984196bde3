#!/usr/bin/env python3
"""Compares Spec/Vectors with the two pages: every labelled rule has a vector, and every vector agrees with a rule.

The labels, codes and exit classes are read from capture-bundle.md and upload.md, not from this implementation.
The rules of time-stamps.md have no vectors.
"""

import collections
import os
import re
import sys

import vector

SPEC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# Each page, and the text in `covers` after the number of one of its sections.
PAGES = {"capture-bundle.md": "", "upload.md": " of upload.md"}
EXIT_ORDER = (2, 1, 3, 4, 0)
REFUSED = 1  # result of a request, which has no exit class

_LABEL = re.compile(r"\*\*([A-Z][0-9]+)\*\*\s+`([a-z_]+\.[a-z0-9_]+)`(?:\s+\(exit (?:class )?([0-9]+)\b)?")
_RANGES = re.compile(r"((?:[A-Z][0-9]+(?: to [A-Z][0-9]+)?(?:, | and )?)+) are exit class ([0-9]+)")
_RANGE = re.compile(r"([A-Z])([0-9]+)(?: to [A-Z]([0-9]+))?")
_HEADING = re.compile(r"^#{2,3} ([0-9]+(?:\.[0-9]+)?)\.? ", re.MULTILINE)
_COUNT = re.compile(r"^\| `([a-z]+)` \| ([0-9]+) \|[^|]*\|[^|]*\|$", re.MULTILINE)  # rows of README.md's table of parts


def rules(text):
    """Returns {label: (code, exit class)} of a page; the exit class is 2 unless the page says otherwise (section 1)."""
    found = {}
    for label, code, exit_class in _LABEL.findall(text):
        old = found.setdefault(label, [code, None])
        if old[0] != code:
            raise ValueError("%s has the codes %s and %s" % (label, old[0], code))
        if exit_class:
            old[1] = int(exit_class)
    for ranges, exit_class in _RANGES.findall(text):
        for letter, first, last in _RANGE.findall(ranges):
            for number in range(int(first), int(last or first) + 1):
                found[letter + str(number)][1] = int(exit_class)
    return {label: (code, 2 if exit_class is None else exit_class) for label, (code, exit_class) in found.items()}


def judge(one, by_label, sections):
    """Yields what is wrong with one vector's header."""
    class_of = dict(by_label.values())
    for name in one.covers:
        if name.startswith("section "):
            if name not in sections:
                yield "covers %s, which no page has" % name
        elif name not in by_label:
            yield "covers the unknown label %s" % name
        # A sound bundle may be at the limit of a rule; a fault must be reported with the rule's code.
        elif one.codes and by_label[name][0] not in one.codes:
            yield "covers %s, but does not expect %s" % (name, by_label[name][0])
    covered = {by_label[name][0] for name in one.covers if name in by_label}
    for code in one.codes:
        if code not in class_of:
            yield "expects the unknown code %s" % code
        elif code not in covered:
            yield "expects %s, but covers no label of it" % code
    classes = {class_of.get(code) for code in one.codes} | {0}
    expected = 78 if 78 in classes else next(one for one in EXIT_ORDER if one in classes)
    if one.part == "request" and expected:
        expected = REFUSED
    if one.exit_code != expected:
        yield "expects exit %d, its codes are of %d" % (one.exit_code, expected)


def main():
    by_label, sections = {}, set()
    for page, suffix in PAGES.items():
        with open(os.path.join(SPEC, page), encoding="utf-8") as file:
            text = file.read()
        found = rules(text)
        if by_label.keys() & found.keys():
            raise ValueError("a label stands on both pages")
        by_label.update(found)
        sections.update("section " + number + suffix for number in _HEADING.findall(text))
    vectors, problems = vector.load()
    for one in vectors:
        problems.extend("%s: %s" % (one.name, problem) for problem in judge(one, by_label, sections))
    counts = collections.Counter(name for one in vectors if one.codes for name in one.covers)
    problems.extend("no vector for %s %s" % (label, by_label[label][0]) for label in by_label if not counts[label])

    parts = collections.Counter(one.part for one in vectors)
    with open(os.path.join(vector.VECTORS, "README.md"), encoding="utf-8") as file:
        told = {part: int(count) for part, count in _COUNT.findall(file.read())}
    if told != dict(parts):
        problems.append("README.md counts %s, there are %s" % (told, dict(parts)))

    print("labels: " + ", ".join("%s %d" % (label, counts[label]) for label in by_label))
    print("parts: " + ", ".join("%s %d" % item for item in sorted(parts.items())))
    for line in problems:
        print(line)
    print("%d labels, %d vectors, %d problems" % (len(by_label), len(vectors), len(problems)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
