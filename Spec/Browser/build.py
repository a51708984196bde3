#!/usr/bin/env python3
"""Puts the modules, the style and page.html of this folder into one page, Samples/verify.html: build.py [--check]

`--check` compares the page with what is there, and writes nothing. The content security policy of the page names the
hashes of its script and its style, so a browser runs nothing else.
"""
import base64
import collections
import hashlib
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER.parents[1] / "Samples/verify.html"
FIRST = FOLDER / "view/page.js"
SAMPLE = FOLDER / "sample"
LIMIT = 150_000
IMPORT = re.compile(r'^import (\{[^}]*\}) from "([^"]+)";\n', re.MULTILINE)
COMMENT = re.compile(r"^ *(?:/\*\*|\*|//).*\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)
NAMES = re.compile(
    r"^(?:export )?(?:async )?(?:function\*?|class|const|let) (\w+)(?: = [^;\n]*?, ([A-Z_]+) = )?", re.MULTILINE)


def modules(path, found):
    """Adds the modules that a module imports, and then itself, to `found`: path -> text."""
    if path not in found:
        text = path.read_text()
        for _, name in IMPORT.findall(text):
            modules((path.parent / name).resolve(), found)
        found[path] = text
    return found


def bare(path, text):
    """A module without imports, exports and comments, with one space for each level."""
    body = COMMENT.sub("", EXPORT.sub("", IMPORT.sub("", text))).strip()
    body = re.sub(r"^(?:    )+", lambda match: " " * (len(match[0]) // 4), body, flags=re.MULTILINE)
    return f"// {path.relative_to(FOLDER)}\n{body}\n"


def script():
    found = modules(FIRST, {})
    unused = set(FOLDER.glob("*/*.js")) - set(found)
    if unused:
        sys.exit(f"build.py: nothing imports {sorted(path.name for path in unused)}")
    names = collections.Counter(name for text in found.values() for line in NAMES.findall(text) for name in line if name)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        sys.exit(f"build.py: two modules declare {twice}: they share the scope of the page")
    return "\n" + "\n".join(bare(path, text) for path, text in found.items())


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def sample():
    """The point of the sample's device and the bundle, compressed, in base64."""
    return base64.b64encode((SAMPLE / "device.point").read_bytes() + (SAMPLE / "bundle.gz").read_bytes()).decode()


def page():
    values = {"script": script(), "style": "\n" + (FOLDER / "style.css").read_text(), "sample": sample()}
    values |= {"script-hash": digest(values["script"]), "style-hash": digest(values["style"])}
    if "</script" in values["script"].lower() or "<!--" in values["script"] or "</style" in values["style"].lower():
        sys.exit("build.py: the script or the style would end its element")
    whole = re.sub(r"\{([a-z-]+)\}", lambda match: values[match[1]], (FOLDER / "page.html").read_text()).encode()
    if len(whole) > LIMIT:
        sys.exit(f"build.py: the page has {len(whole)} bytes, at most {LIMIT} are allowed")
    return whole


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: build.py [--check]")
    if not sys.argv[1:]:
        PAGE.write_bytes(page())
    elif not PAGE.is_file() or PAGE.read_bytes() != page():
        sys.exit("build.py: Samples/verify.html differs from its modules: run Spec/Browser/build.py")


if __name__ == "__main__":
    main()
