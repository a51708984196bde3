"""Checks that text is bytes here: code that walks over Characters does not compile, and strings compare by bytes.

Each line of planted.txt breaks the rule and must be a compile error by itself; each check of exact.txt must hold. Every
module must link the two files that enforce this, and must treat warnings as errors.
"""
import pathlib
import re
import subprocess
import tempfile

from Kit.outcomes import ROOT

HERE = pathlib.Path(__file__).resolve().parent
ORIGINAL = ROOT / "Sources/CaptureNative/Text"
FILES = ["TextAsBytes.swift", "CharacterBan.swift"]


def modules():
    """Returns the folders of Sources that contain Swift code."""
    return sorted(folder for folder in (ROOT / "Sources").iterdir() if any(folder.rglob("*.swift")))


def missing_links():
    for module in modules():
        for name in FILES:
            file = module / "Text" / name
            if not file.exists() or file.resolve() != (ORIGINAL / name).resolve():
                yield f"{file.relative_to(ROOT)} is not a link to {ORIGINAL.relative_to(ROOT)}/{name}"
    package = (ROOT / "Package.swift").read_text()
    for target in re.findall(r"\.(?:executableTarget|target)\((.*?)\),\n\n?        \.", package, re.DOTALL):
        is_c = target.startswith('name: "CSanitizers"')
        if "swiftSettings: strict" not in target and not is_c:
            yield f"a target of Package.swift is without `strict`: {target[:60]!r}"
    if ".treatAllWarnings(as: .error)" not in package:
        yield "Package.swift does not treat warnings as errors"


def compile_swift(folder, source, *options):
    file = folder / "main.swift"
    file.write_text(source)
    return subprocess.run(["swiftc", "-warnings-as-errors", *options, file, *(ORIGINAL / name for name in FILES)],
                          capture_output=True, text=True, cwd=folder)


def survivors(folder):
    lines = (HERE / "planted.txt").read_text().splitlines()
    head = "var copy = CommandLine.arguments[0]\nlet text = copy + \"x\"\nlet list = [text, copy]\n"
    body = "".join(f"func planted{number}() {{ {line} }}\n" for number, line in enumerate(lines))
    done = compile_swift(folder, head + body, "-typecheck")
    found = {int(number) - head.count("\n") - 1 for number in re.findall(r"main\.swift:(\d+):\d+: error:", done.stderr)}
    for number, line in enumerate(lines):
        if number not in found:
            yield f"compiles: {line}"


def inexact(folder):
    head = ('func check(_ holds: Bool, _ what: String) { if !holds { print(what) } }\n'
            'let kelvin = "\\u{212A}"\nlet composed = "\\u{e9}"\nlet decomposed = "e\\u{301}"\n'
            'let perhaps: String? = kelvin\nlet perhapsK: String? = "K"\n')
    done = compile_swift(folder, head + (HERE / "exact.txt").read_text(), "-o", folder / "exact")
    if done.returncode != 0:
        yield done.stderr
        return
    for line in subprocess.run([folder / "exact"], capture_output=True, text=True, check=True).stdout.splitlines():
        yield f"is not by bytes: {line}"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        faults = [*missing_links(), *survivors(folder), *inexact(folder)]
    for fault in faults:
        print(f"FAIL {fault}")
    checks = sum(len((HERE / name).read_text().splitlines()) for name in ("planted.txt", "exact.txt")) + len(modules())
    print(f"{checks - len(faults)} passed, {len(faults)} failed")
    return 1 if faults else 0
