"""assertion: A1 to A7. A7 is never broken by accident: every signature is right for the rest of its bundle."""

import hashlib

from bundle import signing
from bundle.signing import byte_string, text_string
from capbundle.format import assertion, p256
from capbundle.format.assertion import APPLE_FLAGS

from .base import APP_HASH, KEY, OTHER_KEY, PHONE_KEY, PHONE_TRUST, Case, Draft, apple_draft
from .valid import CATEGORY, VERSION

PLAIN = Draft().sealed_assertion()
SIGNATURE, AUTH_DATA = assertion.parse(PLAIN)
SIG_NAME, AUTH_NAME = text_string("signature"), text_string("authenticatorData")
MANIFEST = Draft().sealed_manifest()
NONCE = assertion.nonce(AUTH_DATA, MANIFEST)


def case(name, codes, covers, comment, data, **options):
    """Makes a vector; data is the bytes of assertion.cbor, or a Draft."""
    if isinstance(data, bytes):
        draft = Draft()
        draft.assertion_bytes = data
        data = draft
    codes = ",".join("assertion." + code for code in codes.split(","))
    return Case("assertion_" + name, codes, covers, comment, data, **options)


def cases():
    yield from _encoding()
    yield from _der()
    yield from _auth_data()
    yield from _flags()
    yield from _signature()


def _encoding():
    def one(name, comment, data):
        return case("encoding_" + name, "encoding", "A1", comment, data)

    sig, auth = byte_string(SIGNATURE), byte_string(AUTH_DATA)
    length, body = b"%c" % len(SIGNATURE), SIG_NAME + sig + AUTH_NAME + auth
    yield one("empty", "0 bytes", b"")
    yield one("one_byte", "the head of the map alone", b"\xa2")
    yield one("trailing_byte", "a byte after the map", PLAIN + b"\0")
    yield one("trailing_break", "a break after the map", PLAIN + b"\xff")
    yield one("twice", "the map twice", PLAIN + PLAIN)
    yield one("truncated", "the last byte is missing", PLAIN[:-1])
    yield one("truncated_signature", "an end inside the signature", PLAIN[:40])
    yield one("reversed", "authenticatorData before signature", b"\xa2" + AUTH_NAME + auth + SIG_NAME + sig)
    yield one("third_key", "a third member", b"\xa3" + body + text_string("x") + b"\0")
    yield one("one_key", "a signature and nothing else", b"\xa1" + SIG_NAME + sig)
    yield one("empty_map", "an empty map", b"\xa0")
    yield one("duplicate_key", "signature twice", b"\xa2" + SIG_NAME + sig + SIG_NAME + sig)
    yield one("count_3", "a map of 3 with two members", b"\xa3" + body)
    yield one("count_1", "a map of 1 with two members", b"\xa1" + body)
    yield one("other_key", "a key named sig", b"\xa2" + text_string("sig") + sig + AUTH_NAME + auth)
    yield one("key_case", "a key named authenticatordata",
              b"\xa2" + SIG_NAME + sig + text_string("authenticatordata") + auth)
    yield one("key_bytes", "the first key as a byte string",
              b"\xa2" + byte_string(b"signature") + sig + AUTH_NAME + auth)
    yield one("key_integer", "keys of integers", b"\xa2\x01" + sig + b"\x02" + auth)
    yield one("map_long_head", "the map's count in a head of two bytes", b"\xb8\x02" + body)
    yield one("map_indefinite", "a map of indefinite length", b"\xbf" + body + b"\xff")
    yield one("array", "an array, not a map", b"\x84" + body)
    yield one("tag", "the tag 55799 before the map", b"\xd9\xd9\xf7" + PLAIN)
    yield one("tag_signature", "a tag before the signature", b"\xa2" + SIG_NAME + b"\xc2" + sig + AUTH_NAME + auth)
    yield one("key_long_head", "the first key's length in a head of two bytes",
              b"\xa2\x78\x09signature" + sig + AUTH_NAME + auth)
    yield one("signature_long_head", "the signature's length in a head of three bytes",
              b"\xa2" + SIG_NAME + b"\x59\0" + length + SIGNATURE + AUTH_NAME + auth)
    yield one("signature_eight_byte_head", "the signature's length in a head of nine bytes",
              b"\xa2" + SIG_NAME + b"\x5b" + bytes(7) + length + SIGNATURE + AUTH_NAME + auth)
    yield one("signature_indefinite", "a signature of indefinite length",
              b"\xa2" + SIG_NAME + b"\x5f" + sig + b"\xff" + AUTH_NAME + auth)
    yield one("signature_text", "the signature as a text string",
              b"\xa2" + SIG_NAME + b"\x78" + length + SIGNATURE + AUTH_NAME + auth)
    yield one("signature_null", "a signature of null", b"\xa2" + SIG_NAME + b"\xf6" + AUTH_NAME + auth)
    yield one("signature_huge", "a signature of 2^64 - 1 bytes by its head", b"\xa2" + SIG_NAME + b"\x5b" + b"\xff" * 8)
    yield one("reserved_head", "a reserved head", b"\xa2" + SIG_NAME + b"\x5c" + SIGNATURE + AUTH_NAME + auth)
    yield one("auth_data_long_head", "the length of authenticatorData in a head of three bytes",
              b"\xa2" + SIG_NAME + sig + AUTH_NAME + b"\x59\0\x25" + AUTH_DATA)
    yield one("auth_data_text", "authenticatorData as a text string",
              b"\xa2" + SIG_NAME + sig + AUTH_NAME + b"\x78\x25" + AUTH_DATA)
    yield one("auth_data_indefinite", "authenticatorData of indefinite length",
              b"\xa2" + SIG_NAME + sig + AUTH_NAME + b"\x5f" + auth + b"\xff")
    yield one("bomb", "4096 heads of nested arrays", b"\x81" * 4096)
    yield one("bomb_maps", "nested maps within the map", b"\xa2" + SIG_NAME + b"\xa1" * 2000)
    yield one("json", "JSON, not CBOR", b'{"signature":"","authenticatorData":""}')


