"""The end of a part's data: limits (U4), the boundary inside (U5), sizes (U6), and bytes after the end (U7)."""

from bundle import upload

from .base import PHOTO, Draft
from .bodies import ANY_MARK, ASSERTION, FIRST, MANIFEST, METADATA, SECOND, Body, case

DELIMITER = len(b"\r\n--" + ANY_MARK)


def data_cases():
    yield from _limits()
    yield from _boundary_inside()
    yield from _sizes()
    yield from _trailing()


def _limits():
    limit = upload.METADATA_LIMIT
    start = len(b"--" + ANY_MARK + b"\r\n" + upload.METADATA_HEAD)

    def metadata(data):
        return Body().data(METADATA, data).marked(ANY_MARK)

    def ending(data):
        return metadata(data).bytes()[:start + len(data)]

    yield case("limit_metadata_16384", "U8", "a metadata part of 16384 bytes", Body().data(METADATA, b"0" * limit))
    yield case("limit_metadata_16385", "U4", "a metadata part of 16385 bytes",
               Body().data(METADATA, b"0" * (limit + 1)))
    yield case("limit_manifest_1048577", "U4", "a manifest of 1048577 bytes", Body().data(MANIFEST, b"0" * 1048577))
    yield case("limit_assertion_4097", "U4", "an assertion of 4097 bytes", Body().data(ASSERTION, bytes(4097)))
    yield case("limit_cut_16384", "U1", "the body ends after 16384 bytes of metadata", ending(b"0" * limit))
    yield case("limit_cut_16384_cr", "U1", "the body ends after 16384 bytes of metadata and a CR",
               ending(b"0" * limit + b"\r"))
    yield case("limit_cut_mark", "U1", "the body ends inside a delimiter that begins within 16384 bytes of metadata",
               ending(b"0" * (limit - 3) + b"\r\n--" + ANY_MARK[:-1]))
    yield case("limit_cut_16385", "U4", "the body ends after 16385 bytes of metadata", ending(b"0" * (limit + 1)))
    yield case("limit_cut_16385_cr", "U4", "the body ends after 16385 bytes of metadata and a CR",
               ending(b"0" * (limit + 1) + b"\r"))
    yield case("limit_mark_16384", "U5", "the boundary ends with byte 16384 of metadata",
               metadata(b"0" * (limit - len(ANY_MARK)) + ANY_MARK + b"00"))
    yield case("limit_mark_16385", "U4", "the boundary ends with byte 16385 of metadata",
               metadata(b"0" * (limit + 1 - len(ANY_MARK)) + ANY_MARK + b"00"))


