package import PictureMessages

extension PixelImage {
    /// A picture of one colour; nil if a side is outside 1 … `sideLimit`.
    package init?(width: Int, height: Int, filledWith colour: Pixel) {
        guard Self.hasSides(width, height) else { return nil }
        self.init(width: width, height: height, rgb: [UInt8](repeating: colour, count: width * height))
    }

    /// The colour of a pixel, which has to be inside the picture.
    package subscript(column: Int, row: Int) -> Pixel {
        let at = 3 * (row * width + column)
        return Pixel(rgb[at], rgb[at + 1], rgb[at + 2])
    }

    /// The picture with another number of pixels, each with the colour of the nearest old one; nil if a side is outside
    /// 1 … `sideLimit`.
    package func picked(width newWidth: Int, height newHeight: Int) -> PixelImage? {
        guard Self.hasSides(newWidth, newHeight) else { return nil }
        return arranged(newWidth, newHeight) {
            ((2 * $0 + 1) * width / (2 * newWidth), (2 * $1 + 1) * height / (2 * newHeight))
        }
    }
}

extension [UInt8] {
    package init(repeating colour: Pixel, count: Int) {
        self.init(repeating: colour.red, count: 3 * count)
        for place in 0..<count {
            self[3 * place + 1] = colour.green
            self[3 * place + 2] = colour.blue
        }
    }
}

extension PixelImage {
    /// Returns the picture with another number of pixels; nil if a side is outside 1 … `sideLimit`.
    ///
    /// A new pixel is a weighted mean of old ones: of those that it covers when the picture gets smaller, and of the
    /// nearest on both sides when it gets larger.
    package func resized(width newWidth: Int, height newHeight: Int) -> PixelImage? {
        guard Self.hasSides(newWidth, newHeight) else { return nil }
        if (newWidth, newHeight) == (width, height) { return self }
        let columns = Resampling.weights(from: width, to: newWidth)
        var wide = [UInt8](repeating: 0, count: 3 * newWidth * height)
        for row in 0..<height {
            for column in 0..<newWidth {
                let taps = columns[column]
                for channel in 0..<3 {
                    wide[3 * (row * newWidth + column) + channel] = taps.mean { rgb[3 * (row * width + $0) + channel] }
                }
            }
        }
        let rows = Resampling.weights(from: height, to: newHeight)
        var result = [UInt8](repeating: 0, count: 3 * newWidth * newHeight)
        let line = 3 * newWidth
        for row in 0..<newHeight {
            let taps = rows[row]
            for place in 0..<line { result[row * line + place] = taps.mean { wide[$0 * line + place] } }
        }
        return PixelImage(width: newWidth, height: newHeight, rgb: result)
    }
}

/// The old pixels of a line from which one new pixel is computed, with their weights. The weights are integers, so that
/// the result is the same on all machines.
private struct Resampling {
    let first: Int
    let weights: [Int]
    let total: Int

    /// Computes the weights: a triangle whose base is two pixels wide, in old or new pixels, whichever are larger.
    ///
    /// All positions are in units of 1 / (2 · old count · new count) of the line, so that they are integers.
    static func weights(from old: Int, to new: Int) -> [Resampling] {
        let reach = 2 * max(old, new)
        return (0..<new).map { index in
            let centre = (2 * index + 1) * old
            func distance(_ pixel: Int) -> Int { abs((2 * pixel + 1) * new - centre) }
            let first = max(0, (centre - reach - new) / (2 * new))
            let last = min(old - 1, (centre + reach + new) / (2 * new))
            let weights = (first...last).map { max(0, reach - distance($0)) }
            return Resampling(first: first, weights: weights, total: weights.reduce(0, +))
        }
    }

    func mean(_ value: (Int) -> UInt8) -> UInt8 {
        var sum = total / 2
        for (offset, weight) in weights.enumerated() { sum += weight * Int(value(first + offset)) }
        return UInt8(sum / total)
    }
}

/// One colour: 8-bit sRGB.
package struct Pixel: Hashable, Sendable {
    package let red: UInt8
    package let green: UInt8
    package let blue: UInt8

    package init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// - Parameter hex: 0xRRGGBB.
    package init(hex: UInt32) { self.init(UInt8(hex >> 16 & 0xff), UInt8(hex >> 8 & 0xff), UInt8(hex & 0xff)) }

    /// The colour between this one and another.
    ///
    /// - Parameter share: 0 for this colour … 255 for the other.
    package func mixed(with other: Pixel, _ share: Int) -> Pixel {
        func channel(_ from: UInt8, _ to: UInt8) -> UInt8 {
            UInt8((Int(from) * (255 - share) + Int(to) * share + 127) / 255)
        }
        return Pixel(channel(red, other.red), channel(green, other.green), channel(blue, other.blue))
    }
}
