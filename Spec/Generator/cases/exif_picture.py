"""exif: X3 to X5, the picture and the position (section 11.1)."""

from capbundle.format.canonical import Number

from .exif_photo import (ORIENTATION, POSITION, SIZE, app1, bundle, case, longs, photo, rationals, raw, segment, shorts,
                         text, tiff, with_segments)


def cases():
    yield from _orientation()
    yield from _size()
    yield from _position()


def _orientation():
    tall, wide, square = (24, 32), (32, 24), (24, 24)

    def one(name, codes, comment, value, size):
        return case("orientation_" + name, codes, "X3", comment, bundle(
            photo(size=size, main={0x0112: value}, exif={0xA002: None})))

    for value in (1, 2, 3, 4):
        yield one("across_%d" % value, ORIENTATION, "an upright photo, a wide depth map, orientation %d" % value,
                  shorts(value), tall)
    yield case("orientation_warning", "", "X3", "an upright photo and a wide depth map, but exif is not required",
               bundle(photo(size=tall, exif={0xA002: None})), arguments="")
    for value in (0, 5, 6, 7, 8, 9):
        yield one("turned_%d" % value, "", "an upright photo, a wide depth map, orientation %d" % value,
                  shorts(value), tall)
    yield one("same", "", "both are wide", shorts(1), wide)
    yield one("square", "", "the photo is square", shorts(1), square)
    yield one("none", "", "an upright photo and a wide depth map without an orientation", None, tall)
    yield one("long", ORIENTATION, "the number has type 4", longs(1), tall)
    yield one("byte", ORIENTATION, "the number has type 1", raw(1, b"\1"), tall)
    yield one("signed", "", "the number has type 8 and is absent", shorts(1, form=8), tall)
    yield one("several", ORIENTATION, "the first of three numbers counts", shorts(1, 6, 6), tall)
    yield one("count_0", "", "no number", shorts(), tall)
    draft = bundle(photo(size=tall, exif={0xA002: None}))
    draft.withholdable = draft.absent = {"depth.f32.gz"}
    yield case("orientation_withheld_depth", ORIENTATION, "X3", "an upright photo, and a wide depth map is withheld",
               draft, arguments="--allow-withheld --require exif")


def _size():
    def one(name, codes, comment, exif=(), size=None, camera=None):
        return case("size_" + name, codes, "X4", comment, bundle(
            photo(size=size, exif=exif), camera_intrinsics=camera))

    def camera(width, height):
        return {"cx": Number(1), "height": height, "width": width}

    yield one("width", SIZE, "another width", {0xA002: shorts(17)})
    yield one("height", SIZE, "another height", {0xA003: shorts(15)})
    yield case("size_warning", "", "X4", "another width, but exif is not required",
               bundle(photo(exif={0xA002: shorts(17)})), arguments="")
    yield one("turned", "", "width and height are exchanged", {0xA002: shorts(24), 0xA003: shorts(32)}, (32, 24))
    for name, exif, comment in (
            ("no_width", {0xA002: None, 0xA003: shorts(15)}, "no width"),
            ("zero", {0xA002: shorts(0), 0xA003: shorts(15)}, "a width of 0 is absent"),
            ("rational", {0xA002: rationals((17, 1))}, "a width with type 5 is absent")):
        yield one(name, "", comment, exif)
    yield one("large", SIZE, "a width of 2^32 - 1", {0xA002: longs(2 ** 32 - 1)})
    yield one("ifd", SIZE, "a width with type 13", {0xA002: longs(17, form=13)})
    yield one("camera", "", "camera_intrinsics has the size", camera=camera(Number(16), Number(16)))
    yield one("camera_width", SIZE, "camera_intrinsics has another width", camera=camera(Number(17), Number(16)))
    yield one("camera_turned", "", "camera_intrinsics has the sides exchanged",
              {0xA002: shorts(24), 0xA003: shorts(32)}, (32, 24), camera(Number(24), Number(32)))
    yield one("camera_great", SIZE, "camera_intrinsics has a width above 2^64",
              camera=camera(Number("18446744073709551632"), Number(16)))
    for name, value, comment in (
            ("fraction", camera(Number("17.0"), Number(16)), "its width is 17.0"),
            ("string", camera("17", Number(16)), "its width is a string"),
            ("missing", {"width": Number(17)}, "it has no height"),
            ("array", [Number(17), Number(16)], "it is an array")):
        yield one("camera_" + name, "", "camera_intrinsics is not compared: " + comment, camera=value)
    jpeg = with_segments(app1(tiff(exif={0xA002: shorts(17)})))
    frame = jpeg.index(b"\xff\xc0")
    for name, changed, codes, comment in (
            ("no_lines", jpeg[:frame + 5] + b"\0\0" + jpeg[frame + 7:], "", "a frame header with a height of 0"),
            ("progressive", jpeg[:frame + 1] + b"\xc2" + jpeg[frame + 2:], SIZE, "a frame header of marker c2"),
            ("huffman", jpeg[:frame + 1] + b"\xc4" + jpeg[frame + 2:], "", "marker c4 is not a frame header"),
            ("second", jpeg[:frame] + segment(0xC0, b"\x08\x00\x10\x00\x11\x01\x01\x11\0") + jpeg[frame:], "",
             "the first of two frame headers counts"),
            ("short", jpeg[:frame] + segment(0xC0, b"\x08\x00\x10\x00") + jpeg[frame:], "",
             "a frame header of 4 bytes has no size, and the second one does not count")):
        yield case("size_frame_" + name, codes, "X4", comment, bundle(changed))


