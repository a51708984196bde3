extension PixelImage {
    /// Returns the picture with another number of pixels; nil if a side is outside 1 … `sideLimit`.
    ///
    /// A new pixel is a weighted mean of old ones: of those that it covers when the picture gets smaller, and of the
    /// nearest on both sides when it gets larger.
    package func resized(width newWidth: Int, height newHeight: Int) -> PixelImage? {
        guard (1...Self.sideLimit).contains(newWidth), (1...Self.sideLimit).contains(newHeight) else { return nil }
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
    private let first: Int
    private let weights: [Int]
    private let total: Int

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
            return Resampling(first: first, weights: (first...last).map { max(0, reach - distance($0)) })
        }
    }

    private init(first: Int, weights: [Int]) {
        self.first = first
        self.weights = weights
        total = weights.reduce(0, +)
    }

    func mean(_ value: (Int) -> UInt8) -> UInt8 {
        var sum = total / 2
        for (offset, weight) in weights.enumerated() { sum += weight * Int(value(first + offset)) }
        return UInt8(sum / total)
    }
}
