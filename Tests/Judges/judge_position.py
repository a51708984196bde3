"""exiftool judges that a photo in a bundle without a position has only the fields of Spec/raw-captures.md section 7.

Photos with something planted in their segments, and all photos at hand, are packed with --rewrite-photo.
"""
import io
import json
import random
import warnings

import numpy as np
from PIL import Image, ImageCms

from Judges.bench import IS_LONG, SAMPLE, Bundle, Skipped, expect

COUNT = 2000 if IS_LONG else 120
NEEDLE = "48.858370, 2.294481"
FACTS = '{"captured_at": "2026-03-14T15:09:26Z", "device_model": "Rig"}'
LISTED = {
    "IFD0": "Make Model Software ModifyDate Orientation ResolutionUnit XResolution YResolution",
    "ExifIFD": """DateTimeOriginal CreateDate OffsetTime OffsetTimeOriginal OffsetTimeDigitized SubSecTime
        SubSecTimeOriginal SubSecTimeDigitized LensMake LensModel ExifVersion FlashpixVersion ExposureTime FNumber
        ShutterSpeedValue ApertureValue ExposureCompensation MaxApertureValue FocalLength ExposureProgram ISO
        SensitivityType StandardOutputSensitivity RecommendedExposureIndex ISOSpeed MeteringMode Flash ColorSpace
        ExifImageWidth ExifImageHeight ExposureMode WhiteBalance FocalLengthIn35mmFormat""",
    "JFIF": "JFIFVersion ResolutionUnit XResolution YResolution",
    "Adobe": "DCTEncodeVersion APP14Flags0 APP14Flags1 ColorTransform",
    "File": "FileType FileTypeExtension MIMEType ExifByteOrder ImageWidth ImageHeight EncodingProcess BitsPerSample "
            "ColorComponents YCbCrSubSampling",
}


def segment(marker, data):
    return bytes([0xff, marker]) + (len(data) + 2).to_bytes(2, "big") + data


