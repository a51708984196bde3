"""Reads counters from bundles and key states byte by byte, so that the code under test does not check itself."""
import hashlib
import pathlib
import re
import tarfile

from checks import expect


def counter_of_state(data, about=""):
    lines = data.split(b"\n")
    body = b"".join(line + b"\n" for line in lines[:5])
    whole = len(lines) == 7 and lines[6] == b"" and lines[5] == b"sha256 " + hashlib.sha256(body).hexdigest().encode()
    expect(whole, f"{about}: device.key.state is not whole: {data[:80]!r}")
    return int(lines[2].removeprefix(b"counter "))


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
