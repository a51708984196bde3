"""Checks that our libraries speak to programs: no string in them names a command or an option of our executables.

What a library advises is a case of Hint, and what it calls a setting is a case of Setting; CommandSupport/Hints has the
sentences for both. The queue's advice is a case of QueueHint; capqueue/Hints has its sentences.
"""
import re

from Kit.outcomes import ROOT

LIBRARIES = ["CaptureBundle", "CaptureDevice", "CaptureImport", "CaptureNative", "CapturePages", "PictureClient",
             "QueueModel", "QueueTransports", "QueueFiles", "CaptureQueue", "CurlClient"]
# A string that stays, or a comment that is left out; the strings in an interpolation are looked at too, one by one.
PIECE = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
# The name of a case, such as `.capbundle`, is not the command. An option that ends in a hyphen is the start of a boundary;
# one with a colon, or in var(), is a name in a style sheet.
WORD = re.compile(r"(?<![.\w])(?:capbundle|capqueue)[ \\]|(?<![\w-])(?<!var\()--(?:[a-z]+(?:-[a-z]+)*(?![\w:-])|\\\()")
# What must be found, and what must not be.
PLANTED = ['let a = "see capbundle verify"', r'"\"capqueue\" does"', '"left out by --no-depth"', r'"(--layout \(name))"',
           r'"--\(option)"', 'f("--key")', '"""\n  capbundle pack RAW\n  """', r'"\(x.map { "--key" } ?? "")"']
HARMLESS = ["// capbundle pack --chain", "case auto, capbundle, realitycam", "if layout == .capbundle && isSet {",
            '"--capture-bundle-".utf8', '"install capbundle-decode"', '"mv -n a b"', '"https://a/b" // --key']


def findings(text):
    """Yields the number of each line that names a command or an option, and the line."""
    code = PIECE.sub(lambda piece: piece[1] or re.sub(r"[^\n]", "", piece[0]), text)
    for number, line in enumerate(code.splitlines(), 1):
        if WORD.search(line):
            yield number, line.strip()


def main():
    faults = [f"is not found: {text}" for text in PLANTED if not any(findings(text))]
    faults += [f"is found: {text}" for text in HARMLESS if any(findings(text))]
    sound = 0
    for library in LIBRARIES:
        files = sorted((ROOT / "Sources" / library).rglob("*.swift"))
        faults += [] if files else [f"Sources/{library} has no Swift file"]
        for file in files:
            found = [f"{file.relative_to(ROOT)}:{number}: {line}" for number, line in findings(file.read_text())]
            sound += not found
            faults += found
    for fault in faults:
        print(f"FAIL {fault}")
    print(f"{sound} passed, {len(faults)} failed")
    return 1 if faults else 0
