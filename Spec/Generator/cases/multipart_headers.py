"""Header lines, delimiters and the order of the parts of an upload body (U3)."""

from bundle import upload

from .base import CONFIDENCE, Draft
from .bodies import ASSERTION, FIRST, MANIFEST, METADATA, SECOND, Body, case

_PHOTO = upload.head("photo", "capture.jpg", "image/jpeg")


def header_cases():
    for name, comment, old, new in _lines():
        yield case("header_" + name, "U3", "the photo's part: " + comment, Body().head(SECOND, old, new))
    yield from _other_parts()
    yield from _delimiters()
    yield from _sets()


def _lines():
    """Returns (name, comment, old, new) for single changes of the photo's header lines."""
    return (
        ("case", "content-disposition in lower case", b"Content-Disposition", b"content-disposition"),
        ("case_form_data", "Form-Data", b"form-data", b"Form-Data"),
        ("case_name", "Name=", b" name=", b" Name="),
        ("case_type", "image/JPEG", b"image/jpeg", b"image/JPEG"),
        ("no_space", "no space after the first colon", b"Disposition: ", b"Disposition:"),
        ("two_spaces", "two spaces after the second colon", b"Type: ", b"Type:  "),
        ("tab", "a tab after the first colon", b"Disposition: ", b"Disposition:\t"),
        ("space_before_colon", "a space before the first colon", b"Disposition:", b"Disposition :"),
        ("space_line_end", "a space at the end of the first line", b'.jpg"\r\n', b'.jpg" \r\n'),
        ("folded", "the first line is folded", b"; filename", b";\r\n filename"),
        ("lf", "LF after the first line", b'.jpg"\r\n', b'.jpg"\n'),
        ("lf_empty", "LF as the empty line", b"jpeg\r\n\r\n", b"jpeg\r\n\n"),
        ("no_empty_line", "no empty line", b"jpeg\r\n\r\n", b"jpeg\r\n"),
        ("empty_line_first", "an empty line before the first line", b"Content-Disposition", b"\r\nContent-Disposition"),
        ("no_quotes", "no quotes around the name", b'"photo"', b"photo"),
        ("no_quotes_filename", "no quotes around the filename", b'"capture.jpg"', b"capture.jpg"),
        ("single_quotes", "single quotes around the name", b'"photo"', b"'photo'"),
        ("name_path", "the path as name", b'"photo"', b'"photo.jpg"'),
        ("no_name", "no name", b' name="photo";', b""),
        ("name_twice", "the name twice", b' name="photo"', b' name="photo"; name="photo"'),
        ("filename", "another filename", b"capture.jpg", b"photo.jpg"),
        ("no_filename", "no filename", b'; filename="capture.jpg"', b""),
        ("filename_star", "filename*", b'filename="capture.jpg"', b"filename*=UTF-8''capture.jpg"),
        ("parameter_order", "filename before name", b'name="photo"; filename="capture.jpg"',
         b'filename="capture.jpg"; name="photo"'),
        ("parameter_extra", "a third parameter", b'.jpg"', b'.jpg"; size=175'),
        ("type", "another type", b"image/jpeg", b"image/png"),
        ("type_parameter", "a parameter of the type", b"image/jpeg", b"image/jpeg; q=1"),
        ("no_type", "no Content-Type", b"Content-Type: image/jpeg\r\n", b""),
        ("line_order", "Content-Type before Content-Disposition", _PHOTO,
         b"\r\n".join(_PHOTO.split(b"\r\n")[1::-1]) + b"\r\n\r\n"),
        ("extra_length", "Content-Length as well", b"\r\n\r\n", b"\r\nContent-Length: 175\r\n\r\n"),
        ("extra_encoding", "Content-Transfer-Encoding between the lines", b"Content-Type",
         b"Content-Transfer-Encoding: binary\r\nContent-Type"),
    )


