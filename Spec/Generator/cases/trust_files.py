"""Trust files as bytes, for what section 10 says about UTF-8, line ends and the byte order mark."""

from .base import KEY, OTHER_KEY, TRUST, trust_line

_LINE = TRUST.encode()
_BOM = b"\xef\xbb\xbf"


def accepted():
    """Yields (name, comment, bytes) of files that name the key of the base bundle."""
    yield "no_last_line_end", "the last line lacks its LF", _LINE
    yield "empty_lines", "two empty lines first and last", b"\n\n" + _LINE + b"\n\n\n"
    yield "comment_utf8", "a comment that is not ASCII", "# \u00e9 \U0001f4f7\u2028\n".encode() + _LINE + b"\n"
    yield "comment_nul", "a NUL in a comment", b"#\0\n" + _LINE + b"\n"
    yield "comment_carriage_return", "a comment that ends with CR LF", b"# comment\r\n" + _LINE + b"\n"
    yield ("name_twice", "two lines with one name", trust_line(OTHER_KEY).encode() + b"\n" + _LINE + b"\n")


def refused():
    """Yields (name, comment, bytes) of files that break rule T0."""
    yield "bom", "a byte order mark before the name", _BOM + _LINE + b"\n"
    yield "bom_comment", "a byte order mark before a comment", _BOM + b"# comment\n" + _LINE + b"\n"
    yield "bom_alone", "a byte order mark in a line of its own", _BOM + b"\n" + _LINE + b"\n"
    yield "utf16", "UTF-16", TRUST.encode("utf-16")
    yield "comment_latin1", "a comment in Latin-1", b"# caf\xe9\n" + _LINE + b"\n"
    yield "comment_surrogate", "a surrogate in a comment", b"# \xed\xa0\x80\n" + _LINE + b"\n"
    yield "comment_overlong", "an overlong NUL in a comment", b"# \xc0\x80\n" + _LINE + b"\n"
    yield ("comment_last", "a comment that is cut inside a character, after the line that accepts",
           _LINE + b"\n# \xe2\x82")
    yield "nul_line", "a line of one NUL", b"\0\n" + _LINE + b"\n"
    yield "nul_last", "a NUL after the last LF", _LINE + b"\n\0"
    yield "nul_after_key", "a NUL after the key", _LINE + b"\0\n"
    yield "carriage_return_line", "an empty line that ends with CR LF", b"\r\n" + _LINE + b"\n"
    yield "carriage_return_between", "CR in place of LF", _LINE + b"\r" + trust_line(OTHER_KEY, "b").encode() + b"\n"
    yield "line_separator", "U+2028 in place of LF", _LINE + "\u2028".encode() + _LINE + b"\n"
    yield "vertical_tab", "a vertical tab as a separator", _LINE.replace(b" ", b"\x0b", 1) + b"\n"
    yield "no_break_space", "a no-break space as a separator", _LINE.replace(b" ", b"\xc2\xa0", 1) + b"\n"
    yield "form_feed_line", "a line of one form feed", b"\x0c\n" + _LINE + b"\n"
    yield "combining_name", "a combining mark after the name", _LINE.replace(b" ", b"\xcc\x81 ", 1) + b"\n"
    yield "full_width_digit", "a full-width digit in a date", _options("valid-before=202\uff19-01-01")
    yield "kelvin", "the Kelvin sign in an option, as if it were a K", _options("revo\u212aed")


def unknown():
    """Yields files that keep the grammar, but do not name the key."""
    yield "comment_to_the_end", "CR does not end the comment before the key's line", b"# comment\r" + _LINE + b"\n"


def _options(options):
    return (trust_line(KEY, options=options) + "\n").encode()
