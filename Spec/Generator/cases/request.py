"""request: the signature of one upload attempt (Q1, Q2). The bytes of a vector are the body."""

import hashlib

from bundle import request, signing
from capbundle.format import assertion, base64_strict, p256

from .base import KEY, OTHER_KEY, PHONE_KEY, Case, Draft
from .bodies import Body

DEVICE = "3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c"
TIMESTAMP = "1773476813589"
BODY = b"any body will do\r\n"
GREATEST = "9007199254740991"
SIGNATURE = request.sign(KEY, TIMESTAMP, BODY)
DER = base64_strict.decode(SIGNATURE)


def case(name, covers, comment, device=DEVICE, timestamp=TIMESTAMP, signature=SIGNATURE, body=BODY, point=KEY.point):
    headers = (("point", base64_strict.encode(point)), ("x-device-id", device), ("x-device-timestamp", timestamp),
               ("x-device-signature", signature))
    codes = {"Q1": "request.header", "Q2": "request.signature"}.get(covers, "")
    return Case("request_" + name, codes, covers, comment, body, trust=(), headers=headers)


def cases():
    yield from _accepted()
    yield from _devices()
    yield from _timestamps()
    yield from _base64()
    yield from _der()
    yield from _signatures()


def _accepted():
    page = "section 2 of upload.md"
    yield case("low_s", page, "s in the lower half, as a signer gives it")
    yield case("high_s", page, "s in the upper half", signature=request.sign(KEY, TIMESTAMP, BODY, low_s=False))
    yield case("phone", page, "another key", signature=request.sign(PHONE_KEY, TIMESTAMP, BODY), point=PHONE_KEY.point)
    yield case("device_upper", page, "the device id in upper case", device=DEVICE.upper())
    yield case("device_mixed", page, "the device id in mixed case, of no version",
               device="FFffFFff-0000-ffff-FFFF-00000000000a")
    yield case("timestamp_zero", page, "timestamp 0", timestamp="0", signature=request.sign(KEY, "0", BODY))
    yield case("timestamp_greatest", page, "the greatest timestamp", timestamp=GREATEST,
               signature=request.sign(KEY, GREATEST, BODY))
    yield case("body_empty", page, "an empty body", body=b"", signature=request.sign(KEY, TIMESTAMP, b""))
    whole = Body().bytes()
    yield case("body_minimal", page, "the body of multipart_minimal", body=whole,
               signature=request.sign(KEY, TIMESTAMP, whole))
    short = next(data for data in (b"%d" % number for number in range(10000))
                 if len(base64_strict.decode(request.sign(KEY, TIMESTAMP, data))) < 70)
    yield case("der_short", page, "a signature of fewer than 70 bytes", body=short,
               signature=request.sign(KEY, TIMESTAMP, short))


def _devices():
    for name, comment, device in (
            ("empty", "an empty device id", ""), ("short", "a device id that lacks its last digit", DEVICE[:-1]),
            ("long", "a device id with a digit too many", DEVICE + "0"),
            ("letter", "a device id with the letter g", DEVICE.replace("f", "g")),
            ("no_hyphens", "a device id without hyphens", DEVICE.replace("-", "")),
            ("hyphens", "a device id with its first hyphen a digit later", "3f2b8c1e5-d47-4b1a-9c0e-7a6f1d2e3b4c"),
            ("braces", "a device id in braces", "{%s}" % DEVICE), ("urn", "a device id as a URN", "urn:uuid:" + DEVICE),
            ("space", "a space before the device id", " " + DEVICE),
            ("space_end", "a space after the device id", DEVICE + " ")):
        yield case("device_" + name, "Q1", comment, device=device)


def _timestamps():
    above = str(int(GREATEST) + 1)
    for name, comment, timestamp in (
            ("empty", "an empty timestamp", ""), ("above", "a timestamp one above the greatest", above),
            ("long", "a timestamp of 17 digits", "1" * 17), ("leading_zero", "a leading zero", "0" + TIMESTAMP),
            ("zeros", "timestamp 00", "00"), ("minus", "a minus sign", "-" + TIMESTAMP),
            ("plus", "a plus sign", "+" + TIMESTAMP),
            ("fraction", "a fraction", TIMESTAMP + ".0"), ("exponent", "an exponent", "1e12"),
            ("hex", "hex digits", "0x19ceae5c955"), ("underscore", "an underscore", "1_773476813589"),
            ("date", "a date", "2026-03-14T08:26:53.589Z"), ("space", "a space before the timestamp", " " + TIMESTAMP),
            ("space_end", "a space after the timestamp", TIMESTAMP + " ")):
        yield case("timestamp_" + name, "Q1", comment, timestamp=timestamp,
                   signature=request.sign(KEY, timestamp, BODY))


