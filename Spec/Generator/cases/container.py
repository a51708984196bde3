"""container: C1 to C14, and bundles inside other formats."""

import bz2
import io
import zipfile

from bundle import writer
from capbundle.format import container

from .base import CONFIDENCE, PHOTO, Case, Draft
from .headers import checksummed, header_cases

BASE = Draft()


def spoilt(offset, data, base=None):
    """Returns the base bundle with bytes replaced at an offset."""
    whole = bytearray(base or BASE.bytes())
    whole[offset:offset + len(data)] = data
    return bytes(whole)


def starts(draft):
    """Returns the offset of each entry's header by path."""
    found, at = {}, len(container.MAGIC)
    for path, data in draft.entries().items():
        found[path] = at
        at += len(data)
    found["end"] = at
    return found


AT = starts(BASE)


def case(name, codes, covers, comment, data, **options):
    return Case("container_" + name, codes, covers, comment, data, **options)


def cases():
    yield from _truncated()
    yield from _magic()
    for name, comment, block in header_cases():
        yield case("header_" + name, "container.header", "C4", comment, spoilt(AT["photo.jpg"], block))
    yield from _more_headers()
    yield from _padding_and_end()
    yield from _paths()
    yield from _order()
    yield from _sets()


def _truncated():
    whole = BASE.bytes()
    photo = AT["photo.jpg"]
    for name, length, comment in (
            ("empty", 0, "an empty file"),
            ("in_magic_header", 300, "the file ends inside the first header"),
            ("in_magic_data", 530, "the file ends inside the media type"),
            ("in_magic_version", 555, "the file ends between the version's prefix and the version"),
            ("in_magic_padding", 1023, "the file ends one byte before the end of the magic"),
            ("after_magic", 1024, "the file ends after the magic"),
            ("in_manifest", 1024 + 512 + 100, "the file ends inside the manifest"),
            ("in_assertion", AT["assertion.cbor"] + 512 + 100, "the file ends inside the assertion"),
            ("after_assertion", AT["assertion.cbor"] + 1024, "the file ends after the assertion"),
            ("in_header", photo + 200, "the file ends inside the header of the photo"),
            ("in_data", photo + 512 + 60, "the file ends inside the photo"),
            ("in_padding", photo + 512 + len(PHOTO) + 1, "the file ends inside the padding of the photo"),
            ("no_end", len(whole) - 1024, "the file ends where the zero blocks belong"),
            ("in_second_zero_block", len(whole) - 500, "the file ends inside the second zero block"),
            ("one_zero_block", len(whole) - 512, "the file ends after one zero block"),
            ("one_byte", len(whole) - 1, "the last of the 1024 zero bytes is missing")):
        yield case("truncated_" + name, "container.truncated", "C1", comment, whole[:length])
    head = container.header("manifest.json", 1000000) + b"{"
    yield case("truncated_manifest_large", "container.truncated", "C1",
               "a manifest of 1000000 bytes of which one is there",
               container.MAGIC + head)
    draft = Draft(with_depth=False)
    draft.manifest()["entries"][1]["size"] = container.MAX_SIZE
    data = draft.bytes()
    at = starts(draft)["photo.jpg"]
    data = data[:at] + container.header("photo.jpg", container.MAX_SIZE) + PHOTO
    yield case("truncated_giant", "container.truncated", "C1",
               "a photo of 8 GiB - 1 by header and manifest, of 175 bytes",
               data)


