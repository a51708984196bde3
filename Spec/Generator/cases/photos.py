"""Photos that are no plain JPEG. A verifier judges the hash of a photo and not its contents, so all are accepted."""

from .base import PHOTO, Draft

_START = PHOTO[:2]  # SOI
_ZIP_END = b"PK\5\6" + bytes(18)


def drafts():
    """Yields (name, comment, bundle with such a photo)."""
    for name, comment, photo in _photos():
        draft = Draft(with_depth=False)
        draft.payload["photo.jpg"] = photo
        yield name, comment, draft


def _photos():
    yield "after_end", "bytes after the end of the image", PHOTO + b"\0after"
    yield "zip", "the JPEG is a ZIP archive too", PHOTO + _ZIP_END
    yield "pdf", "a PDF in a comment of the JPEG", _segment(0xFE, b"%PDF-1.4\n%%EOF\n")
    yield "html", "a script in a comment of the JPEG", _segment(0xFE, b"<html><script>alert(1)</script>")
    yield "two", "two JPEGs one after the other", PHOTO + PHOTO
    yield "two_starts", "two SOI markers", _START + PHOTO
    yield "segment_past_end", "an APP1 segment that is longer than the file", _START + b"\xff\xe1\xff\xff" + b"Exif\0\0"
    yield "directory_loop", "an EXIF directory that continues with itself", _exif(b"\0\0\0\0\0\x08")
    yield "directory_past_end", "an EXIF directory at an offset after the end", _exif(b"", b"\xff\xff\xff\xf0")
    yield "cmyk", "four components", PHOTO.replace(b"\xff\xc0\0\x0b", b"\xff\xc0\0\x14", 1)
    yield "sides_65535", "a size of 65535 x 65535", PHOTO.replace(
        b"\x08\0\x10\0\x10\x01", b"\x08\xff\xff\xff\xff\x01", 1)
    yield "text", "no JPEG at all", b"not a photo\x1b[31m"


def _segment(marker, data):
    """Returns the photo with one more segment at its start."""
    return _START + bytes((0xFF, marker)) + (len(data) + 2).to_bytes(2, "big") + data + PHOTO[2:]


def _exif(directory, offset=b"\0\0\0\x08"):
    """Returns the photo with a big-endian TIFF structure of these bytes."""
    return _segment(0xE1, b"Exif\0\0MM\0*" + offset + directory)
