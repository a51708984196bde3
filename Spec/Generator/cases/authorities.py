"""`tsa` lines of a trust file: section 10 of capture-bundle.md. What they hold only has the form of a certificate."""

from capbundle.format import base64_strict
from capbundle.format.trust import MAX_CERTIFICATE, sequence_head

from .base import APP_ID, KEY, TRUST, trust_line


def _sequence(size):
    return sequence_head(size) + bytes(size)


def _line(data=_sequence(300), name="authority", options=""):
    return " ".join(part for part in (name, options, "tsa", base64_strict.encode(data)) if part)


_TSA = _line()
_LARGEST = MAX_CERTIFICATE - 4


def unknown():
    """Yields (name, comment, lines) of files that keep the grammar, but name no device."""
    yield "tsa", "a time stamping authority alone", _TSA
    spki = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200") + KEY.point
    yield "tsa_key", "a tsa line whose SEQUENCE holds the device's key", _line(spki, "studio")


def accepted():
    """Yields (name, comment, lines) of files that name the key of the base bundle too."""
    yield "tsa", "a time stamping authority before the device", (_TSA, TRUST)
    yield "tsa_last", "a time stamping authority after the device", (TRUST, _TSA)
    yield "tsa_twice", "a time stamping authority twice, under one name", (_TSA, TRUST, _TSA)
    yield "tsa_name", "an authority with the name of the device", (_line(name="studio"), TRUST)
    yield "tsa_name_p256", "an authority named p256", (_line(name="p256"), TRUST)
    yield "tsa_name_tsa", "an authority and a device named tsa", (_line(name="tsa"), trust_line(KEY, "tsa"))
    yield "tsa_separators", "runs of spaces and tabs in a tsa line", (_TSA.replace(" ", " \t "), TRUST)
    yield ("tsa_valid_after", "an authority whose window begins after the capture",
           (_line(options="valid-after=2027-01-01"), TRUST))
    yield ("tsa_valid_before", "an authority whose window ends before the capture",
           (_line(options="valid-before=2026-03-14T08:26:53Z"), TRUST))
    yield ("tsa_revoked", "an authority with the name of the device is revoked",
           (_line(name="studio", options="revoked"), TRUST))
    yield ("tsa_options", "all options of an authority",
           (_line(options="revoked,valid-before=2027-01-01,valid-after=2026-01-01"), TRUST))
    yield "tsa_empty", "a SEQUENCE of nothing: whether it is a certificate is asked later", (_line(_sequence(0)), TRUST)
    for size in (127, 128, 255, 256):
        yield "tsa_%d" % size, "a SEQUENCE of %d bytes" % size, (_line(_sequence(size)), TRUST)
    yield "tsa_largest", "a SEQUENCE of 16384 bytes with its head", (_line(_sequence(_LARGEST)), TRUST)


def refused():
    """Yields (name, comment, line) of lines that break rule T0."""
    for name, options, comment in (
            ("level", "level=software", "a level"), ("token", "level=token", "the level token"),
            ("rpid", 'rpid="%s"' % APP_ID, "rpid"),
            ("apple", 'level=apple-appattest,rpid="%s"' % APP_ID, "apple-appattest with rpid"),
            ("revoked_time", "revoked=2027-01-01", "revoked with a time"),
            ("revoked_twice", "revoked,revoked", "revoked twice"),
            ("time_empty", "valid-after=", "an empty time"), ("option_unknown", "note=1", "an unknown option")):
        yield "tsa_" + name, "a tsa line with " + comment, _line(options=options)
    for name, line, comment in (
            ("type", _TSA.replace("tsa", "TSA"), "the type in upper case"),
            ("two_types", _TSA.replace("tsa", "p256 tsa"), "p256 and tsa"),
            ("no_name", _TSA.split(" ", 1)[1], "no name"), ("name_first", "-" + _TSA, "a name that begins with a hyphen"),
            ("no_base64", "authority tsa", "no certificate"),
            ("base64_empty", "authority tsa ", "an empty certificate after the space"),
            ("base64_letter", "authority tsa !" + _TSA.split(" ")[2][1:], "a letter that is no base64"),
            ("base64_no_padding", _line(_sequence(126)).rstrip("="), "base64 without padding"),
            ("base64_unused_bits", "authority tsa MAB=", "an unused bit of the base64 is not zero"),
            ("point", "authority tsa " + TRUST.split(" ")[2], "a point"),
            ("pem", "-----BEGIN CERTIFICATE-----", "a PEM file")):
        yield "tsa_" + name, "a tsa line: " + comment if name != "pem" else comment, line
    body = bytes(300)
    for name, data, comment in (
            ("set", b"\x31" + _sequence(300)[1:], "a SET"), ("primitive", b"\x10\0", "the tag of a primitive SEQUENCE"),
            ("tag_alone", b"\x30", "a tag without a length"), ("length_cut", b"\x30\x82\1", "a length that is cut"),
            ("cut", _sequence(300)[:-1], "the last byte is missing"),
            ("trailing", _sequence(300) + b"\0", "a byte after the SEQUENCE"),
            ("trailing_short", _sequence(0) + b"\0", "a byte after an empty SEQUENCE"),
            ("two", _sequence(300) * 2, "two SEQUENCEs"),
            ("indefinite", b"\x30\x80" + body + b"\0\0", "a SEQUENCE of indefinite length"),
            ("indefinite_128", b"\x30\x80" + bytes(128), "a length of 0x80 before 128 bytes"),
            ("long_127", b"\x30\x81\x7f" + bytes(127), "a length of 127 in two bytes"),
            ("long_255", b"\x30\x82\0\xff" + bytes(255), "a length of 255 in three bytes"),
            ("long_300", b"\x30\x83\0\1\x2c" + body, "a length of 300 in four bytes"),
            ("reserved", b"\x30\xff" + bytes(127), "the reserved first byte 0xff of a length"),
            ("large", _sequence(_LARGEST + 1), "a SEQUENCE of 16385 bytes with its head")):
        yield "tsa_" + name, comment + " in a tsa line", _line(data)