def _magic():
    whole = BASE.bytes()
    start = container.MAGIC[512:557]
    for name, data, comment in (
            ("prepended_jpeg", PHOTO + whole, "a JPEG before the bundle"),
            ("prepended_zip", _zip() + whole, "a ZIP archive before the bundle"),
            ("prepended_byte", b"\0" + whole, "a zero byte before the bundle"),
            ("prepended_zeros", container.END + whole, "two zero blocks before the bundle"),
            ("gzip", writer.gzip_stored(whole), "gzip around the bundle"),
            ("zstd", _zstd(whole), "zstd around the bundle"),
            ("bzip2", bz2.compress(whole), "bzip2 around the bundle"),
            ("zip", _zip(whole), "a ZIP archive around the bundle"),
            ("elf", b"\x7fELF\2\1\1" + bytes(57) + whole, "an ELF header before the bundle"),
            ("text", b"not a bundle\n", "a short text"),
            ("one_byte", b"x", "one byte that no bundle begins with"),
            ("no_mimetype", whole[1024:], "the archive begins with manifest.json"),
            ("mtime", spoilt(136, b"00000000001 "), "the header of mimetype has a time"),
            ("mode", spoilt(100, b"000755 \0"), "the header of mimetype has another mode"),
            ("media_type", spoilt(512, b"Application"), "another media type"),
            ("padding", spoilt(1023, b"\1"), "a padding byte of mimetype is not zero"),
            ("ustar_gnu", spoilt(257, b"ustar  \0"), "the GNU magic in the first header")):
        yield case("magic_" + name, "container.magic", "C2", comment, data)
    for name, version, comment in (
            ("2", b"2\n", "version 2"), ("0", b"0\n", "version 0"), ("10", b"10\n", "version 10"),
            ("01", b"01\n", "version 01"), ("space", b" 1\n", "a space before the version"),
            ("crlf", b"1\r\n", "version 1 ended by CR and LF"), ("no_newline", b"1;", "version 1 and more"),
            ("empty", b"\n", "no version at all")):
        media_type = start[:43] + version
        yield case("version_" + name, "container.version", "C3", comment,
                   container.entry("mimetype", media_type) + whole[1024:])
    yield case("version_2_header", "container.version", "C3",
               "version 2, and a first header that version 1 does not have",
               spoilt(100, b"000600 \0", container.entry("mimetype", start[:43] + b"2\n") + whole[1024:]))
    yield case("version_2_short", "container.version", "C3", "the file ends after version 2",
               container.entry("mimetype", start[:43] + b"2\n")[:557])


def _zip(data=b""):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        info = zipfile.ZipInfo("a", (1980, 1, 1, 0, 0, 0))
        info.create_system = 3  # otherwise zipfile writes the system of this machine
        archive.writestr(info, data)
    return buffer.getvalue()


def _zstd(data):
    """Returns a zstd frame of one raw block (RFC 8878): magic, descriptor for a size of four bytes, block header."""
    return (b"\x28\xb5\x2f\xfd\xa0" + len(data).to_bytes(4, "little")
            + (len(data) << 3 | 1).to_bytes(3, "little") + data)


def _more_headers():
    for path in ("manifest.json", "assertion.cbor"):
        yield case("header_of_" + path.split(".")[0], "container.header", "C4", "a time in the header of " + path,
                   spoilt(AT[path] + 136, b"15000000000 "))
    # The pax and GNU records come before the entry that they would change, as a tar program writes them.
    photo, whole = AT["photo.jpg"], BASE.bytes()
    record = b"28 path=source/../../evil.x\n"
    for name, flag, title, data, comment in (
            ("pax_path", b"x", "./PaxHeaders/photo.jpg", record, "a pax header renames the photo"),
            ("pax_size", b"x", "./PaxHeaders/photo.jpg", b"12 size=0\n", "a pax header gives the photo another size"),
            ("pax_global", b"g", "pax_global_header", b"19 comment=version\n", "a global pax header"),
            ("gnu_long_name", b"L", "././@LongLink", b"source/long\0", "a GNU long name"),
            ("gnu_long_link", b"K", "././@LongLink", b"/etc/passwd\0", "a GNU long link")):
        extra = checksummed(container.header(title, len(data)), 156, flag) + data + bytes(container.padding(len(data)))
        yield case("header_" + name, "container.header", "C4", comment, whole[:photo] + extra + whole[photo:])
    yield case("header_after_head", "container.header", "C4", "zero blocks where manifest.json belongs",
               container.MAGIC + container.END)
    second = AT["assertion.cbor"]
    yield case("header_no_assertion", "container.header", "C4", "zero blocks where assertion.cbor belongs",
               whole[:second] + container.END)


