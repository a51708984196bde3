"""Checks that the byte examples of Spec/capture-bundle.md and Spec/upload.md are those of their vectors.

usage: Tests/run.py Documents/examples
"""
import hashlib
import json
import re

from Kit.outcomes import ROOT



def vector(name):
    """Returns the header lines and the bytes of a vector."""
    header, _, data = (ROOT / "Spec/Vectors" / name.split("_")[0] / name).read_bytes().partition(b"\n\n")
    return dict(line.split(": ", 1) for line in header.decode().split("\n")), data


def entries(name):
    bundle = vector(name)[1]
    found, position = {}, 0
    while bundle[position]:
        header = bundle[position:position + 512]
        path, size = header.split(b"\0", 1)[0].decode(), int(header[124:135], 8)
        found[path] = (header, bundle[position + 512:position + 512 + size])
        position += 512 + (size + 511) // 512 * 512
    return found


def dumped(block):
    """Parses a dump: an offset, hex pairs, words."""
    data = bytearray()
    for line in block.strip().split("\n"):
        match = re.match(r"([0-9a-f]{4})((?: {1,2}[0-9a-f]{2}(?![0-9a-f]))*)", line)
        assert len(data) == int(match[1], 16), f"offset {match[1]} of the dump, {len(data)} bytes before it"
        data += bytes.fromhex(match[2])
    return bytes(data)


def header_fields(header):
    """Returns the size and the chksum of a header block, as it has them."""
    return header[124:136].decode(), header[148:154].decode()


def page_and_blocks(name):
    page = (ROOT / "Spec" / name).read_text()
    return page, re.findall(r"^```\w*\n(.*?)^```$", page, re.M | re.S)


def upload_checks():
    page, blocks = page_and_blocks("upload.md")
    body = vector("multipart_minimal")[1]
    example = next(block for block in blocks if block.startswith("--capture-bundle-"))
    beginning = example.replace("\\\n", "").replace("\n", "\r\n").encode()
    size = len(body[len(beginning):].split(b"\r\n--" + body[2:57])[0])
    header, signed = vector("request_body_minimal")
    digest = hashlib.sha256(body).hexdigest()
    return {
        "upload body": body.startswith(beginning) and beginning.endswith(b"Content-Type: application/cbor\r\n\r\n"),
        "upload body's size and hash": f"{len(body)} bytes, SHA-256\n`{digest}`" in page and f"{size} bytes of" in page,
        "signed message": signed == body and f"{header['x-device-timestamp']}|{digest}\n" in blocks,
    }


def main():
    page, blocks = page_and_blocks("capture-bundle.md")
    dumps = [dumped(block) for block in blocks if re.match(r"0000  [0-9a-f]{2} ", block)]
    minimal = entries("valid_minimal")
    manifest = json.loads(next(block for block in blocks if block.startswith("{\n")))
    checks = {
        "manifest": json.dumps(manifest, separators=(",", ":"), sort_keys=True).encode() == minimal["manifest.json"][1],
        "header": "has the size `{}` and the chksum `{}`".format(*header_fields(minimal["manifest.json"][0])) in page,
        "depth": minimal["depth.f32.gz"][1] in dumps,
        "assertion": minimal["assertion.cbor"][1] in dumps,
        "metadata": minimal["metadata.json"][1].decode() + "\n" in blocks,
        **upload_checks(),
    }
    for name, holds in checks.items():
        print(f"{'ok  ' if holds else 'FAIL'} the example of the {name}")
    failed = list(checks.values()).count(False)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0
