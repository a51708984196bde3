"""Deflate streams written bit by bit, for section 5.1: rare streams that are allowed, and streams that are refused.

A reader that overlooks the fault of a refused stream gets the right bytes from it, as far as that is possible.
"""

RAW = bytes(48)
END = 256
# The symbols of the code lengths, in the order in which a block lists the lengths of their own codes (RFC 1951, 3.2.7).
_ORDER = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
# Sixteen codes of four bits make a complete set.
_COMPLETE = {symbol: 4 for symbol in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 17, 18)}
_RUNS = {16: (3, 2), 17: (3, 3), 18: (11, 7)}  # the shortest run and the number of extra bits


def codes(lengths):
    """Returns {symbol: (code, bits)} by RFC 1951 section 3.2.2, even if the codes are not a complete set."""
    found, code = {}, 0
    for bits in range(1, 16):
        for symbol, length in sorted(lengths.items()):
            if length == bits:
                found[symbol] = (code, bits)
                code += 1
        code <<= 1
    return found


FIXED = codes({symbol: 8 - (symbol > 255) + (144 <= symbol < 256) + (symbol > 279) for symbol in range(288)})
FIXED_DISTANCES = codes({symbol: 5 for symbol in range(32)})


class Stream:
    """A stream of bits in the order of RFC 1951 section 3.1.1."""

    def __init__(self):
        self._bits = []

    def value(self, number, count):
        self._bits += [number >> index & 1 for index in range(count)]
        return self

    def code(self, pair):
        """Writes a Huffman code with the highest bit first."""
        code, count = pair
        self._bits += [code >> index & 1 for index in reversed(range(count))]
        return self

    def block(self, kind, final=False):
        return self.value(final, 1).value(kind, 2)

    def align(self, padding=0):
        return self.value(-padding, -len(self._bits) % 8)

    def stored(self, data, final=False, padding=0):
        self.block(0, final).align(padding).value(len(data), 16).value(len(data) ^ 0xFFFF, 16)
        return self.value(int.from_bytes(data, "little"), 8 * len(data))

    def empty(self, final=False):
        """Writes an empty block of the fixed codes, which has ten bits."""
        return self.block(1, final).code(FIXED[END])

    def dynamic(self, literals, distances, runs=None, counts=None, lengths=None, final=True):
        """Writes the head of a block of type 2; literals and distances map symbols to the bits of their codes.

        runs lists the code lengths as (symbol, extra bits), counts is HLIT + 257 and HDIST + 1, and lengths are the
        bits of the codes for the code lengths; missing arguments get correct values.
        """
        count, distance_count = counts or (max(literals) + 1, max(distances, default=0) + 1)
        lengths = _COMPLETE if lengths is None else lengths
        self.block(2, final).value(count - 257, 5).value(distance_count - 1, 5).value(len(_ORDER) - 4, 4)
        for symbol in _ORDER:
            self.value(lengths.get(symbol, 0), 3)
        if runs is None:
            plain = [literals.get(symbol, 0) for symbol in range(count)]
            runs = _in_runs(plain + [distances.get(symbol, 0) for symbol in range(distance_count)])
        codes_of_lengths = codes(lengths)
        for symbol, extra in runs:
            self.code(codes_of_lengths[symbol])
            self.value(extra, _RUNS.get(symbol, (0, 0))[1])
        return self

    def bytes(self, padding=0):
        self.align(padding)
        return bytes(sum(bit << index for index, bit in enumerate(self._bits[at:at + 8]))
                     for at in range(0, len(self._bits), 8))


def _in_runs(lengths):
    """Yields the code lengths with their runs: runs of zeros as symbols 17 and 18, other runs as 16."""
    at = 0
    while at < len(lengths):
        length = lengths[at]
        count = 1
        while count < (6 if length else 138) and lengths[at + count:at + count + 1] == [length]:
            count += 1
        if count < 3 or length and lengths[at - 1:at] != [length]:
            yield length, 0
            at += 1
            continue
        symbol = 16 if length else 17 if count < 11 else 18
        yield symbol, count - _RUNS[symbol][0]
        at += count


LENGTH_47 = 274  # 43 to 50, with three extra bits
_LITERALS = {0: 2, END: 2, LENGTH_47: 1}
_ONE_DISTANCE = {0: 1}
_LITERALS_ONLY = {0: 1, END: 1}
_END_ONLY = {END: 1}