def _der():
    def one(name, comment, signature):
        return case("der_" + name, "der", "A2", comment, signing.encode(signature, AUTH_DATA))

    r, s = p256.decode_der(SIGNATURE)
    size = SIGNATURE[1]

    def integer(data):
        return b"\x02%c" % len(data) + data

    def sequence(*parts):
        return b"\x30%c" % len(b"".join(parts)) + b"".join(parts)

    def number(value):
        return integer(value.to_bytes(value.bit_length() // 8 + 1, "big"))

    yield one("empty", "a signature of 0 bytes", b"")
    yield one("empty_sequence", "an empty SEQUENCE", b"\x30\0")
    yield one("raw", "r and s as 64 bytes", r.to_bytes(32, "big") + s.to_bytes(32, "big"))
    yield one("trailing_byte", "a byte after the SEQUENCE", SIGNATURE + b"\0")
    yield one("trailing_inside", "a byte after s, counted by the SEQUENCE", sequence(number(r), number(s), b"\0"))
    yield one("third_integer", "a third INTEGER", sequence(number(1), number(1), number(1)))
    yield one("one_integer", "one INTEGER alone", sequence(number(r)))
    yield one("long_length", "the length of the SEQUENCE in BER's long form", b"\x30\x81%c" % size + SIGNATURE[2:])
    yield one("indefinite", "a SEQUENCE of indefinite length", b"\x30\x80" + number(1) + number(1) + b"\0\0")
    yield one("integer_long_length", "the length of r in BER's long form",
              sequence(b"\x02\x81\x01\x01", number(s)))
    yield one("length_short", "the SEQUENCE's length is one too low", b"\x30%c" % (size - 1) + SIGNATURE[2:])
    yield one("length_long", "the SEQUENCE's length is one too high", b"\x30%c" % (size + 1) + SIGNATURE[2:])
    yield one("truncated", "the last byte of s is missing", SIGNATURE[:-1])
    yield one("padded_r", "r with a zero byte that is not needed", sequence(integer(b"\0\x01"), number(s)))
    yield one("padded_s", "s with a zero byte that is not needed", sequence(number(1), integer(b"\0\x7f")))
    yield one("negative_r", "r is negative", sequence(integer(b"\xff"), number(s)))
    yield one("negative_s", "s is negative", sequence(number(1), integer(b"\x80" + bytes(31))))
    yield one("empty_r", "r of 0 bytes", sequence(b"\x02\0", number(s)))
    yield one("zero_r", "r is 0", sequence(number(0), number(s)))
    yield one("zero_s", "s is 0", sequence(number(r), number(0)))
    yield one("zero_both", "r and s are 0, the signature of CVE-2022-21449", sequence(number(0), number(0)))
    yield one("n_r", "r is n", sequence(number(p256.N), number(s)))
    yield one("n_s", "s is n", sequence(number(r), number(p256.N)))
    yield one("s_plus_n", "s plus n", sequence(number(1), number(p256.N + 1)))
    yield one("set", "a SET, not a SEQUENCE", b"\x31" + SIGNATURE[1:])
    yield one("bit_string", "r as a BIT STRING", sequence(b"\x03\x02\0\x01", number(s)))
    yield one("octet_string", "the DER inside an OCTET STRING", b"\x04%c" % len(SIGNATURE) + SIGNATURE)
    yield one("p384", "numbers of 48 bytes", sequence(integer(b"\1" * 48), integer(b"\1" * 48)))
    yield one("long", "a signature of 300 bytes", SIGNATURE + bytes(300 - len(SIGNATURE)))
    draft = Draft()
    draft.assertion_bytes = signing.encode(SIGNATURE + b"\0", signing.authenticator_data(0, flags=1) + b"\0")
    yield case("der_and_others", "der", "A2",
               "a byte after the SEQUENCE; length, flags and counter are wrong too: not told",
               draft)


def signed(auth_data, key=KEY, low_s=True):
    draft = Draft(key=key)
    draft.auth_data, draft.low_s = auth_data, low_s
    return draft


def _auth_data():
    def disk(name, comment, auth_data):
        return case("authdata_" + name, "authdata", "A3", comment, signed(auth_data))

    def phone(name, comment, extension):
        return case("authdata_" + name, "authdata", "A3", comment, apple_draft(extension), trust=PHONE_TRUST)

    yield disk("empty", "authenticatorData of 0 bytes", b"")
    yield disk("32", "an rpIdHash alone", AUTH_DATA[:32])
    yield disk("36", "36 bytes under a disk key", AUTH_DATA[:36])
    yield disk("38", "38 bytes under a disk key", AUTH_DATA + b"\0")
    yield disk("300", "300 bytes under a disk key", AUTH_DATA + bytes(263))
    yield disk("disk_map", "the map of iOS 27 under a disk key", AUTH_DATA + b"\xa2" + CATEGORY + VERSION)
    yield case("authdata_36_apple", "authdata", "A3", "36 bytes under an Apple key",
               signed(APP_HASH + b"\x40\0\0\0", PHONE_KEY), trust=PHONE_TRUST)
    category, name = text_string("apple_validation_category_01"), text_string("apple_bundle_version_01")
    for title, extension, comment in (
            ("38", b"\0", "38 bytes"), ("map_empty", b"\xa0", "an empty map"),
            ("map_unknown", b"\xa1" + text_string("apple_other_01") + b"\x41\0", "an unknown member"),
            ("map_third", b"\xa3" + CATEGORY + VERSION + text_string("x") + b"\x41\0", "a third member"),
            ("map_twice", b"\xa2" + CATEGORY + CATEGORY, "a member twice"),
            ("map_junk", b"\xa1" + CATEGORY + b"\0", "a byte after the map"),
            ("map_second", b"\xa1" + CATEGORY + b"\xa1" + VERSION, "a second map"),
            ("map_truncated", (b"\xa1" + CATEGORY)[:-1], "a map that is cut off"),
            ("map_count", b"\xa2" + CATEGORY, "a map of 2 with one member"),
            ("map_indefinite", b"\xbf" + CATEGORY + b"\xff", "a map of indefinite length"),
            ("map_long_head", b"\xb8\x01" + CATEGORY, "the map's count in a head of two bytes"),
            ("map_array", b"\x82" + CATEGORY, "an array, not a map"),
            ("map_tag", b"\xc0\xa1" + CATEGORY, "a tag before the map"),
            ("category_text", b"\xa1" + category + text_string("3"), "the category as text"),
            ("category_integer", b"\xa1" + category + b"\x03", "the category as an integer"),
            ("category_indefinite", b"\xa1" + category + b"\x5f\x41\x03\xff", "a category of indefinite length"),
            ("category_long_head", b"\xa1" + category + b"\x58\x01\x03", "a category with a head too long"),
            ("version_bytes", b"\xa1" + name + byte_string(b"1.4"), "the bundle version as bytes"),
            ("version_not_utf8", b"\xa1" + name + b"\x61\xff", "a bundle version that is no UTF-8"),
            ("version_surrogate", b"\xa1" + name + b"\x63\xed\xa0\x80", "a surrogate in the bundle version"),
            ("key_bytes", b"\xa1" + byte_string(b"apple_bundle_version_01") + text_string("1"), "a key as bytes"),
            ("key_long_head", b"\xa1\x79\0\x17" + name[1:] + text_string("1"), "a key with a head too long"),
            ("map_bomb", b"\xa1" * 3000, "3000 heads of nested maps")):
        yield phone("apple_" + title, "an Apple key: " + comment, extension)


def _flags():
    for flags, comment in (
            (0x01, "user present"), (0x40, "those of an Apple key"), (0x80, "extension data"), (0xFF, "all")):
        yield case("flags_disk_%02x" % flags, "flags", "A4", "a disk key with flags %02x, %s" % (flags, comment),
                   signed(signing.authenticator_data(1, flags=flags)))
    for flags, extension, comment in (
            (0x00, b"", "those of a disk key"), (0x41, b"", "user present as well"),
            (0xC0, b"\xa1" + CATEGORY, "extension data as well, with the map")):
        yield case("flags_apple_%02x" % flags, "flags", "A4", "an Apple key with flags %02x, %s" % (flags, comment),
                   signed(signing.authenticator_data(7, APP_HASH, flags, extension), PHONE_KEY), trust=PHONE_TRUST)
    yield case("low_s", "low_s", "A5", "a disk key's signature with s above (n - 1)/2", signed(AUTH_DATA, low_s=False))
    yield case("counter_zero", "counter", "A6", "a disk key's counter of 0", signed(signing.authenticator_data(0)))
    yield case("several", "counter,flags,low_s", "A4, A5, A6", "flags 01, counter 0 and s in the upper half",
               signed(signing.authenticator_data(0, flags=1), low_s=False))
    yield case("several_with_length", "authdata,counter,flags,low_s", "A3, A4, A5, A6",
               "38 bytes under a disk key, flags 01, counter 0 and s in the upper half",
               signed(signing.authenticator_data(0, flags=1) + b"\0", low_s=False))
    changed = AUTH_DATA[:32] + b"\1" + AUTH_DATA[33:]
    yield case("flags_changed", "flags,signature", "A4, A7", "the flags of a disk key were changed after signing",
               signing.encode(SIGNATURE, changed))


def _signature():
    def one(name, comment, data, **options):
        return case("signature_" + name, "signature", "A7", comment, data, **options)

    def over(numbers):
        return signing.encode(signing.encode_der(*numbers), AUTH_DATA)

    client = assertion.client_data(MANIFEST)

    def typed(media_type):
        return over(KEY.sign(assertion.nonce(AUTH_DATA, MANIFEST, media_type)))

    yield one("other_key", "signed by another key", over(OTHER_KEY.sign(NONCE)))
    yield one("single_hash", "the nonce is not hashed again, as WebAuthn libraries do", over(KEY.sign_digest(NONCE)))
    yield one("webauthn", "over authenticatorData and the hash of a WebAuthn client data JSON",
              over(KEY.sign(AUTH_DATA + hashlib.sha256(b'{"type":"webauthn.get"}').digest())))
    yield one("manifest", "over the manifest itself", over(KEY.sign(MANIFEST)))
    yield one("manifest_hash", "over the manifest's hash in place of clientData's",
              over(KEY.sign(hashlib.sha256(AUTH_DATA + hashlib.sha256(MANIFEST).digest()).digest())))
    yield one("client_data", "over clientData without authenticatorData", over(KEY.sign(client)))
    yield one("client_data_plain", "over authenticatorData and clientData, which was not hashed",
              over(KEY.sign(hashlib.sha256(AUTH_DATA + client).digest())))
    yield one("type_version_2", "the signed type says version 2", typed(assertion.TYPE[:-1] + b"2"))
    yield one("type_in_toto", "the signed type is that of in-toto", typed(b"application/vnd.in-toto+json"))
    yield one("type_empty", "the signed type is empty", typed(b""))
    yield one("pae_version", "DSSEv2 in the pre-authentication encoding",
              over(KEY.sign(_nonce(client.replace(b"DSSEv1", b"DSSEv2")))))
    yield one("pae_newline", "a newline after the pre-authentication encoding", over(KEY.sign(_nonce(client + b"\n"))))
    yield one("pae_binary_lengths", "lengths of eight bytes in the encoding, as PASETO has them",
              over(KEY.sign(_nonce(b"DSSEv1" + len(assertion.TYPE).to_bytes(8, "little") + assertion.TYPE
                                   + len(MANIFEST).to_bytes(8, "little") + MANIFEST))))
    other = Draft()
    other.chain = {"seq": 1}
    yield one("other_manifest", "the sound assertion of another bundle of the same key", other.sealed_assertion())
    draft = Draft()
    draft.assertion_bytes = PLAIN
    draft.depth["source"] = dict(draft.depth["source"], row_order="bottom-first")
    yield one("manifest_changed", "depth.source of the manifest was changed after signing", draft)
    changed = bytearray(AUTH_DATA)
    changed[36] = 2
    yield one("counter_changed", "the counter was changed after signing", signing.encode(SIGNATURE, bytes(changed)))
    # rpIdHash decides the kind of a key, so it must be signed too.
    yield one("rpid_changed", "rpIdHash and flags were made those of an app after signing",
              signing.encode(SIGNATURE, APP_HASH + b"%c" % APPLE_FLAGS + AUTH_DATA[33:]))
    phone = apple_draft()
    phone.assertion_bytes = signing.make(phone.sealed_manifest(), OTHER_KEY, phone.auth_data)
    yield one("apple", "an Apple key's assertion, signed by another key", phone, trust=PHONE_TRUST)
    phone = apple_draft()
    signature, auth_data = assertion.parse(phone.sealed_assertion())
    phone.assertion_bytes = signing.encode(signature, auth_data + b"\xa1" + CATEGORY)
    yield one("apple_map_added", "the map of iOS 27 was added after signing", phone, trust=PHONE_TRUST)
    r, s = p256.decode_der(SIGNATURE)
    yield one("swapped", "r and s swapped", over((s, min(r, p256.N - r))))
    yield one("ones", "r and s are 1, the shortest signature", over((1, 1)))
    device = Draft()
    device.manifest()["device"] = Draft(key=OTHER_KEY).manifest()["device"]
    device.rename_id(OTHER_KEY.point)
    yield one("device_changed", "device and id are those of another key than the one that signed", device)


def _nonce(client_data):
    return hashlib.sha256(AUTH_DATA + hashlib.sha256(client_data).digest()).digest()