def withheld(jpeg):
    draft = bundle(jpeg, place={})
    draft.absent = {"location.json"}
    return draft


def _position():
    def one(name, codes, comment, gps=(), **place):
        return case("position_" + name, codes, "X5", comment, bundle(photo(gps=gps), place=place))

    south, west = {1: text("S")}, {3: text("W")}
    yield one("south", POSITION, "the other hemisphere", south)
    yield one("west", POSITION, "the other side of Greenwich", west)
    yield case("position_warning", "", "X5", "the other hemisphere, but exif is not required",
               bundle(photo(gps=south), place={}), arguments="")
    yield one("coarse", "", "a position rounded to hundredths", latitude=Number("59.33"), longitude=Number("18.07"),
              altitude=None, accuracy=None)
    whole = {2: rationals((59, 1), (0, 1), (0, 1)), 4: rationals((18, 1), (0, 1), (0, 1))}
    yield one("latitude_near", "", "0.019 degrees of latitude apart", whole, latitude=Number("59.019"),
              longitude=Number("18"))
    yield one("latitude_far", POSITION, "0.021 degrees of latitude apart", whole, latitude=Number("58.979"),
              longitude=Number("18"))
    yield one("longitude_far", POSITION, "0.021 degrees of longitude apart", whole, latitude=Number("59"),
              longitude=Number("18.021"))
    yield one("exponent", "", "a number with an exponent", whole, latitude=Number("5.9e1"), longitude=Number("1800e-2"))
    edge = {4: rationals((180, 1), (0, 1), (0, 1))}
    yield one("edge", "", "180 degrees and -179.99 degrees are near", edge, longitude=Number("-179.99"))
    yield one("edge_far", POSITION, "180 degrees and -179.97 degrees are not near", edge, longitude=Number("-179.97"))
    yield one("decimals", "", "degrees with decimals, and 0/0 for minutes and seconds",
              {2: rationals((593293, 10000), (0, 0), (0, 0)), 4: rationals((180686, 10000))})
    yield one("signed", "", "rationals of type 10",
              {2: rationals((593293, 10000), form=10), 4: rationals((180686, 10000), form=10)})
    yield case("position_no_location", "", "X5", "the other hemisphere, and the manifest has no location.json",
               bundle(photo(gps=south)))
    for name, gps, comment in (
            ("no_reference", {1: None}, "no hemisphere"), ("reference", {1: text("n")}, "a lower-case hemisphere"),
            ("long_reference", {1: text("South")}, "a longer hemisphere"),
            ("denominator", {2: rationals((1, 0), (0, 1), (0, 1))}, "a denominator of 0"),
            ("above_90", {2: rationals((91, 1), (0, 1), (0, 1))}, "a latitude of 91 degrees"),
            ("negative", {2: rationals((-1, 1), (0, 1), (0, 1), form=10)}, "a negative latitude"),
            ("integer", {2: longs(1, 0, 0)}, "a latitude with type 4"),
            ("no_longitude", {2: rationals((1, 1), (0, 1), (0, 1)), 4: None}, "another latitude, but no longitude")):
        yield one("absent_" + name, "", "the position is absent: " + comment, gps)
    yield case("position_withheld", "", "X5", "the position is withheld, but the photo tells it: only a warning",
               withheld(photo(gps=south)), arguments="--allow-withheld --require exif")
    yield case("position_withheld_refused", "policy.withheld", "R1",
               "the position is withheld, and that is not allowed", withheld(photo(gps=south)))