def _by_length(stream, literals, distance):
    """Writes RAW as a zero and a length of 47; distance is the code for it."""
    symbols = codes(literals)
    stream.code(symbols[0]).code(symbols[LENGTH_47]).value(47 - 43, 3).code(distance)
    return stream.code(symbols[END]).bytes()


def _by_literals(stream, literals, count=48, symbol=0):
    symbols = codes(literals)
    for _ in range(count):
        stream.code(symbols[symbol])
    return stream.code(symbols[END]).bytes()


def _dynamic(literals=None, distances=None, **options):
    """Writes RAW in a block with these codes."""
    literals, distances = literals or _LITERALS, distances or _ONE_DISTANCE
    return _by_length(Stream().dynamic(literals, distances, **options), literals, codes(distances)[0])


def _two_sizes(count, bits):
    """Returns the bits of `count` codes, a complete set with two neighbouring lengths."""
    longer = 2 * count - (1 << bits + 1)
    return {symbol: bits + (symbol >= count - longer) for symbol in range(count)}


def accepted():
    """Yields (name, comment, stream, raw floats) of accepted streams."""
    yield ("literal_one_code", "a block whose only literal code is the end, in one bit; then the floats stored",
           Stream().dynamic(_END_ONLY, {}, final=False).code((0, 1)).stored(RAW, final=True).bytes(), RAW)
    yield ("distance_none", "a block of literals without any distance code",
           _by_literals(Stream().dynamic(_LITERALS_ONLY, {}), _LITERALS_ONLY), RAW)
    yield "distance_one_code", "one distance code, of one bit, in use", _dynamic(), RAW
    yield ("distance_one_code_unused", "one distance code, of one bit, that nothing uses",
           _by_literals(Stream().dynamic(_LITERALS_ONLY, {29: 1}), _LITERALS_ONLY), RAW)
    yield ("most_codes", "286 literal codes and 30 distance codes", _dynamic(_two_sizes(286, 8), _two_sizes(30, 4)),
           RAW)
    literals, distances = {0: 2, 255: 2, END: 2, 257: 2}, {symbol: 2 for symbol in range(4)}
    stream = Stream().dynamic(literals, distances).code((0, 2)).code((0, 2)).code((0, 2))
    for _ in range(15):
        stream.code(codes(literals)[257]).code((0, 2))
    yield ("run_across", "a run of code lengths that begins with a literal code and ends with a distance code",
           stream.code(codes(literals)[END]).bytes(), RAW)
    stream = Stream().stored(bytes(2)).block(1, final=True).code(FIXED[284]).value(31, 5).code(FIXED_DISTANCES[0])
    yield ("length_258", "length 258 as symbol 284 with all five extra bits", stream.code(FIXED[END]).bytes(),
           bytes(260))
    yield ("padding_bits", "bits that are set before the length of a stored block and after the last block",
           Stream().empty().stored(RAW, padding=1).empty(final=True).bytes(padding=1), RAW)
    yield ("distance_first_byte", "a distance that reaches back to the very first byte",
           Stream().stored(RAW[:2]).block(1, final=True).code(FIXED[LENGTH_47]).value(46 - 43, 3)
           .code(FIXED_DISTANCES[1]).code(FIXED[END]).bytes(), RAW)
    empty = Stream().stored(b"").empty().dynamic(_END_ONLY, {}, final=False).code((0, 1))
    yield ("empty_blocks", "an empty block of each type before the floats and one after them",
           empty.stored(RAW).empty(final=True).bytes(), RAW)
    yield "blocks_64", "as many blocks as 48 bytes of floats may have", _of_blocks(64, RAW), RAW
    yield "blocks_68", "as many blocks as 2048 bytes of floats may have", _of_blocks(68, bytes(2048)), bytes(2048)


def _of_blocks(count, raw):
    """Writes empty blocks, and one with the floats."""
    stream = Stream()
    for _ in range(count - 1):
        stream.empty()
    return stream.stored(raw, final=True).bytes()


def refused():
    """Yields (name, comment, stream, raw floats) of refused streams."""
    yield "blocks_65", "one block more than 48 bytes of floats may have", _of_blocks(65, RAW), RAW
    yield from _refused_code_lengths()
    yield from _refused_literals()
    yield from _refused_distances()


