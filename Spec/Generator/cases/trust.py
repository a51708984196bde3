"""trust: T0 to T6, all with the base bundle or one of an Apple key."""

import base64
import hashlib

from bundle import signing
from capbundle.format import assertion, base64_strict

from . import authorities, trust_files
from .base import (APP_ID, KEY, OTHER_KEY, PHONE_KEY, TRUST, Case, Draft, apple_draft,
                   trust_line)

BASE = Draft()
KEY_TEXT = base64_strict.encode(KEY.point)
RPID = 'rpid="%s"' % APP_ID


def case(name, codes, covers, comment, trust, data=BASE, **options):
    codes = ",".join("trust." + code for code in codes.split(","))
    return Case("trust_" + name, codes, covers, comment, data, trust=trust, **options)


def cases():
    yield from _broken()
    yield from _level()
    yield from _times()
    yield case("unknown", "unknown", "T5", "an empty trust file", ())
    yield case("unknown_other", "unknown", "T5", "only another key is known", trust_line(OTHER_KEY))
    yield case("unknown_comment", "unknown", "T5", "the key stands in a comment", "# " + TRUST)
    for name, comment, data in trust_files.unknown():
        yield case("unknown_" + name, "unknown", "T5, section 10", comment, data)
    for name, comment, lines in authorities.unknown():
        yield case("unknown_" + name, "unknown", "T5, section 10", comment, lines)
    yield case("unknown_revoked_other", "unknown", "T5", "another key is revoked",
               trust_line(OTHER_KEY, options="revoked"))
    yield case("unknown_apple", "unknown", "T5", "the app is known, but through another phone's key",
               trust_line(OTHER_KEY, "phone", "level=apple-appattest," + RPID), apple_draft())
    negated = KEY.point[:33] + (0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
                                - int.from_bytes(KEY.point[33:], "big")).to_bytes(32, "big")
    yield case("unknown_negated", "unknown", "T5", "the known point has the same x and the other y",
               "studio p256 " + base64_strict.encode(negated))
    for name, lines, comment in (
            ("only", (trust_line(KEY, options="revoked"),), "the key is revoked"),
            ("second", (TRUST, trust_line(KEY, "stolen", "revoked")), "a later line revokes the key"),
            ("first", (trust_line(KEY, "stolen", "revoked"), TRUST), "a later line would accept the key"),
            ("past", (trust_line(KEY, options="valid-before=2026-12-31,revoked"),),
             "the line is revoked; its window holds the bundle, which does not help"),
            ("window", (trust_line(KEY, options="revoked,valid-before=2020-01-01"), TRUST),
             "the revoking line's window does not hold the bundle, which does not help"),
            ("level", (TRUST, trust_line(KEY, "phone", "level=apple-appattest,%s,revoked" % RPID)),
             "the revoking line is of another level"),
            ("time", (trust_line(KEY, options="revoked=2026-03-14T08:26:53.588Z"),),
             "revoked one millisecond before the time of the capture"),
            ("time_equal", (trust_line(KEY, options="revoked=2026-03-14T09:26:53.589+01:00"),),
             "revoked at the time of the capture"),
            ("time_later", (trust_line(KEY, options="revoked=9999-12-31T23:59:59.999999999Z"),),
             "revoked long after the capture, which does not help: there is no time stamp"),
            ("time_date", (trust_line(KEY, options="revoked=2026-03-15"),), "revoked from the next day on"),
            ("time_options", (trust_line(KEY, options="level=token,valid-after=2026-01-01,revoked=2027-01-01,"
                                         "valid-before=2028-01-01"),), "revoked with a time, among other options"),
            ("time_second", (TRUST, trust_line(KEY, "stolen", "revoked=2027-01-01")),
             "a later line revokes the key from a time on"),
            ("times", (trust_line(KEY, "a", "revoked=2027-01-01"), trust_line(KEY, "b", "revoked=2026-01-01"), TRUST),
             "two lines revoke the key, from different times on"),
            ("time_and_none", (trust_line(KEY, "a", "revoked=2027-01-01"), trust_line(KEY, "b", "revoked")),
             "one of two revoking lines has a time")):
        yield case("revoked_" + name, "revoked", "T6", comment, lines)


