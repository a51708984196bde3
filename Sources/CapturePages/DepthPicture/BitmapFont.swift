/// A small font of our own: five by seven dots for a character, for the labels of pictures.
enum BitmapFont {
    static let glyphHeight = 7
    /// The distance from one character to the next in dots.
    private static let advance = 6

    /// The lines of each glyph from top to bottom, five bits each; the highest bit is the leftmost dot.
    private static let glyphs: [UInt8: [UInt8]] = [
        UInt8(ascii: " "): [0, 0, 0, 0, 0, 0, 0],
        UInt8(ascii: "."): [0, 0, 0, 0, 0, 0b01100, 0b01100],
        UInt8(ascii: "+"): [0, 0b00100, 0b00100, 0b11111, 0b00100, 0b00100, 0],
        UInt8(ascii: "-"): [0, 0, 0, 0b11111, 0, 0, 0],
        UInt8(ascii: "0"): [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
        UInt8(ascii: "1"): [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
        UInt8(ascii: "2"): [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
        UInt8(ascii: "3"): [0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110],
        UInt8(ascii: "4"): [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
        UInt8(ascii: "5"): [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
        UInt8(ascii: "6"): [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
        UInt8(ascii: "7"): [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
        UInt8(ascii: "8"): [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
        UInt8(ascii: "9"): [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
        UInt8(ascii: "a"): [0, 0, 0b01110, 0b00001, 0b01111, 0b10001, 0b01111],
        UInt8(ascii: "d"): [0b00001, 0b00001, 0b01101, 0b10011, 0b10001, 0b10001, 0b01111],
        UInt8(ascii: "e"): [0, 0, 0b01110, 0b10001, 0b11111, 0b10000, 0b01110],
        UInt8(ascii: "f"): [0b00110, 0b01001, 0b01000, 0b11100, 0b01000, 0b01000, 0b01000],
        UInt8(ascii: "m"): [0, 0, 0b11010, 0b10101, 0b10101, 0b10001, 0b10001],
        UInt8(ascii: "n"): [0, 0, 0b10110, 0b11001, 0b10001, 0b10001, 0b10001],
        UInt8(ascii: "o"): [0, 0, 0b01110, 0b10001, 0b10001, 0b10001, 0b01110],
        UInt8(ascii: "r"): [0, 0, 0b10110, 0b11001, 0b10000, 0b10000, 0b10000],
        UInt8(ascii: "s"): [0, 0, 0b01110, 0b10000, 0b01110, 0b00001, 0b11110],
        UInt8(ascii: "t"): [0b01000, 0b01000, 0b11100, 0b01000, 0b01000, 0b01001, 0b00110],
        UInt8(ascii: "u"): [0, 0, 0b10001, 0b10001, 0b10001, 0b10011, 0b01101],
    ]

    static func width(of text: String) -> Int { max(0, text.utf8.count * advance - 1) }

    /// The dots of a text, with the left top dot at 0, 0. A character that is not in the font becomes an empty space.
    static func dots(of text: String) -> [(column: Int, row: Int)] {
        text.utf8.enumerated().flatMap { index, character in
            (glyphs[character] ?? []).enumerated().flatMap { row, bits in
                (0..<5).filter { bits & (0b10000 >> $0) != 0 }.map { (column: index * advance + $0, row: row) }
            }
        }
    }
}