def _refused_code_lengths():
    for count in (287, 288):
        yield "literals_%d" % count, "HLIT says %d codes" % count, _dynamic(_two_sizes(count, 8)), RAW
    for count in (31, 32):
        yield "distances_%d" % count, "HDIST says %d codes" % count, _dynamic(None, _two_sizes(count, 4)), RAW
    yield ("lengths_incomplete", "the codes of the code lengths leave one of two bits unused",
           _dynamic(lengths={1: 2, 2: 2, 18: 2}), RAW)
    yield ("lengths_oversubscribed", "three codes of one bit for the code lengths",
           _dynamic(lengths={1: 1, 2: 1, 18: 1}), RAW)
    zeros = [(18, 138 - 11), (18, 258 - 138 - 11)]
    yield ("lengths_one_code", "one code of one bit for the code lengths, which are all 0",
           Stream().dynamic(_END_ONLY, {}, zeros, lengths={18: 1}).bytes(), RAW)
    yield ("lengths_none", "no code for the code lengths",
           Stream().dynamic(_END_ONLY, {}, [], lengths={}).value(0, 300).bytes(), RAW)
    literals = {3: 1, END: 1}
    yield ("run_first", "the first code length is the one before, again",
           _by_literals(Stream().dynamic(literals, {}, [(16, 0), (1, 0), (18, 127), (18, 103), (1, 0), (0, 0)]),
                        literals, symbol=3), b"\3" * 48)
    runs = [(1, 0), (18, 127), (18, 106), (1, 0), (17, 0)]
    yield ("run_too_long", "a run of three code lengths where one is missing",
           _by_literals(Stream().dynamic(_LITERALS_ONLY, {}, runs), _LITERALS_ONLY), RAW)


def _refused_literals():
    incomplete = {0: 2, END: 2, LENGTH_47: 2}
    yield "literal_incomplete", "three literal codes of two bits", _dynamic(incomplete), RAW
    yield ("literal_oversubscribed", "three literal codes of one bit", _dynamic({0: 1, END: 1, LENGTH_47: 1}), RAW)

    def end_only(literals, code):
        return Stream().dynamic(literals, {}, final=False).code(code).stored(RAW, final=True).bytes()

    yield ("literal_one_of_two_bits", "the only literal code, the end of the block, has two bits",
           end_only({END: 2}, (0, 2)), RAW)
    yield ("literal_no_such_code", "the other bit where one literal code has one bit", end_only(_END_ONLY, (1, 1)), RAW)
    literals = {0: 1, LENGTH_47: 1}
    stream = Stream().dynamic(literals, _ONE_DISTANCE).code((0, 1)).code((1, 1)).value(47 - 43, 3).code((0, 1))
    yield "no_end", "no code for the end of the block", stream.bytes(), RAW
    for symbol in (286, 287):
        yield ("symbol_%d" % symbol, "symbol %d of the fixed codes" % symbol,
               _fixed(FIXED[symbol], FIXED_DISTANCES[0]), RAW)


def _refused_distances():
    def one(name, comment, distances, code):
        stream = Stream().dynamic(_LITERALS, distances)
        return "distance_" + name, comment, _by_length(stream, _LITERALS, code), RAW

    yield one("incomplete", "two distance codes of two bits", {0: 2, 1: 2}, (0, 2))
    yield one("one_of_two_bits", "one distance code, of two bits", {0: 2}, (0, 2))
    yield one("oversubscribed", "three distance codes of one bit", {0: 1, 1: 1, 2: 1}, (0, 1))
    yield one("none_used", "a match in a block without distance codes", {}, (0, 1))
    yield one("no_such_code", "the other bit where one distance code has one bit", {0: 1}, (1, 1))
    for symbol in (30, 31):
        yield ("distance_%d" % symbol, "distance symbol %d of the fixed codes" % symbol,
               _fixed(FIXED[LENGTH_47], FIXED_DISTANCES[symbol]), RAW)
    yield ("distance_too_far", "distance 2 after one byte", _fixed(FIXED[LENGTH_47], FIXED_DISTANCES[1]), RAW)


def _fixed(length, distance):
    """Writes a zero and a length of 47 in the fixed codes."""
    stream = Stream().block(1, final=True).code(FIXED[0]).code(length).value(47 - 43, 3).code(distance)
    return stream.code(FIXED[END]).bytes()