def _level():
    yield case("level_apple", "level", "T1", "level is apple-appattest with the rpid of disk keys, the key a disk key",
               trust_line(KEY, options='level=apple-appattest,rpid="capture-bundle.device-key"'))
    yield case("level_software", "level", "T1", "level is software, the key an Apple key", trust_line(PHONE_KEY),
               apple_draft())
    yield case("level_software_named", "level", "T1", "level=software, the key an Apple key",
               trust_line(PHONE_KEY, options="level=software"), apple_draft())
    for level in ("token", "tpm"):
        yield case("level_" + level, "level", "T1", "level is %s, the key an Apple key" % level,
                   trust_line(PHONE_KEY, options="level=" + level), apple_draft())
    yield case("level_and_rpid", "level,rpid", "T1, T2", "level is apple-appattest, the key a disk key",
               trust_line(KEY, options="level=apple-appattest," + RPID))
    disguised = Draft()
    disguised.auth_data = signing.authenticator_data(
        1, hashlib.sha256(APP_ID.encode()).digest(), assertion.APPLE_FLAGS)
    yield case("level_disguised", "level", "T1", "a key known as software signs as if it were an app", TRUST, disguised)
    yield case("rpid", "rpid", "T2", "another app of the same team",
               trust_line(PHONE_KEY, options='level=apple-appattest,rpid="%s2"' % APP_ID), apple_draft())
    yield case("rpid_case", "rpid", "T2", "the app's identifier in upper case",
               trust_line(PHONE_KEY, options='level=apple-appattest,rpid="%s"' % APP_ID.upper()), apple_draft())
    yield case("rpid_is_hash", "rpid", "T2", "rpid is the hash itself in hex",
               trust_line(PHONE_KEY, options='level=apple-appattest,rpid="%s"' % hashlib.sha256(
                   APP_ID.encode()).hexdigest()), apple_draft())


def _times():
    # The time of the bundle is 2026-03-14T08:26:53.589Z.
    for name, time, comment in (
            ("next", "2026-03-14T08:26:53.590Z", "valid-after is one millisecond later"),
            ("nanosecond", "2026-03-14T08:26:53.589000001Z", "valid-after is one nanosecond later"),
            ("day", "2026-03-15", "valid-after is the next day"),
            ("zone", "2026-03-14T07:26:53.590-01:00", "valid-after is one millisecond later in another zone")):
        yield case("not_yet_valid_" + name, "not_yet_valid", "T3", comment,
                   trust_line(KEY, options="valid-after=" + time))
    for name, time, comment in (
            ("equal", "2026-03-14T08:26:53.589Z", "valid-before is the same millisecond"),
            ("day", "2026-03-14", "valid-before is the same day, which means its first moment"),
            ("zone", "2026-03-14T09:26:53.589+01:00", "valid-before is the same moment in another zone")):
        yield case("expired_" + name, "expired", "T4", comment, trust_line(KEY, options="valid-before=" + time))
    yield case("expired_and_not_yet_valid", "expired,not_yet_valid", "T3, T4", "a window that ends before it begins",
               trust_line(KEY, options="valid-after=2027-01-01,valid-before=2026-01-01"))
    yield case("expired_first_of_two", "expired", "T4", "two lines refuse: the first one's codes are told",
               (trust_line(KEY, "old", "valid-before=2026-01-01"), trust_line(KEY, "new", "valid-after=2027-01-01")))
    yield case("not_yet_valid_first_of_two", "not_yet_valid", "T3", "two lines refuse, the other way round",
               (trust_line(KEY, "new", "valid-after=2027-01-01"), trust_line(KEY, "old", "valid-before=2026-01-01")))
    yield case("expired_and_rpid", "expired,rpid", "T2, T4", "another app, and expired",
               trust_line(PHONE_KEY, "phone", 'level=apple-appattest,rpid="x",valid-before=2026-01-01'), apple_draft())