def _boundary_inside():
    def photo(data):
        draft = Draft(with_depth=False)
        draft.payload["photo.jpg"] = data
        return Body(draft).marked(ANY_MARK)

    mark = Body().boundary()
    for name, start, comment in (("metadata", b"", "the boundary"), ("metadata_dashes", b"--", "-- and the boundary"),
                                 ("metadata_lf", b"\n--", "LF-- and the boundary"),
                                 ("metadata_cr", b"\r--", "CR-- and the boundary")):
        yield case("inside_" + name, "U5", comment + " in the metadata part",
                   Body().data(METADATA, b"{" + start + mark + b"}").marked(mark))
    yield case("inside_assertion", "U5", "the boundary in the assertion",
               Body().data(ASSERTION, mark + b"\n").marked(mark))
    inner = b"{\r\n--" + mark + b"}"
    yield case("inside_metadata_delimiter", "U3", "a delimiter in the metadata part, which ends there",
               Body().data(METADATA, inner).marked(mark))
    yield case("inside_assertion_delimiter", "A1, U3", "a delimiter in the assertion, which ends there",
               Body().data(ASSERTION, inner).marked(mark))
    listed = Draft(with_depth=False)
    listed.payload["source/" + ANY_MARK.decode()] = b""
    yield case("inside_manifest", "U5", "the boundary in a path in the manifest", Body(listed).marked(ANY_MARK))
    model = Body(Draft(with_depth=False).set_metadata(
        b'{"captured_at":"2026-03-14T09:26:53.589793+01:00","device_model":"%s"}' % ANY_MARK))
    yield case("inside_metadata_first", "U5", "the boundary in device_model, so it is met in the metadata part",
               model.marked(ANY_MARK))
    yield case("inside_metadata_json", "U5", "the boundary in metadata.json alone",
               model.data(METADATA, Body().parts[METADATA][1]).marked(ANY_MARK))
    yield case("inside_photo_first", "U5", "the photo begins with the boundary", photo(ANY_MARK + PHOTO))
    yield case("inside_photo", "U5", "the boundary amid the photo", photo(PHOTO[:50] + ANY_MARK + PHOTO[50:]))
    yield case("inside_photo_last", "U5", "the photo ends with the boundary", photo(PHOTO + ANY_MARK))
    yield case("inside_photo_delimiter", "U5", "a delimiter amid the photo",
               photo(PHOTO[:50] + b"\r\n--" + ANY_MARK + b"\r\n" + PHOTO[50:]))
    yield case("inside_photo_closing", "U5", "a closing delimiter amid the photo",
               photo(PHOTO[:50] + b"\r\n--" + ANY_MARK + b"--\r\n" + PHOTO[50:]))
    yield case("inside_photo_65536", "U5", "the boundary across byte 65536 of the photo",
               photo(bytes(65500) + ANY_MARK + bytes(100)))


def _sizes():
    def cut(count):
        return Body().data(SECOND, PHOTO[:-count])

    yield case("size_short_59", "U5", "59 bytes of the photo are missing: the boundary ends with its last byte",
               cut(DELIMITER))
    yield case("size_short_100", "U5", "100 bytes of the photo are missing", cut(100))
    yield case("size_short_58", "P1, U6", "58 bytes of the photo are missing: the boundary ends a byte after it",
               cut(DELIMITER - 1))
    yield case("size_short", "P1, U6", "the last byte of the photo is missing", cut(1))
    yield case("size_empty", "U5", "a photo of 0 bytes", Body().data(SECOND, b""))
    yield case("size_long", "U6", "a byte after the photo", Body().data(SECOND, PHOTO + b"\0"))
    yield case("size_long_crlf", "U6", "CRLF after the photo", Body().data(SECOND, PHOTO + b"\r\n"))
    depth = Body(Draft())
    yield case("size_depth", "U6", "a byte after the depth map", depth.data(FIRST, depth.parts[FIRST][1] + b"\0"))
    body = Body()
    whole, end, mark = body.bytes(), body.starts()[-1] - 2, body.boundary()
    rest = whole[end + DELIMITER:]
    for name, comment, delimiter in (
            ("lf", "LF instead of CRLF after the photo", b"\n--" + mark),
            ("cr", "CR instead of CRLF after the photo", b"\r--" + mark),
            ("no_crlf", "no CRLF after the photo", b"--" + mark),
            ("dash", "one dash before the last boundary", b"\r\n-" + mark),
            ("dashes", "three dashes before the last boundary", b"\r\n---" + mark),
            ("other", "another boundary after the photo", b"\r\n--" + ANY_MARK),
            ("upper", "the last boundary in upper case", b"\r\n--" + mark.upper())):
        yield case("size_" + name, "U6", comment, whole[:end] + delimiter + rest)


def _trailing():
    whole = Body().bytes()
    for name, comment, data in (
            ("nul", "a zero byte after the end", b"\0"), ("crlf", "an empty line after the end", b"\r\n"),
            ("epilogue", "an epilogue", b"That was all.\r\n"), ("body", "a second body after the end", whole),
            ("part", "a part after the end", whole[:Body().starts()[MANIFEST]])):
        yield case("trailing_" + name, "U7", comment, whole + data)