def _padding_and_end():
    whole = BASE.bytes()
    ends = {path: AT[path] + 512 + len(data) for path, data in BASE.members()}
    for path, offset in (("manifest.json", 0), ("assertion.cbor", 3), ("photo.jpg", 0), ("metadata.json", 100)):
        yield case("padding_" + path.split(".")[0], "container.padding", "C5",
                   "a padding byte after %s is not zero" % path,
                   spoilt(ends[path] + offset, b"\1"))
    yield case("padding_last_byte", "container.padding", "C5", "the last padding byte after the photo is 0x80",
               spoilt(AT["end"] - 1, b"\x80"))
    end = AT["end"]
    yield case("end_second_archive", "container.end", "C6", "one zero block, then a second archive",
               whole[:end + 512] + whole)
    yield case("end_entry", "container.end", "C6", "a zero block before the last entry",
               whole[:AT["photo.jpg"]] + bytes(512) + whole[AT["photo.jpg"]:])
    yield case("end_short", "container.end", "C6", "one zero block, then ten bytes that are not zero",
               whole[:end + 512] + b"0123456789")
    yield case("end_first_byte", "container.end", "C6", "the first byte of the second zero block is 1",
               spoilt(end + 512, b"\1"))
    yield case("end_last_byte", "container.end", "C6", "the last byte of the second zero block is 1",
               spoilt(end + 1023, b"\1"))
    yield case("header_first_zero_block", "container.header", "C4", "the last byte of the first zero block is 1",
               spoilt(end + 511, b"\1"))
    for name, more, comment in (
            ("zero", b"\0", "a zero byte after the end"), ("newline", b"\n", "a newline after the end"),
            ("record", bytes(512 * 7), "zero blocks up to a tar record of 20 blocks"),
            ("bundle", whole, "a second bundle after the end"),
            ("zip", _zip(), "a ZIP archive after the end")):
        yield case("trailing_" + name, "container.trailing", "C7", comment, whole + more)


def _paths():
    bad = (("parent", "source/../evil"), ("parent_first", "../evil"), ("dots", "source/.."),
           ("absolute", "/etc/passwd"),
           ("dot_first", "./photo.jpg"), ("backslash", "source\\evil"), ("drive", "c:evil"), ("upper", "PHOTO.JPG"),
           ("upper_source", "source/A"), ("nested", "source/a/b"), ("source_empty", "source/"), ("source", "source"),
           ("slash_end", "source/a/"), ("double_slash", "source//a"), ("hidden", "source/.a"), ("dash", "source/-a"),
           ("underscore", "source/_a"), ("apple_double", "._photo.jpg"), ("trailing_dot", "source/a."),
           ("trailing_dots", "source/a.b.."), ("device_con", "source/con"), ("device_nul", "source/nul.txt"),
           ("device_prn", "source/prn.a.b"), ("device_aux", "source/aux"), ("device_com0", "source/com0"),
           ("device_lpt9", "source/lpt9.bin"), ("space", "source/a b"), ("colon", "source/a:b"),
           ("newline", "source/a\n"),
           ("escape", "source/\x1b[2j"), ("unknown", "readme.txt"), ("ext", "ext/tst.tsr"), ("thumbnail", "photo.jpeg"),
           ("utf8", "source/\u00e9"), ("bidi", "source/a\u202egpj"), ("zero_width", "photo\u200b.jpg"),
           ("homoglyph", "ph\u043eto.jpg"), ("combining", "source/e\u0301"),
           ("latin1", b"source/\xe9"), ("question", "source/a?"),
           ("tilde", "source/~a"),
           ("mimetype_slash", "mimetype/"))
    for name, path in bad:
        data = BASE.bytes()
        at = AT["end"]
        yield case("path_" + name, "container.path", "C8", "the path of an entry after the photo: %s" % _shown(path),
                   data[:at] + container.entry(path, b"x") + data[at:])
    yield case("path_second_entry", "container.path", "C8", "the path of the second entry is not in the grammar",
               container.MAGIC + container.entry("manifest.jso", b"{}") + container.END)


def _shown(path):
    return (path if isinstance(path, bytes) else path.encode("unicode_escape")).decode("ascii", "backslashreplace")