def _base64():
    # A signature whose base64 has unused bits, and so padding.
    data = next(data for data in (b"%d" % number for number in range(100))
                if request.sign(KEY, TIMESTAMP, data).endswith("="))
    padded = request.sign(KEY, TIMESTAMP, data)
    bare = padded.rstrip("=")
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    unused = bare[:-1] + digits[digits.index(bare[-1]) + 1] + padded[len(bare):]
    for name, comment, signature in (
            ("empty", "an empty signature", ""), ("no_padding", "base64 without padding", bare),
            ("unused_bits", "base64 with an unused bit set", unused),
            ("space", "a space before the signature", " " + padded),
            ("space_end", "a space after the signature", padded + " "), ("space_inside", "a space inside the base64",
                                                                       padded[:40] + " " + padded[40:]),
            ("hex", "the signature in hex", base64_strict.decode(padded).hex())):
        yield case("base64_" + name, "Q1", comment, signature=signature, body=data)
    wide = next(data for data in (b"%d" % number for number in range(1000))
                if set("+/") <= set(request.sign(KEY, TIMESTAMP, data)))
    yield case("base64_url", "Q1", "base64 for URLs", body=wide,
               signature=request.sign(KEY, TIMESTAMP, wide).replace("+", "-").replace("/", "_"))


def _der():
    r, s = p256.decode_der(DER)

    def integer(value, extra=b""):
        data = extra + value.to_bytes(value.bit_length() // 8 + 1, "big")
        return b"\x02%c" % len(data) + data

    def sequence(*parts):
        return b"\x30%c" % len(b"".join(parts)) + b"".join(parts)

    for name, comment, der in (
            ("raw", "r and s as 64 bytes", r.to_bytes(32, "big") + s.to_bytes(32, "big")),
            ("long_length", "the length of the SEQUENCE in BER's long form", b"\x30\x81%c" % DER[1] + DER[2:]),
            ("indefinite", "a SEQUENCE of indefinite length", b"\x30\x80" + DER[2:] + b"\0\0"),
            ("trailing", "a byte after the SEQUENCE", DER + b"\0"),
            ("trailing_inside", "a byte after s inside the SEQUENCE", sequence(integer(r), integer(s), b"\0")),
            ("truncated", "the last byte is missing", DER[:-1]),
            ("padded", "a zero byte too many before s", sequence(integer(r), integer(s, b"\0"))),
            ("zero", "r is 0", sequence(integer(0), integer(s))),
            ("order", "s is n", sequence(integer(r), integer(p256.N))),
            ("plus_order", "s is its value and n", sequence(integer(r), integer(s + p256.N))),
            ("negative", "s is a negative number", sequence(integer(r), b"\x02\x01\xff"))):
        yield case("der_" + name, "Q1", comment, signature=base64_strict.encode(der))


def _signatures():
    yield case("body_changed", "Q2", "a bit of the body is flipped", body=b"\x60" + BODY[1:])
    yield case("body_longer", "Q2", "a byte after the body", body=BODY + b"\0")
    yield case("body_dropped", "Q2", "an empty body", body=b"")
    yield case("timestamp_next", "Q2", "the timestamp is one more than the signed one",
               timestamp=str(int(TIMESTAMP) + 1))
    yield case("key_other", "Q2", "the signature of another key", signature=request.sign(OTHER_KEY, TIMESTAMP, BODY))
    yield case("swapped", "Q2", "r and s were exchanged", signature=base64_strict.encode(
        signing.encode_der(*reversed(p256.decode_der(DER)))))

    def signed(name, comment, message):
        return case(name, "Q2", comment, signature=base64_strict.encode(signing.encode_der(*KEY.sign(message))))

    plain = request.message(TIMESTAMP, BODY)
    yield signed("message_upper", "the hash in the message is in upper case", plain.upper())
    yield signed("message_raw", "the hash in the message is 32 bytes",
                 plain[:-64] + bytes.fromhex(plain[-64:].decode()))
    yield signed("message_separator", "a colon in the message", plain.replace(b"|", b":"))
    yield signed("message_newline", "a newline after the message", plain + b"\n")
    yield signed("message_device", "the device id stands before the message", DEVICE.encode() + b"|" + plain)
    yield signed("message_body", "the body itself is signed", BODY)
    yield signed("message_hash", "the hash alone is signed", plain[-64:])
    yield case("message_hashed", "Q2", "the message is not hashed before it is signed a second time",
               signature=base64_strict.encode(signing.encode_der(*KEY.sign(hashlib.sha256(plain).digest()))))
    yield case("assertion", "Q2", "the signature of the assertion in the body", body=Body().bytes(),
               signature=base64_strict.encode(assertion.parse(Draft(with_depth=False).sealed_assertion())[0]))
