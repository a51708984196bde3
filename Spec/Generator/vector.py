"""Reads the files of Spec/Vectors: header lines, an empty line, the bundle (Spec/Vectors/README.md)."""

import os
import shlex

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Vectors")
_ONCE = ("expect-exit", "expect-code", "covers", "comment")


class Vector:
    """One vector; ValueError where its header is not in the form of the README."""

    def __init__(self, name, data):
        head, separator, self.bundle = data.partition(b"\n\n")
        if not separator:
            raise ValueError("no empty line after the header")
        self.name = name
        self.trust = []
        values = {}
        for line in head.decode("ascii").split("\n"):
            key, colon, value = line.partition(": ")
            if key == "trust" and colon:
                self.trust.append(value)
            elif key in _ONCE + ("arguments",) and colon and key not in values:
                values[key] = value
            else:
                raise ValueError("header line %r" % line)
        for key in _ONCE:
            if key not in values:
                raise ValueError("no %s" % key)
        self.exit_code = int(values["expect-exit"])
        self.codes = [] if values["expect-code"] == "none" else values["expect-code"].split(",")
        if self.codes != sorted(set(self.codes)):
            raise ValueError("expect-code is not sorted")
        self.covers = values["covers"].split(", ")
        self.comment = values["comment"]
        self.arguments = shlex.split(values.get("arguments", ""))

    @property
    def trust_file(self):
        return "".join(line + "\n" for line in self.trust).encode("ascii")


def load(root=VECTORS):
    """All vectors in the order of their names, and the problems of those that cannot be read."""
    vectors, problems = [], []
    for part in sorted(os.listdir(root)):
        folder = os.path.join(root, part)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            try:
                if not name.startswith(part + "_"):
                    raise ValueError("name does not begin with its part")
                vectors.append(Vector(name, data))
            except ValueError as error:
                problems.append("%s: %s" % (name, error))
    return vectors, problems