def tiff(main, exif=(), gps=(), after=b"", gap=b"", thumbnail=b""):
    """Returns TIFF bytes of (tag, type, value) fields; `gap` lies between two directories."""
    def directory(fields, at, following=0):
        entries, values = b"", b""
        for tag, kind, value in sorted(fields):
            size = {2: 1, 3: 2, 4: 4, 5: 8, 7: 1}[kind]
            place = value.ljust(4, b"\0")
            if len(value) > 4:
                place, values = number(at + 6 + 12 * len(fields) + len(values)), values + value
            entries += b"".join(part.to_bytes(width, "little") for part, width in
                                ((tag, 2), (kind, 2), (len(value) // size, 4))) + place
        return len(fields).to_bytes(2, "little") + entries + following.to_bytes(4, "little") + values

    def number(value):
        return value.to_bytes(4, "little")

    places, parts = [0, 0, 0], []
    for _ in range(2):  # The lengths do not depend on the places.
        pointers = [(tag, 4, number(at)) for tag, at, one in
                    ((0x8769, places[0], exif), (0x8825, places[1], gps)) if one]
        parts = [directory([*main, *pointers], 8, places[2]) + gap]
        for index, fields in enumerate((exif, gps)):
            places[index] = 8 + len(b"".join(parts))
            parts.append(directory(fields, places[index]) if fields else b"")
        if thumbnail:
            places[2] = 8 + len(b"".join(parts))
            fields = [(0x0201, 4, number(places[2] + 30)), (0x0202, 4, number(len(thumbnail)))]
            parts += [directory(fields, places[2]), thumbnail]
    return b"II*\0" + number(8) + b"".join(parts) + after


def exif_segment(*fields, **how):
    return segment(0xe1, b"Exif\0\0" + tiff(*fields, **how))


def rationals(*pairs):
    return b"".join(part.to_bytes(4, "little") for pair in pairs for part in pair)


GPS = [(1, 2, b"N\0"), (2, 5, rationals((48, 1), (51, 1), (3013, 100))), (3, 2, b"E\0"),
       (4, 5, rationals((2, 1), (17, 1), (4013, 100)))]
MAIN = [(0x010f, 2, b"Rig\0"), (0x0110, 2, b"Test 7\0"), (0x0112, 3, b"\1\0")]
EXIF = [(0x9000, 7, b"0232"), (0x9003, 2, b"2026:03:14 15:09:26\0"), (0x829a, 5, rationals((1, 60)))]
TEXT = NEEDLE.encode()


def xmp(inside, attributes=""):
    return segment(0xe1, b"http://ns.adobe.com/xap/1.0/\0" + (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        f'<rdf:Description rdf:about="" xmlns:c="urn:rig:custom" xmlns:exif="http://ns.adobe.com/exif/1.0/" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/" {attributes}>{inside}</rdf:Description></rdf:RDF></x:xmpmeta>'
    ).encode())


def profile():
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def icc(change):
    return segment(0xe2, b"ICC_PROFILE\0\1\1" + change(profile()))


def private_tag(data):
    """Renames the tag wtpt of a profile."""
    return data.replace(b"wtpt", b"geoP", 1)


def small_jpeg(*segments):
    data = io.BytesIO()
    Image.new("RGB", (16, 16), "red").save(data, "JPEG")
    return data.getvalue()[:2] + b"".join(segments) + data.getvalue()[2:]


# What goes before the first scan: XMP in words and in degrees, other namespaces, ISO 6709, map links and cells; EXIF
# in every form; and every other segment.
SEGMENTS = {
    "XMP text": lambda: xmp(f"<dc:description>at {NEEDLE}</dc:description>"),
    "XMP of a namespace of its own": lambda: xmp(f"<c:where>{NEEDLE}</c:where>", 'c:la="48.858370" c:lo="2.294481"'),
    "XMP in degrees": lambda: xmp("<c:spot>48°51'30.1\"N 2°17'40.1\"E</c:spot>"),
    "XMP with ISO 6709": lambda: xmp("<c:spot>+48.858370+002.294481/</c:spot>"),
    "XMP with a link": lambda: xmp("<c:map>https://maps.example/?q=48.858370,2.294481</c:map>"),
    "XMP with cells": lambda: xmp("", 'c:mcc="208" c:mnc="1" c:lac="4711" c:cid="112233"'),
    "XMP with GPS": lambda: xmp("", 'exif:GPSLatitude="48,51.5N" exif:GPSLongitude="2,17.6E"'),
    "extended XMP": lambda: segment(0xe1, b"http://ns.adobe.com/xmp/extension/\0" + b"A" * 32 + bytes(8) + TEXT),
    "a comment": lambda: segment(0xfe, TEXT),
    "GPS": lambda: exif_segment(MAIN, EXIF, GPS),
    "GPS alone": lambda: exif_segment([], (), GPS),
    "a description": lambda: exif_segment([*MAIN, (0x010e, 2, TEXT + b"\0")], EXIF),
    "a long model": lambda: exif_segment([(0x0110, 2, TEXT.rjust(70, b"x") + b"\0")], EXIF),
    "bytes behind a text": lambda: exif_segment([(0x0110, 2, b"Test 7\0" + TEXT + b"\0")], EXIF),
    "Windows' comment": lambda: exif_segment([*MAIN, (0x9c9c, 7, NEEDLE.encode("utf-16le"))], EXIF),
    "a user's comment": lambda: exif_segment(MAIN, [*EXIF, (0x9286, 7, b"ASCII\0\0\0" + TEXT)]),
    "a maker note": lambda: exif_segment(MAIN, [*EXIF, (0x927c, 7, b"Rig\0" + TEXT)]),
    "a serial number": lambda: exif_segment(MAIN, [*EXIF, (0xa431, 2, TEXT + b"\0")]),
    "bytes between directories": lambda: exif_segment(MAIN, EXIF, gap=TEXT + b"\0"),
    "bytes behind the directories": lambda: exif_segment(MAIN, EXIF, after=TEXT),
    "a thumbnail": lambda: exif_segment(MAIN, EXIF, thumbnail=small_jpeg(exif_segment(MAIN, (), GPS))),
    "IPTC": lambda: segment(0xed, b"Photoshop 3.0\x008BIM\4\4\0\0\0\0\0" + bytes([5 + len(TEXT)]) + b"\x1c\2\x5a\0"
                            + bytes([len(TEXT)]) + TEXT + b"\0"),
    "JUMBF": lambda: segment(0xeb, b"JP\0\1\0\0\0\1" + (28 + len(TEXT)).to_bytes(4, "big") + b"jumb" + TEXT),
    "MPF": lambda: segment(0xe2, b"MPF\0" + tiff([(0xb000, 7, b"0100"), (0xb003, 2, TEXT + b"\0")])),
    "a private tag in the profile": lambda: icc(private_tag),
    "bytes behind the profile": lambda: icc(lambda data: data + TEXT),
    "a whole profile": lambda: icc(lambda data: data),
    "JFXX": lambda: segment(0xe0, b"JFXX\0\x10" + small_jpeg(segment(0xfe, TEXT))),
    "JFIF with a thumbnail": lambda: segment(0xe0, b"JFIF\0\1\2\0\0\1\0\1\3\2" + TEXT[:18]),
    "a long Adobe segment": lambda: segment(0xee, b"Adobe\0\x64\0\0\0\0\1" + TEXT),
    **{f"APP{number}": lambda number=number: segment(0xe0 + number, b"RIG\0" + TEXT) for number in range(16)},
    **{f"segment {marker:02x}": lambda marker=marker: segment(marker, TEXT) for marker in (0xc8, 0xf0, 0xf6, 0xfd)},
    "bytes in no segment": lambda: TEXT,
    "fill bytes": lambda: b"\xff\xff\xff",
}
STRAY = ("bytes in no segment", "fill bytes")
# What goes behind the end marker.
ENDS = {
    "text": lambda: TEXT,
    "Samsung's trailer": lambda: b"\0\0\1\x0a\x0e\0\0\0Image_UTC_Data" + TEXT + b"SEFH\x6b\0\0\0\0\0\0\0\x0c\0\0\0SEFT",
    "a motion photo": lambda: b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + b"\0\0\0\x2bmoov\0\0\0\x23udta" + TEXT,
    "a second picture": lambda: small_jpeg(exif_segment(MAIN, EXIF, GPS)),
    "zeros": lambda: bytes(100),
}


def bases():
    """Returns small photos of every kind: without and with JFIF, progressive, grey, with a profile, CMYK."""
    picture = Image.open(SAMPLE / "photo.jpg").resize((64, 48))
    kinds = [("RGB", {}), ("RGB", {"progressive": True}), ("L", {}), ("RGB", {"icc_profile": profile()}),
             ("CMYK", {}), ("RGB", {"restart_marker_blocks": 2, "subsampling": 0})]
    for mode, options in kinds:
        data = io.BytesIO()
        picture.convert(mode).save(data, "JPEG", **options)
        yield data.getvalue()


def borders(jpeg):
    """Returns the places before the segments up to the first scan, and the place of each later segment."""
    places, at, scan = [], 2, False
    while jpeg[at + 1] != 0xd9:
        places.append((at, scan))
        scan = scan or jpeg[at + 1] == 0xda
        at += 2 + int.from_bytes(jpeg[at + 2:at + 4], "big")
        while jpeg[at] != 0xff or jpeg[at + 1] == 0 or 0xd0 <= jpeg[at + 1] <= 0xd7:
            at += 1
    return places


def planted():
    """Yields (what, photo): each plant alone, then random ones together, at random places."""
    seeded, photos = random.Random(24), list(bases())
    alone = [[name] for name in (*SEGMENTS, *ENDS)]
    mixed = ([*seeded.sample(sorted(SEGMENTS), seeded.randint(1, 4)),
              *seeded.sample(sorted(ENDS), seeded.randint(0, 1))] for _ in range(COUNT - len(alone)))
    for names in (*alone, *mixed):
        photo = seeded.choice(photos)
        places = borders(photo)
        # Behind a scan, stray bytes would belong to it, and a decoder would show them. A JPEG begins with ff d8 ff.
        early = [at for at, is_late in places[1:] if not is_late]
        inserts = [(seeded.choice(early if name in STRAY else [at for at, _ in places]), SEGMENTS[name]())
                   for name in names if name in SEGMENTS]
        for at, data in sorted(inserts, reverse=True):
            photo = photo[:at] + data + photo[at:]
        yield " + ".join(names), photo + b"".join(ENDS[name]() for name in names if name in ENDS)


def at_hand(bench):
    shared = bench.shared
    found = [*SAMPLE.glob("*.jpg"), *shared.glob("captures/*/*.jpg"), *shared.glob("layouts/**/*.jpg"),
             *shared.glob("malformed-jpeg/*.jpg")]
    return [(path.parent.name + "/" + path.name, path.read_bytes()) for path in sorted(found)]


def pixels(jpeg):
    """Returns the decoded samples and the mode; None if Pillow does not open the photo."""
    try:
        warnings.simplefilter("ignore")  # Pillow warns of a broken index of pictures.
        picture = Image.open(io.BytesIO(jpeg), formats=("JPEG",))
        return picture.mode, np.asarray(picture).tobytes()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None


def pack(bench, photos, *options):
    """Packs all photos, and returns the reports of pack by their number."""
    raws, out = bench.scratch("position-raw"), bench.scratch("position-out")
    for number, (_, photo) in enumerate(photos):
        folder = raws / str(number)
        folder.mkdir()
        folder.joinpath("photo.jpg").write_bytes(photo)
        folder.joinpath("metadata.json").write_text(FACTS)
    names = b"".join(b"%s\0" % bytes(raws / str(number)) for number in range(len(photos)))
    said = bench.capbundle("pack", "--from0", "--out-dir", out, "--no-depth", "--json", *options, input=names,
                           code=None)
    reports = [json.loads(line) for line in said.out.splitlines()]
    return out, {int(report["raw"].rpartition("/")[2]): report for report in reports}


def exiftool(bench, folder):
    said = bench.run("exiftool", "-json", "-G1", "-a", "-u", "-U", "-ee", "-x", "Composite:all", "-x", "System:all",
                     "-r", folder, code=None)
    return {int(one["SourceFile"].rpartition("/")[2].removesuffix(".jpg")): one for one in json.loads(said.out)}


def unlisted(tags):
    """Returns the names of tags that the list does not have; those of a colour profile are listed by their tags."""
    allowed = {f"{group}:{name}" for group, names in LISTED.items() for name in names.split()}
    groups = ("ICC-header", "ICC_Profile", "ICC-view", "ICC-meas", "ICC-chrm")
    return sorted(name for name in tags if name not in allowed | {"SourceFile", "ExifTool:ExifToolVersion"}
                  and name.partition(":")[0] not in groups)


def judged(bench, photos, must_pack):
    out, reports = pack(bench, photos, "--rewrite-photo", "--location", "omit")
    clean = bench.scratch("position-clean")
    for number, (name, photo) in enumerate(photos):
        report = reports[number]
        if report["exit_code"]:
            expect(not must_pack, f"{name}: {report['error']['message']}")
            continue
        rewritten = Bundle(out / f"{number}.bundle").entries["photo.jpg"]
        (clean / f"{number}.jpg").write_bytes(rewritten)
        expect(TEXT not in rewritten and TEXT[:18] not in rewritten, f"{name}: the planted text is still there")
        before = pixels(photo)
        expect(before is None or before == pixels(rewritten), f"{name}: other pixels")
    for number, tags in exiftool(bench, clean).items():
        more = unlisted(tags)
        expect(not more, f"{photos[number][0]}: exiftool finds {', '.join(more[:5])}")
    return clean


def with_plants(bench):
    photos = list(planted())
    clean = judged(bench, photos, must_pack=True)
    # Without the option, each photo with a plant is refused, and each rewritten one is packed.
    _, reports = pack(bench, photos, "--location", "omit")
    for number, (name, _) in enumerate(photos):
        code = reports[number].get("error", {}).get("code")
        is_listed = name == "a whole profile" and code is None
        expect(code == "raw.position" or is_listed, f"{name}: {code}")
    rewritten = [(photos[number][0], (clean / f"{number}.jpg").read_bytes()) for number in range(len(photos))]
    _, reports = pack(bench, rewritten, "--location", "omit")
    for number, (name, _) in enumerate(rewritten):
        expect(reports[number]["exit_code"] == 0, f"{name}: the rewritten photo is refused")


def real(bench):
    photos = at_hand(bench)
    if len(photos) < 2:
        raise Skipped("no photos in the shared folder")
    sound = [one for one in photos if not one[0].startswith("malformed-jpeg/")]
    judged(bench, sound, must_pack=True)
    judged(bench, [one for one in photos if one not in sound], must_pack=False)


TESTS = [
    ("whatever is planted in a photo, exiftool finds only the listed fields in the rewritten one, with equal pixels",
     with_plants),
    ("the same holds for all photos at hand", real),
]
