"""Header blocks of the photo that differ in one field from section 3.1 (C4)."""

from capbundle.format import container

from .base import PHOTO


def checksummed(block, offset, data, checksum=True):
    """Returns the block with bytes replaced and, by default, a checksum that matches."""
    changed = bytearray(block)
    changed[offset:offset + len(data)] = data
    if checksum:
        changed[148:156] = b" " * 8
        changed[148:156] = b"%06o\0 " % sum(changed)
    return bytes(changed)


def header_cases():
    """Yields (name, comment, block)."""
    plain = container.header("photo.jpg", len(PHOTO))
    size = b"%011o" % len(PHOTO)
    fields = (
        ("nul_in_name", 0, b"pho\0o.jpg", "a NUL inside the name"),
        ("after_nul", 10, b"evil", "text after the NUL of the name"),
        ("after_nul_last", 99, b"x", "the last byte of the name field is not NUL"),
        ("name_empty", 0, bytes(9), "an empty name"),
        ("name_100", 0, b"source/" + b"a" * 93, "a name of 100 bytes, with no NUL"),
        ("mode_755", 100, b"000755 \0", "mode 755"),
        ("mode_4755", 100, b"004755 \0", "mode 4755"),
        ("mode_form", 100, b"0000644\0", "the mode in seven digits, as GNU tar writes it"),
        ("uid", 108, b"000001 \0", "uid 1"),
        ("gid", 116, b"001750 \0", "gid 1000"),
        ("size_spaces", 124, b"%11o " % len(PHOTO), "a size padded with spaces"),
        ("size_nul", 124, size + b"\0", "a size ended by NUL"),
        ("size_twelve", 124, b"0" + size, "a size of twelve digits"),
        ("size_base256", 124, b"\x80" + bytes(10) + b"\xaf", "a size in base 256"),
        ("size_negative", 124, b"\xff" * 11 + b"\x51", "a negative size in base 256"),
        ("size_overflow", 124, b"777777777777", "a size of twelve octal digits, 64 GiB - 1"),
        ("size_minus", 124, b"-0000000001 ", "a size with a sign"),
        ("size_plus", 124, b"+0000000257 ", "a size with a plus sign"),
        ("size_prefix", 124, b"0o000000257 ", "a size with the prefix 0o"),
        ("size_underscore", 124, b"0000000_257 ", "a size with an underscore"),
        ("size_digit_8", 124, b"00000000258 ", "a size with the digit 8"),
        ("size_short", 124, b"0000000257  ", "a size of ten digits and two spaces"),
        ("size_empty", 124, bytes(12), "no size at all"),
        ("mtime", 136, b"15166500000 ", "a time"),
        ("mtime_nul", 136, b"00000000000\0", "a time ended by NUL"),
        ("type_nul", 156, b"\0", "typeflag NUL, a file of old archives"),
        ("type_hard_link", 156, b"1", "typeflag 1, a hard link"),
        ("type_symbolic_link", 156, b"2", "typeflag 2, a symbolic link"),
        ("type_character", 156, b"3", "typeflag 3, a character device"),
        ("type_block", 156, b"4", "typeflag 4, a block device"),
        ("type_directory", 156, b"5", "typeflag 5, a directory"),
        ("type_fifo", 156, b"6", "typeflag 6, a FIFO"),
        ("type_contiguous", 156, b"7", "typeflag 7, a contiguous file"),
        ("type_gnu_sparse", 156, b"S", "typeflag S, a GNU sparse file"),
        ("type_gnu_long_name", 156, b"L", "typeflag L on the photo itself"),
        ("type_gnu_long_link", 156, b"K", "typeflag K on the photo itself"),
        ("type_pax", 156, b"x", "typeflag x on the photo itself"),
        ("type_pax_global", 156, b"g", "typeflag g on the photo itself"),
        ("type_unknown", 156, b"Z", "typeflag Z, which no one defines"),
        ("linkname", 157, b"/etc/passwd", "a link name"),
        ("magic_gnu", 257, b"ustar  \0", "the magic of GNU tar"),
        ("magic_none", 257, bytes(8), "no magic, as in archives before POSIX"),
        ("magic_version", 263, b"01", "ustar version 01"),
        ("uname", 265, b"root", "a user name"),
        ("gname", 297, b"staff", "a group name"),
        ("devmajor", 329, b"000001 \0", "a major device number"),
        ("devminor", 337, bytes(8), "no minor device number"),
        ("prefix", 345, b"source", "a prefix before the name"),
        ("tail", 511, b"\1", "the last byte of the block is not zero"),
    )
    for name, offset, data, comment in fields:
        yield name, comment, checksummed(plain, offset, data)
    right = int(plain[148:154], 8)
    for name, data, comment in (
            ("checksum_wrong", b"%06o\0 " % (right + 1), "a checksum that is one too high"),
            ("checksum_zero", b"000000\0 ", "a checksum of 0"),
            ("checksum_form", b"%07o\0" % right, "the checksum in seven digits and NUL"),
            ("checksum_space", b"%06o \0" % right, "space and NUL of the checksum the other way round"),
            ("checksum_spaces", b"%6o\0 " % right, "the checksum padded with spaces"),
            ("checksum_of_zeros", b"%06o\0 " % (right - 8 * 32), "the checksum over a field of NULs, not spaces")):
        yield name, comment, checksummed(plain, 148, data, checksum=False)
    # One byte of this name is above 0x7f, so that a sum of signed bytes differs from the right sum.
    signed = bytearray(container.header(b"ph\xffto.jpg", len(PHOTO)))
    right = int(signed[148:154], 8)
    signed[148:156] = b"%06o\0 " % (right - 256)
    yield "checksum_signed", "the sum over signed bytes, with a byte above 0x7f in the name", bytes(signed)