def _broken():
    def one(name, comment, *lines, **options):
        return case("file_" + name, "file", "T0", comment, lines, **options)

    rest = " p256 " + KEY_TEXT
    for name, line, comment in (
            ("word", "studio", "a name alone"), ("no_key", "studio p256", "no key"),
            ("no_name", "p256 " + KEY_TEXT, "no name"),
            ("five_fields", "studio revoked level=software" + rest, "two fields of options"),
            ("comment_after", TRUST + " # note", "a comment after the key"),
            ("type", "studio P256 " + KEY_TEXT, "the key type in upper case"),
            ("type_other", "studio ssh-ed25519 " + KEY_TEXT, "another key type"),
            ("name_first", "-studio" + rest, "a name that begins with a hyphen"),
            ("name_character", "stu/dio" + rest, "a name with a slash"),
            ("name_long", "n" * 65 + rest, "a name of 65 characters"),
            ("space_first", " studio" + rest, "a space before the name"),
            ("space_last", TRUST + " ", "a space after the key"),
            ("carriage_return", TRUST + "\r", "a carriage return at the end of the line"),
            ("base64_no_padding", TRUST.rstrip("="), "base64 without padding"),
            ("base64_unused_bits", TRUST[:-2] + chr(ord(TRUST[-2]) + 1) + "=",
             "an unused bit of the base64 is not zero"),
            ("base64_letter", "studio p256 !" + KEY_TEXT[1:], "a letter that is no base64"),
            ("hex", "studio p256 " + KEY.point.hex(), "the key in hex"),
            ("options_empty", "studio ," + rest, "an empty option"),
            ("option_unknown", "studio note=1" + rest, "an unknown option"),
            ("option_case", "studio Revoked" + rest, "an option in upper case"),
            ("option_twice", "studio revoked,revoked" + rest, "an option twice"),
            ("option_twice_times", "studio valid-after=2026-01-01,valid-after=2026-01-01" + rest, "valid-after twice"),
            ("comma_last", "studio revoked," + rest, "a comma after the last option"),
            ("revoked_value", "studio revoked=true" + rest, "revoked with a value that is not a time"),
            ("revoked_empty", "studio revoked=" + rest, "revoked with an empty time"),
            ("revoked_month", "studio revoked=2026-03" + rest, "revoked with a month alone"),
            ("revoked_no_zone", "studio revoked=2026-03-14T08:26:53" + rest, "revoked with a time without a zone"),
            ("revoked_quoted", 'studio revoked="2026-03-14"' + rest, "revoked with a time in quotes"),
            ("revoked_twice", "studio revoked=2026-01-01,revoked=2026-01-01" + rest, "revoked with a time twice"),
            ("revoked_and_time", "studio revoked,revoked=2026-01-01" + rest, "revoked without a time and with one"),
            ("revoked_time_and_none", "studio revoked=2026-01-01,revoked" + rest,
             "revoked with a time and without one"),
            ("level_unknown", "studio level=hsm" + rest, "an unknown level"),
            ("level_case", "studio level=TPM" + rest, "a level in upper case"),
            ("level_twice", "studio level=tpm,level=token" + rest, "two levels"),
            ("token_rpid", "studio level=token," + RPID + rest, "token with rpid"),
            ("tpm_rpid", "studio level=tpm," + RPID + rest, "tpm with rpid"),
            ("level_empty", "studio level=" + rest, "an empty level"),
            ("apple_no_rpid", "studio level=apple-appattest" + rest, "apple-appattest without rpid"),
            ("software_rpid", "studio level=software," + RPID + rest, "software with rpid"),
            ("default_rpid", "studio " + RPID + rest, "rpid without a level, which is software"),
            ("rpid_unquoted", "studio level=apple-appattest,rpid=%s%s" % (APP_ID, rest), "rpid without quotes"),
            ("rpid_empty", 'studio level=apple-appattest,rpid=""' + rest, "an empty rpid"),
            ("rpid_open", 'studio level=apple-appattest,rpid="x' + rest, "an rpid whose quotes do not end"),
            ("rpid_space", 'studio level=apple-appattest,rpid="a b"' + rest, "a space within rpid"),
            ("rpid_more", 'studio level=apple-appattest,rpid="a"b' + rest, "a letter after the quotes of rpid"),
            ("rpid_long", 'studio level=apple-appattest,rpid="%s"%s' % ("r" * 256, rest), "an rpid of 256 characters"),
            ("time_no_zone", "studio valid-after=2026-01-01T00:00:00" + rest, "a time without a zone"),
            ("time_leap_second", "studio valid-before=2016-12-31T23:59:60Z" + rest, "a leap second"),
            ("time_date", "studio valid-before=2026-02-29" + rest, "a date that does not exist"),
            ("time_month", "studio valid-before=2026-03" + rest, "a month alone"),
            ("time_empty", "studio valid-before=" + rest, "an empty time"),
            ("time_quoted", 'studio valid-before="2026-03-14"' + rest, "a time in quotes"),
            ("time_range", "studio valid-after=0001-01-01T00:00:00+00:01" + rest, "a time before year 0001 in UTC"),
            ("json", '{"keys":[]}', "JSON"), ("pem", "-----BEGIN PUBLIC KEY-----", "a PEM file")):
        yield one(name, comment, line)
    for name, comment, data in trust_files.refused():
        yield case("file_" + name, "file", "T0", comment, data)
    for name, comment, line in authorities.refused():
        yield one(name, comment, line, TRUST)
    yield one("second_line", "a line after the one that would accept is broken", TRUST, "broken")
    yield one("no_verdict", "a broken trust file, and no bundle at all but text", "broken", data=b"not a bundle")
    for name, point, comment in (
            ("off_curve", KEY.point[:-1] + bytes((KEY.point[-1] ^ 1,)), "a point that is not on the curve"),
            ("compressed", bytes((2 + (KEY.point[-1] & 1),)) + KEY.point[1:33], "a compressed point"),
            ("infinity", b"\0", "the point at infinity"), ("zeros", b"\4" + bytes(64), "x and y of 0"),
            ("p384", b"\4" + b"\1" * 96, "a key of the length of P-384"),
            ("rsa", b"\0\0\0\x07ssh-rsa\0\0\0\3\1\0\1\0\0\1\1\0" + b"\xab" * 256, "an RSA key in the form of SSH"),
            ("key_id", hashlib.sha256(KEY.point).digest(), "a key id"),
            ("spki", bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200") + KEY.point,
             "a SubjectPublicKeyInfo")):
        yield one("point_" + name, comment, "studio p256 " + base64.b64encode(point).decode())
