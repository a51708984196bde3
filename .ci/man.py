#!/usr/bin/env python3
"""Writes the man pages of a built tool, one for each command: man.py BINARY FOLDER

The pages contain the text of `--help`: ArgumentParser prints it as JSON (--experimental-dump-help), and the usage lines
as text. The exit codes come from the tool's table in Spec. ArgumentParser's plugin generate-manual is not used: it
would build the package again, join examples into one paragraph, drop characters that are not ASCII, and claim "0 on
success, and >0 if an error occurs". The date is SOURCE_DATE_EPOCH, or else the date of the binary.
"""
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
SECTION = 1
# For each tool, the page with its exit codes, and the headings before and after them.
TABLES = {
    "capbundle": ("Spec/command-line.md", "## 2.", "## 3."),
    "capqueue": ("Spec/capqueue.md", "## 1.", "## 2."),
}
CODE = re.compile(r"^\| ([0-9, ]+) \| ([^|]+) \|", re.M)
TOKEN = re.compile(r"\[|\]|\.\.\.|[^\s\[\]]+?(?=\.\.\.|[\s\[\]]|$)")


def escaped(text):
    """Escapes text: a backslash becomes \\e, hyphens survive copying, and non-ASCII characters become numbers."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"(?<=[a-z])\\-(?=[a-z])", "-", text)  # but hyphens within words stay plain
    return re.sub(r"[^\x00-\x7f]", lambda found: f"\\[u{ord(found[0]):04X}]", text)


def line(text):
    """Escapes a text line so that roff does not take it for a request."""
    return ("\\&" if text[:1] in (".", "'") else "") + escaped(text)


def argument(text):
    """Escapes an argument of a macro so that it is a single word and not a macro itself."""
    text = escaped(text).replace('"', "\\(dq")
    text = "\\&" + text if re.fullmatch(r"[A-Z][a-z]|[.,:;()\[\]?!|]", text) else text
    return f'"{text}"' if " " in text or not text else text


def paragraph(text):
    """Returns the lines of a paragraph. Each sentence begins on a new line, as is usual in man pages."""
    sentences = re.split(r'(?<=[.!?]) +(?=[A-Z"])', " ".join(text.split()))
    return [line(part) for sentence in sentences for part in textwrap.wrap(sentence, 72, break_on_hyphens=False)]


def prose(text):
    """Splits a text into (prose, examples). Empty lines separate paragraphs, and examples are indented."""
    said, examples = [], []
    for block in re.split(r"\n{2,}", text.strip()):
        if block.startswith("Example"):
            examples += [piece[2:] for piece in block.split("\n")[1:]]
        else:
            said += [".Pp"] * bool(said) + paragraph(block)
    return said, examples


def flags(one):
    """Returns the names of an option, the short one first, with its value."""
    names = sorted(one["names"], key=lambda name: name["kind"] != "short")
    value = f" Ar {argument(one['valueName'])}" if one["kind"] == "option" else ""
    return " , ".join("Fl " + argument(name["name"] if name["kind"] == "short" else "-" + name["name"])
                      for name in names) + value


def described(one):
    """Yields the lines for an option or an argument in a list."""
    yield ".It Ar " + argument(one["valueName"]) if one["kind"] == "positional" else ".It " + flags(one)
    facts = [f"values: {', '.join(one['allValues'])}"] if "allValues" in one else []
    facts += [f"default: {one['defaultValue']}"] if "defaultValue" in one else []
    yield from paragraph(one.get("abstract", "") + (f" ({'; '.join(facts)})" if facts else ""))
    if "discussion" in one:
        yield ".br"
        yield from paragraph(one["discussion"])


def help_text(binary, words):
    return subprocess.run([binary, *words[1:], "--help"], check=True, capture_output=True, text=True).stdout + "\n\n"


def groups(binary, words):
    """Yields (heading, names of commands) as the help shows them; the JSON does not name the group of a command."""
    for heading, lines in re.findall(r"^([A-Z ]*)SUBCOMMANDS:\n(.*?)\n\n", help_text(binary, words), re.M | re.S):
        yield heading.strip().capitalize(), re.findall(r"^  ([^\s,]+)", lines, re.M)


def synopsis(binary, words):
    """Yields the usage lines of the help."""
    usage = re.search(r"^USAGE: (.*?)\n\n", help_text(binary, words), re.M | re.S)[1]
    name = " ".join(words)
    for text in usage.split("\n"):
        yield f".Nm {argument(name)}"
        for token in TOKEN.findall(text.strip().removeprefix(name)):
            bare = re.sub("^<(.+)>$", r"\1", token)
            if token in "[]":
                yield ".Oo" if token == "[" else ".Oc"
            elif token == "...":
                yield ".No ..."
            elif token in "<>|":
                yield f".No {argument(token)}"
            elif token.startswith("-"):
                yield f".Fl {argument(token[1:])}"
            elif token != bare or token.isupper() or token == "options":
                yield f".Ar {argument(bare)}"
            else:
                yield f".Cm {argument(token)}"


def exit_status(tool):
    page, begin, end = TABLES[tool]
    text = (ROOT / page).read_text()
    for codes, meaning in CODE.findall(text[text.index(begin):text.index(end)]):
        yield f".It {argument(codes.strip())}"
        yield from paragraph(meaning.replace("`", "").strip())


def page(binary, date, version, command, related):
    """Yields the lines of a page. `related` has the names of the pages under SEE ALSO."""
    words = command.get("superCommands", []) + [command["commandName"]]
    title = "-".join(words)
    said, examples = prose(command.get("discussion", ""))
    shown = [one for one in command.get("arguments", []) if one["shouldDisplay"]]
    subcommands = [one for one in command.get("subcommands", []) if is_shown(one)]
    yield f".Dd {date:%B} {date.day}, {date.year}"
    yield f".Dt {title.upper()} {SECTION}"
    yield f".Os {words[0]} {version}"
    yield from (".Sh NAME", f".Nm {argument(title)}", f".Nd {argument(command['abstract'].rstrip('.'))}".replace('"', ""))
    yield ".Sh SYNOPSIS"
    yield from synopsis(binary, words)
    yield ".Sh DESCRIPTION"
    yield from said or paragraph(command["abstract"])
    for heading, lists in (([], [one for one in shown if one["kind"] == "positional"]),
                           ([".Sh OPTIONS"], [one for one in shown if one["kind"] != "positional"])):
        if lists:
            yield from (*heading, ".Bl -tag -width Ds")
            for one in lists:
                yield from described(one)
            yield ".El"
    if subcommands:
        yield ".Sh COMMANDS"
        for heading, names in groups(binary, words):
            if heading:
                yield f".Ss {argument(heading)}"
            yield ".Bl -tag -width Ds"
            for one in sorted((one for one in subcommands if one["commandName"] in names),
                              key=lambda one: names.index(one["commandName"])):
                yield f".It Xr {argument('-'.join([*words, one['commandName']]))} {SECTION}"
                also = f" (also {', '.join(one['aliases'])})" if one.get("aliases") else ""
                yield from paragraph(one["abstract"] + also)
            yield ".El"
    yield ".Sh EXIT STATUS"
    if words[0] not in TABLES:
        yield "0 if the command is done, 64 if its usage is wrong, another code if it failed."
    elif len(words) == 1:
        yield from (".Bl -tag -width Ds", *exit_status(words[0]), ".El")
        if words[0] != "capbundle":
            yield from (".Pp", "The other codes are those of", f".Xr capbundle {SECTION} .")
    else:
        yield from ("All exit codes are listed in", f".Xr {words[0]} {SECTION} .")
    if examples:
        yield from (".Sh EXAMPLES", ".Bd -literal -offset indent", *map(line, examples), ".Ed")
    yield ".Sh SEE ALSO"
    yield from (f".Xr {argument(name)} {SECTION}{' ,' if name != related[-1] else ''}" for name in related)


def is_shown(command):
    return command["shouldDisplay"] and command["commandName"] != "help"


def pages(command):
    """Yields (command, its words, the titles of its subcommands) for a command and all its subcommands."""
    words = command.get("superCommands", []) + [command["commandName"]]
    below = [one for one in command.get("subcommands", []) if is_shown(one)]
    names = ["-".join([*words, one["commandName"]]) for one in below]
    yield command, words, names
    for one in below:
        yield from pages(one)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: man.py BINARY FOLDER")
    binary, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])

    def said(option):
        return subprocess.run([binary, option], check=True, capture_output=True, text=True).stdout

    dump = json.loads(said("--experimental-dump-help"))
    if dump["serializationVersion"] != 0:
        sys.exit(f"man.py: the help of {binary} has version {dump['serializationVersion']}, expected 0")
    time = os.environ.get("SOURCE_DATE_EPOCH") or os.stat(binary).st_mtime
    date = datetime.datetime.fromtimestamp(float(time), datetime.timezone.utc)
    version = said("--version").strip()
    known = list(pages(dump["command"]))
    children = {tuple(words): names for _, words, names in known}
    for command, words, names in known:
        title, parent = "-".join(words), words[:-1]
        beside = ["-".join(parent), *children[tuple(parent)]] if parent else list(TABLES)
        related = sorted({*names, *beside} - {title})
        text = "\n".join(page(binary, date, version, command, related)) + "\n"
        (folder / f"{title}.{SECTION}").write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
