#!/usr/bin/env python3
"""Writes Spec/Vectors: generate.py [--check]

--check makes the vectors in memory, names those that differ, are missing or are unknown on disk, and exits 1 if it
finds any.
"""

import importlib
import os
import sys

PARTS = ("valid", "container", "manifest", "depth", "metadata", "location", "assertion", "entry", "trust", "policy",
         "exif", "state", "multipart", "request", "chain")
VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Vectors")


def vectors():
    """Returns {part/name: bytes} of all vectors and {side/name: bytes} of their side files."""
    made = {}
    for part in PARTS:
        for case in importlib.import_module("cases." + part).cases():
            path = part + "/" + case.name
            if not case.name.startswith(part + "_") or path in made:
                raise ValueError("name of vector %s" % path)
            made[path] = case.file()
            for name, data in case.sides:
                if made.setdefault("side/" + name, data) != data:
                    raise ValueError("two side files have the name %s" % name)
    return made


def on_disk(root):
    """Returns {part/name: bytes} of all files in the folders below root."""
    found = {}
    for folder, _, names in os.walk(root):
        part = os.path.relpath(folder, root).replace(os.sep, "/")
        for name in names if part != "." else ():
            with open(os.path.join(folder, name), "rb") as file:
                found[part + "/" + name] = file.read()
    return found


def check(made, found):
    problems = ["missing  " + path for path in made if path not in found]
    problems += ["stray  " + path for path in found if path not in made]
    problems += ["differs  " + path for path in made if path in found and made[path] != found[path]]
    print("\n".join(sorted(problems) + ["%d files, %d differences" % (len(made), len(problems))]))
    return 1 if problems else 0


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 64
    made, found = vectors(), on_disk(VECTORS)
    if arguments:
        return check(made, found)
    for path in found:
        if path not in made:
            os.remove(os.path.join(VECTORS, path))
    for path, data in made.items():
        os.makedirs(os.path.join(VECTORS, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(VECTORS, path), "wb") as file:
            file.write(data)
    print("%d files written" % len(made))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
