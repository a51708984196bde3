package import PictureClient

/// Draws pictures with the character ▀. Its colour is one pixel, and its background is the pixel below.
package enum HalfBlocks {
    package enum Palette: Hashable, Sendable {
        /// 24-bit colours.
        case all
        /// The 256 colours of xterm: 16 of the terminal's own, a cube of 6 x 6 x 6, and 24 greys.
        case of256
    }

    private static let gap = 2
    /// The maximum width in characters, also on wider terminals.
    package static let widest = 160

    /// Returns the lines that show pictures next to each other, with the same height.
    ///
    /// - Parameters:
    ///   - columns: The width of the terminal.
    ///   - isSmooth: For each picture, whether its pixels may be mixed.
    package static func lines(
        _ pictures: [(image: PixelImage, isSmooth: Bool)], columns: Int, _ palette: Palette
    ) -> [String] {
        let room = min(columns, widest) - gap * (pictures.count - 1)
        let shares = pictures.map { Double($0.image.width) / Double($0.image.height) }
        let height = max(2, min(Int(Double(room) / max(shares.reduce(0, +), 0.01)), widest))
        let sized = zip(pictures, shares).compactMap { picture, share in
            let width = max(1, min(Int(share * Double(height)), room / pictures.count * 2))
            return picture.isSmooth
                ? picture.image.resized(width: width, height: height)
                : picture.image.picked(width: width, height: height)
        }
        return stride(from: 0, to: height, by: 2).map { row in
            sized.map { line($0, row, palette) }.joined(separator: String(repeating: " ", count: gap))
        }
    }

    private static func line(_ image: PixelImage, _ row: Int, _ palette: Palette) -> String {
        var text = ""
        var last = ""
        for column in 0..<image.width {
            let below =
                row + 1 < image.height ? "48;\(code(image[column, row + 1], palette))" : "49"
            let colours = "38;\(code(image[column, row], palette));\(below)"
            if colours != last { text += "\u{1b}[\(colours)m" }
            text += "▀"
            last = colours
        }
        return text + "\u{1b}[0m"
    }

    /// The part of an SGR sequence (ECMA-48 section 8.3.117) that names a colour.
    private static func code(_ pixel: Pixel, _ palette: Palette) -> String {
        switch palette {
        case .all: "2;\(pixel.red);\(pixel.green);\(pixel.blue)"
        case .of256: "5;\(number(pixel))"
        }
    }

    private static let cube = [0, 95, 135, 175, 215, 255]

    /// The index of the nearest of xterm's 256 colours, except the first 16, which a user can change.
    private static func number(_ pixel: Pixel) -> Int {
        let channels = [pixel.red, pixel.green, pixel.blue].map(Int.init)
        let steps = channels.map { channel in
            cube.indices.min { abs(cube[$0] - channel) < abs(cube[$1] - channel) } ?? 0
        }
        let grey = max(0, min(23, (channels.reduce(0, +) / 3 - 3) / 10))
        func distance(_ others: [Int]) -> Int {
            zip(channels, others).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
        }
        let isGrey = distance([Int](repeating: 8 + 10 * grey, count: 3)) < distance(steps.map { cube[$0] })
        return isGrey ? 232 + grey : 16 + 36 * steps[0] + 6 * steps[1] + steps[2]
    }
}