def _other_parts():
    def one(name, comment, index, old, new):
        return case("header_" + name, "U3", comment, Body().head(index, old, new))

    yield one("metadata_filename", "a filename for the metadata part", METADATA, b'"metadata"',
              b'"metadata"; filename="metadata.json"')
    yield one("metadata_charset", "a charset for the metadata part", METADATA, b"/json", b"/json; charset=utf-8")
    yield one("metadata_no_type", "no Content-Type for the metadata part", METADATA,
              b"Content-Type: application/json\r\n", b"")
    yield one("manifest_name", "the path as the manifest's name", MANIFEST, b' name="manifest"',
              b' name="manifest.json"')
    yield one("manifest_version", "version=2 in the manifest's type", MANIFEST, b"version=1", b"version=2")
    yield one("manifest_type", "a space in the manifest's type", MANIFEST, b";version", b"; version")
    yield one("assertion_name", "the name of the assertion without .cbor", ASSERTION, b' name="assertion.cbor"',
              b' name="assertion"')
    yield one("assertion_type", "another type for the assertion", ASSERTION, b"application/cbor",
              b"application/octet-stream")
    depth = Body(Draft()).head(FIRST, b' name="depth_map"', b' name="depth.f32.gz"')
    yield case("header_depth_name", "U3", "the path as the depth map's name", depth)
    draft = Draft(with_depth=False)
    draft.payload["source/a"] = b"a"
    last = len(Body(draft).parts) - 1
    yield case("header_source_filename", "U3", "the whole path as a source's filename",
               Body(draft).head(last, b'filename="a"', b'filename="source/a"'))
    yield case("header_source_type", "U3", "a source's type is not that of the manifest",
               Body(draft).head(last, b"application/octet-stream", b"text/plain"))


def _delimiters():
    body = Body()
    whole, at, line = body.bytes(), body.starts(), len(b"--" + body.boundary())

    def one(name, comment, part, old, new):
        after = at[part] + line
        if not whole[after:].startswith(old):
            raise ValueError(name)
        return case("delimiter_" + name, "U3", comment, whole[:after] + new + whole[after + len(old):])

    last = len(body.parts)
    yield one("padding", "a space after the boundary before the photo", SECOND, b"", b" ")
    yield one("tab", "a tab after the boundary before the manifest", MANIFEST, b"", b"\t")
    yield one("lf", "LF after the boundary before the photo", SECOND, b"\r\n", b"\n")
    yield one("longer", "the boundary before the photo has a digit more", SECOND, b"", b"0")
    yield one("closing_early", "the closing delimiter before the manifest", MANIFEST, b"\r\n", b"--\r\n")
    yield one("closing_assertion", "the closing delimiter before the assertion", ASSERTION, b"\r\n", b"--\r\n")
    yield one("closing_one_dash", "one dash after the last boundary", last, b"--", b"-")
    yield one("closing_three", "three dashes after the last boundary", last, b"--", b"---")
    yield one("closing_padding", "a space between -- and the last CRLF", last, b"--", b"-- ")
    yield one("closing_lf", "LF after the closing --", last, b"--\r\n", b"--\n")
    yield one("closing_twice", "the last boundary ends with CRLF, then a closing delimiter", last, b"",
              b"\r\n--" + body.boundary())


def _sets():
    def one(name, comment, change, draft=None):
        body = Body(draft)
        change(body.parts)
        return case("parts_" + name, "U3", comment, body.marked(0))

    def swap(first, second):
        def change(parts):
            parts[first], parts[second] = parts[second], parts[first]
        return change

    yield one("manifest_first", "manifest before metadata", swap(METADATA, MANIFEST))
    yield one("assertion_first", "assertion before manifest", swap(MANIFEST, ASSERTION))
    yield one("photo_first", "the photo before everything", lambda parts: parts.insert(0, parts.pop()))
    yield one("photo_third", "the photo before the assertion", lambda parts: parts.insert(ASSERTION, parts.pop()))
    for index, name in ((METADATA, "metadata"), (MANIFEST, "manifest"), (ASSERTION, "assertion")):
        yield one("no_" + name, "no " + name, lambda parts: parts.pop(index))
        yield one(name + "_twice", name + " twice", lambda parts: parts.insert(index, parts[index]))
    yield one("photo_twice", "the photo twice", lambda parts: parts.append(parts[SECOND]))
    yield one("metadata_last", "the metadata part again at the end", lambda parts: parts.append(parts[METADATA]))
    loose = Draft()
    loose.withholdable = {"depth.f32.gz"}
    yield one("order", "the depth map, which may be withheld, after metadata.json", swap(FIRST, SECOND), loose)
    yield one("unlisted", "a confidence map that the manifest does not list",
              lambda parts: parts.insert(FIRST,
                                         [upload.head("confidence.png", "confidence.png", "image/png"), CONFIDENCE]))
    yield one("unlisted_last", "a source after the photo that the manifest does not list",
              lambda parts: parts.append([upload.head("source/a", "a", "application/octet-stream"), b"a"]))
    yield one("unknown", "a field of a form", lambda parts: parts.append([
        b'Content-Disposition: form-data; name="submit"\r\n\r\n', b"Send"]))
    yield one("mimetype", "mimetype as a part", lambda parts: parts.insert(METADATA, [
        upload.head("mimetype", "mimetype", "text/plain"), b"application/vnd.capture-bundle+tar;version=1\n"]))
