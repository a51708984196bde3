#!/bin/sh
# OpenCV 5.0.0 in Python, cv2.FileStorage, the usual calibration file, with a time stamp in nanoseconds: an int,
#   or a number in an array. JSON, YAML and XML.
# Expected: the number, or an error.
# Seen: a Python or NumPy int beyond 32 bits is stored as a boolean: 1700000000123456789 and 2147483648 become 1 (true
#   in YAML), alone and in a list, without an error. 2147483647 is right. In arrays, int64 keeps only the low 32 bits;
#   uint32 is written right, but numbers over 2147483647 are read as 0.
# Output, for JSON; the others differ only in "true":
#   time 1 | numpy time 1 | 2147483648 1 | 2147483647 right | in a list 1
#   int64 [1700000000123456789] reads [1032178965] | uint32 [70000, 3000000000]: written right, reads [70000, 0]
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q opencv-python-headless==5.0.0.93 numpy==2.4.6
cd "$T"
"$T/v/bin/python" - <<'P'
import re, sys
import cv2, numpy as np

TIME = 1700000000123456789
def write(kind, fill):
    f = cv2.FileStorage("." + kind, cv2.FILE_STORAGE_WRITE | cv2.FILE_STORAGE_MEMORY)
    fill(f)
    return f.releaseAndGetString()
def read(text, what):
    f = cv2.FileStorage(text, cv2.FILE_STORAGE_READ | cv2.FILE_STORAGE_MEMORY)  # a node lives as long as this
    return what(f.getNode("t"))
def number(kind, value):
    text = write(kind, lambda f: f.write("t", value))
    stored = re.search({"json": r'"t": (\S+)', "yml": r"\nt: (\S+)", "xml": r"<t>(\S+)</t>"}[kind], text)[1]
    back = read(text, lambda node: node.real())
    if stored == str(value):
        return "right" if back == float(value) else f"written right, reads {back}"
    return stored if back == 1 else f"{stored}, reads {back}"
def in_list(kind):
    def fill(f):
        f.startWriteStruct("t", cv2.FILE_NODE_SEQ)
        f.write("", 7)
        f.write("", TIME)
        f.endWriteStruct()
    text = write(kind, fill)
    return "right" if str(TIME) in text else f"{read(text, lambda node: node.at(1).real()):g}"
def array(kind, values, dtype):
    a = np.array([values], dtype)
    try:
        text = write(kind, lambda f: f.write("t", a))
    except cv2.error:
        return "error"
    written = "written right, " if all(re.search(rf"\b{v}\b", text) for v in values) else ""
    return f"{written}reads {read(text, lambda node: node.mat())[0].tolist()}"

changed = 0
for kind in ("json", "yml", "xml"):
    one = "true" if kind == "yml" else "1"
    for name, got, want in (
            ("time", number(kind, TIME), one),
            ("numpy time", number(kind, np.int64(TIME)), one),
            ("2147483648", number(kind, 2 ** 31), one),
            ("2147483647", number(kind, 2 ** 31 - 1), "right"),
            ("in a list", in_list(kind), "1"),
            (f"int64 [{TIME}]", array(kind, [TIME], "i8"), f"reads [{TIME & 0xffffffff}]"),
            ("uint32 [70000, 3000000000]", array(kind, [70000, 3000000000], "u4"), "written right, reads [70000, 0]")):
        print(f"{kind}: {name}: {got}", flush=True)
        changed += got != want
sys.exit(f"changed: {changed}" if changed else 0)
P
echo "as described"
