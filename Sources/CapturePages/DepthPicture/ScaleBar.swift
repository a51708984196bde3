import PictureClient
import PictureMessages

/// The scale of a depth picture: a bar with its colours, the nearest on top, and depths in metres beside it.
struct ScaleBar {
    private let picture: DepthPicture
    /// The size of a dot of the font in pixels.
    private let dot: Int
    private let labels: [String]

    static let ink = Pixel(hex: 0xe6e6eb)
    private static let near = "near"
    private static let far = "far"
    private static let gapWords = "not measured"

    /// - Parameter height: The maximum height of the bar with its labels.
    init(_ picture: DepthPicture, height: Int, dot: Int) {
        self.picture = picture
        self.dot = dot
        let bar = height - 4 * Self.line * dot
        let count = max(2, min(7, bar / (3 * Self.line * dot) + 1))
        let span = picture.span
        let isFlat = span.map { $0.lowerBound == $0.upperBound } ?? true
        let shares = isFlat ? [0] : (0..<count).map { Double($0) / Double(count - 1) }
        let depths = span.map { span in shares.map(span.depth(at:)) } ?? []
        labels = Self.words(depths)
    }

    /// The height of a line of text in dots, with the space between lines.
    private static let line = BitmapFont.glyphHeight + 3

    /// The minimum height: below it, the bar and its labels overlap.
    static func leastHeight(dot: Int) -> Int { 10 * line * dot }

    private var barWidth: Int { 8 * dot }

    var width: Int {
        let beside = labels.map { barWidth + (4 + BitmapFont.width(of: $0)) * dot }
        let words = [Self.near, Self.far].map { BitmapFont.width(of: $0) * dot }
        return (beside + words + (picture.hasGaps ? [gapWidth] : [])).max() ?? 0
    }

    private var gapWidth: Int { (BitmapFont.glyphHeight + 4 + BitmapFont.width(of: Self.gapWords)) * dot }

    func draw(on canvas: inout PixelImage, left: Int, top: Int, height: Int) {
        let line = Self.line * dot
        if picture.hasGaps {
            let y = top + height - BitmapFont.glyphHeight * dot
            let side = BitmapFont.glyphHeight * dot
            canvas.fill(left: left, top: y, width: side, height: side, DepthPicture.gap)
            canvas.write(Self.gapWords, left: left + side + 4 * dot, top: y, dot: dot, Self.ink)
        }
        guard !labels.isEmpty else { return }
        let bar = height - (picture.hasGaps ? 4 : 2) * line
        canvas.write(Self.near, left: left, top: top, dot: dot, Self.ink)
        canvas.write(Self.far, left: left, top: top + line + bar + 3 * dot, dot: dot, Self.ink)
        let colours = picture.colours.colours
        for y in 0..<bar {
            let place = labels.count == 1 ? 255 : 255 - y * 255 / max(1, bar - 1)
            canvas.fill(left: left, top: top + line + y, width: barWidth, height: 1, colours[place])
        }
        let room = bar - BitmapFont.glyphHeight * dot
        for (index, label) in labels.enumerated() {
            let y = top + line + (labels.count == 1 ? room / 2 : index * room / (labels.count - 1))
            canvas.write(label, left: left + barWidth + 4 * dot, top: y, dot: dot, Self.ink)
        }
    }

    /// The depths as text, with the fewest decimals, at most three, for which they differ.
    private static func words(_ depths: [Double]) -> [String] {
        guard let largest = depths.max(), largest < 1e6 else { return depths.map { "\(Float($0)) m" } }
        let texts = (2...3).map { places in depths.map { Rounded.decimal($0, places: places) } }
        let chosen = texts.first { Set($0.map { Array($0.utf8) }).count == depths.count } ?? texts[texts.count - 1]
        return chosen.map { "\($0) m" }
    }
}

/// A small font of our own: five by seven dots for a character, for the labels of pictures.
enum BitmapFont {
    static let glyphHeight = 7
    /// The distance from one character to the next in dots.
    private static let advance = 6

    /// The lines of each glyph from top to bottom, five bits each; the highest bit is the leftmost dot.
    private static let glyphs: [UInt8: [UInt8]] = [
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
