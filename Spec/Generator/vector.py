"""Reads the files of Spec/Vectors: header lines, an empty line, bytes (Spec/Vectors/README.md)."""

import base64
import os
import shlex

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Vectors")
_ONCE = ("expect-exit", "expect-code", "covers", "comment")
_BUNDLE = ("trust", "trust-base64", "arguments")
_WITH_SIDES = ("chain", "state")  # parts whose vectors may name side files
SIDE = "side"  # the folder of the side files, which is not a part
REQUEST = ("point", "x-device-id", "x-device-timestamp", "x-device-signature")


class Vector:
    """One vector; raises ValueError if its header does not have the form of the README."""

    def __init__(self, part, name, data):
        head, separator, self.data = data.partition(b"\n\n")
        if not separator:
            raise ValueError("no empty line after the header")
        self.part = part
        self.name = name
        self.trust = []
        self.sides = []
        self.values = {}
        own = REQUEST if part == "request" else _BUNDLE + ("bundle-sha256",) if part == "multipart" else _BUNDLE
        own += ("side",) if part in _WITH_SIDES else ()
        for line in head.decode("ascii").split("\n"):
            key, colon, value = line.partition(": ")
            if not colon or key not in _ONCE + own or key in self.values:
                raise ValueError("header line %r" % line)
            if key == "trust":
                self.trust.append(value)
            elif key == "side":
                self.sides.append(value)
            else:
                self.values[key] = value
        for key in _ONCE + (REQUEST if part == "request" else ()):
            if key not in self.values:
                raise ValueError("no %s" % key)
        if self.trust and "trust-base64" in self.values:
            raise ValueError("both trust and trust-base64")
        self.exit_code = int(self.values["expect-exit"])
        self.codes = [] if self.values["expect-code"] == "none" else self.values["expect-code"].split(",")
        if self.codes != sorted(set(self.codes)):
            raise ValueError("expect-code is not sorted")
        self.covers = self.values["covers"].split(", ")
        self.arguments = shlex.split(self.values.get("arguments", ""))
        self.bundle_sha256 = self.values.get("bundle-sha256")
        if part == "multipart" and (self.exit_code in (0, 3, 4)) != bool(self.bundle_sha256):
            raise ValueError("bundle-sha256 stands where expect-exit is 0, 3 or 4")

    def side_bytes(self):
        """Returns the bytes of the side files, in the order of the header."""
        found = []
        for name in self.sides:
            with open(os.path.join(VECTORS, SIDE, name), "rb") as file:
                found.append(file.read())
        return found

    @property
    def trust_file(self):
        if "trust-base64" in self.values:
            return base64.b64decode(self.values["trust-base64"], validate=True)
        return "".join(line + "\n" for line in self.trust).encode("ascii")


def load(root=VECTORS):
    """Returns all vectors in the order of their names, and the problems of those that cannot be read."""
    vectors, problems = [], []
    for part in sorted(set(os.listdir(root)) - {SIDE}):
        folder = os.path.join(root, part)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            try:
                if not name.startswith(part + "_"):
                    raise ValueError("name does not begin with its part")
                vectors.append(Vector(part, name, data))
            except ValueError as error:
                problems.append("%s: %s" % (name, error))
    return vectors, problems