def _order():
    def joined(names, draft=BASE):
        entries = draft.entries()
        return container.MAGIC + b"".join(entries[name] for name in names) + container.END

    head = ["manifest.json", "assertion.cbor"]
    rest = ["depth.f32.gz", "metadata.json", "photo.jpg"]
    yield case("duplicate_photo", "container.duplicate", "C9", "photo.jpg twice with the same bytes",
               joined(head + rest + ["photo.jpg"]))
    other = container.entry("photo.jpg", PHOTO[:-2] + b"\0\0")
    whole = BASE.bytes()
    yield case("duplicate_other_bytes", "container.duplicate", "C9", "photo.jpg twice with other bytes",
               whole[:AT["end"]] + other + container.END)
    yield case("duplicate_earlier", "container.duplicate", "C9", "depth.f32.gz again after the photo",
               joined(head + rest + ["depth.f32.gz"]))
    for name in head:
        yield case("duplicate_" + name.split(".")[0], "container.duplicate", "C9", name + " again among the payload",
                   joined(head + rest + [name]))
    yield case("duplicate_mimetype", "container.duplicate", "C9", "mimetype again as the second entry",
               container.MAGIC + whole)
    yield case("duplicate_mimetype_last", "container.duplicate", "C9", "mimetype again as the last entry",
               whole[:AT["end"]] + container.entry("mimetype", b"") + container.END)
    yield case("duplicate_manifest_third", "container.duplicate", "C9",
               "manifest.json again where assertion.cbor belongs",
               joined(["manifest.json", "manifest.json"] + rest))
    yield case("order_head_swapped", "container.order", "C10", "assertion.cbor before manifest.json",
               joined(head[::-1] + rest))
    yield case("order_manifest_last", "container.order", "C10", "manifest.json after the payload",
               joined(rest + head))
    yield case("order_assertion_last", "container.order", "C10", "assertion.cbor after the payload",
               joined(head[:1] + rest + head[1:]))
    yield case("order_no_assertion", "container.order", "C10", "no assertion.cbor: the third entry is the depth map",
               joined(head[:1] + rest))
    draft = Draft()
    draft.withholdable = {"depth.f32.gz", "photo.jpg"}
    yield case("order_payload", "container.order", "C10", "a withholdable depth map after the photo",
               joined(head + ["metadata.json", "photo.jpg", "depth.f32.gz"], draft))
    yield case("order_unlisted", "container.order", "C10", "an entry that is not listed and too late as well",
               joined(head + rest)[:-1024] + container.entry("confidence.png", CONFIDENCE) + container.END)
    yield case("missing_swapped", "container.missing", "C14", "photo before metadata: metadata is passed over",
               joined(head + ["depth.f32.gz", "photo.jpg", "metadata.json"]))
    for name in rest:
        yield case("missing_" + name.split(".")[0], "container.missing", "C14", name + " is absent",
                   joined(head + [one for one in rest if one != name]))
    yield case("missing_all", "container.missing", "C14", "no payload at all", joined(head))
    draft = Draft(with_location=True)
    draft.withholdable = set()
    yield case("missing_location", "container.missing", "C14", "the position is absent and may not be withheld",
               joined(head + rest, draft), arguments="--allow-withheld")


def _sets():
    whole, at = BASE.bytes(), AT["end"]
    for path, data in (("source/extra", b"x"), ("source/empty", b"")):
        yield case("unlisted_" + path[7:], "container.unlisted", "C12", "%s is not in the manifest" % path,
                   whole[:at] + container.entry(path, data) + container.END)
    first = AT["depth.f32.gz"]
    yield case("unlisted_first", "container.unlisted", "C12", "confidence.png is not in the manifest and stands first",
               whole[:first] + container.entry("confidence.png", CONFIDENCE) + whole[first:])
    for name, change in (("shorter", PHOTO[:-1]), ("longer", PHOTO + b"\0"), ("empty", b"")):
        draft = Draft()
        draft.manifest()
        draft.sealed_assertion()
        draft.payload["photo.jpg"] = change
        yield case("size_" + name, "container.size", "C13", "the photo has %d bytes, in the manifest %d" % (
            len(change), len(PHOTO)), draft)
    draft = Draft(with_location=True)
    draft.sealed_assertion()
    draft.payload["location.json"] = b"{}"
    yield case("size_location", "container.size", "C13", "the position has 2 bytes", draft)
    yield case("limit_manifest", "container.limit", "C11",
               "a manifest of 1048577 bytes by its header; the file ends there",
               container.MAGIC + container.header("manifest.json", 1048577))
    yield case("limit_manifest_giant", "container.limit", "C11", "a manifest of 8 GiB - 1 by its header",
               container.MAGIC + container.header("manifest.json", container.MAX_SIZE) + bytes(512))
    draft = Draft()
    draft.assertion_bytes = draft.sealed_assertion() + bytes(4097 - len(draft.sealed_assertion()))
    yield case("limit_assertion", "container.limit", "C11", "an assertion of 4097 bytes", draft)
