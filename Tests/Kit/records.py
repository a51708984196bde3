"""Reads counters from bundles and key states byte by byte, so that the code under test does not check itself."""
import hashlib
import json
import pathlib
import re
import tarfile
import typing

from Kit.outcomes import expect


def counter_of_state(data, about=""):
    return fields_of_state(data, about)["counter"]


def fields_of_state(data, about=""):
    """Returns the fields of a state: `counter`, `seq` and `last` (None if the chain is unknown), `pending`."""
    lines = data.split(b"\n")
    body = b"".join(line + b"\n" for line in lines[:-2])
    whole = len(lines) >= 7 and lines[-1] == b"" and lines[-2] == b"sha256 " + hashlib.sha256(body).hexdigest().encode()
    expect(whole, f"{about}: device.key.state is not whole: {data[:80]!r}")
    seq, _, last = lines[4].removeprefix(b"chain ").decode().partition(" ")
    return {"counter": int(lines[2].removeprefix(b"counter ")), "seq": None if seq == "unknown" else int(seq),
            "last": last or None, "pending": [line.decode() for line in lines[5:-2] if line.startswith(b"pending ")]}


def state_with_chain(data, counter, *chain):
    """Returns the same state with another counter and other lines of the chain, and its checksum."""
    head = [*data.split(b"\n")[:2], b"counter %d" % counter, data.split(b"\n")[3], *chain]
    body = b"\n".join(head) + b"\n"
    return body + b"sha256 " + hashlib.sha256(body).hexdigest().encode() + b"\n"


def state_with(data, counter):
    """Returns the same state with another counter and its checksum."""
    lines = data.split(b"\n")
    lines[2] = b"counter %d" % counter
    body = b"\n".join(lines[:5]) + b"\n"
    return body + b"sha256 " + hashlib.sha256(body).hexdigest().encode() + b"\n"


def counter_in(data):
    """Returns the counter in a bundle, even if that is cut after its assertion; None if it is cut before."""
    found = re.search(rb"authenticatorDataX\x25(.{33})(.{4})", data, re.DOTALL)
    return int.from_bytes(found[2], "big") if found else None


def without_assertion(path):
    """Returns all bytes of a bundle except assertion.cbor and its header."""
    data = pathlib.Path(path).read_bytes()
    with tarfile.open(path, "r:") as archive:
        member = archive.getmember("assertion.cbor")
    return data[:member.offset] + data[member.offset_data + -(-member.size // 512) * 512:]


class Link(typing.NamedTuple):
    """The link of a bundle, as its manifest and its assertion say."""
    seq: int
    prev: str | None
    manifest: str
    counter: int


def link_in(data):
    """Returns the link in a bundle, even if that is cut after its assertion; None if it has none or is not signed."""
    try:
        size = int(data[1024 + 124:1024 + 135], 8)
        manifest = data[1536:1536 + size]
        chain = json.loads(manifest).get("chain")
    except ValueError:
        return None
    counter = counter_in(data)
    if chain is None or counter is None:
        return None
    return Link(chain["seq"], chain.get("prev"), hashlib.sha256(manifest).hexdigest(), counter)


def links_in(folder):
    """Returns {path: link} for all files in a folder that hold a signed bundle with a link, hidden ones too."""
    found = {path: link_in(path.read_bytes()) for path in folder.iterdir() if path.is_file()}
    return {path: link for path, link in found.items() if link}
