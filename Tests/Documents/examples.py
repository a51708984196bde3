"""The byte examples of Spec/capture-bundle.md are those of its vectors. usage: Tests/Documents/examples.py"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def entries(vector):
    data = (ROOT / "Spec/Vectors/valid" / vector).read_bytes()
    bundle = data[data.index(b"\n\n") + 2:]
    found, position = {}, 0
    while bundle[position]:
        header = bundle[position:position + 512]
        name, size = header.split(b"\0", 1)[0].decode(), int(header[124:135], 8)
        found[name] = (header, bundle[position + 512:position + 512 + size])
        position += 512 + (size + 511) // 512 * 512
    return found


def dumped(block):
    """The bytes of a dump: an offset, hex pairs, words; `*` repeats the row before up to the next offset."""
    data, row, repeats = bytearray(), b"", False
    for line in block.strip().split("\n"):
        if line == "*":
            repeats = True
            continue
        match = re.match(r"([0-9a-f]{4})((?: {1,2}[0-9a-f]{2}(?![0-9a-f]))*)", line)
        while repeats and len(data) < int(match[1], 16):
            data += row
        repeats = False
        assert len(data) == int(match[1], 16), f"offset {match[1]} of the dump, {len(data)} bytes before it"
        row = bytes.fromhex(match[2])
        data += row
    return bytes(data)


def main():
    page = (ROOT / "Spec/capture-bundle.md").read_text()
    blocks = re.findall(r"^```\w*\n(.*?)^```$", page, re.M | re.S)
    dumps = [dumped(block) for block in blocks if re.match(r"0000  [0-9a-f]{2} ", block)]
    minimal = entries("valid_minimal")
    manifest = json.loads(next(block for block in blocks if block.startswith("{\n")))
    checks = {
        "manifest": json.dumps(manifest, separators=(",", ":"), sort_keys=True).encode() == minimal["manifest.json"][1],
        "header": minimal["manifest.json"][0] in dumps,
        "depth": minimal["depth.f32.gz"][1] in dumps,
        "assertion": minimal["assertion.cbor"][1] in dumps,
        "metadata": minimal["metadata.json"][1].decode() + "\n" in blocks,
    }
    for name, holds in checks.items():
        print(f"{'ok  ' if holds else 'FAIL'} the example of the {name}")
    failed = list(checks.values()).count(False)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
