extension PixelImage {
    /// A picture of one colour; nil if a side is outside 1 … `sideLimit`.
    package init?(width: Int, height: Int, filledWith colour: Pixel) {
        guard (1...Self.sideLimit).contains(width), (1...Self.sideLimit).contains(height) else { return nil }
        let line = [UInt8](repeating: colour, count: width)
        var rgb: [UInt8] = []
        rgb.reserveCapacity(line.count * height)
        for _ in 0..<height { rgb += line }
        self.init(width: width, height: height, rgb: rgb)
    }

    /// The colour of a pixel, which has to be inside the picture.
    package subscript(column: Int, row: Int) -> Pixel {
        get {
            let at = 3 * (row * width + column)
            return Pixel(rgb[at], rgb[at + 1], rgb[at + 2])
        }
        set {
            let at = 3 * (row * width + column)
            rgb[at] = newValue.red
            rgb[at + 1] = newValue.green
            rgb[at + 2] = newValue.blue
        }
    }

    /// The picture with each pixel repeated `factor` times in both directions; nil if a side gets longer than `sideLimit`.
    package func repeated(_ factor: Int) -> PixelImage? {
        guard factor >= 1, max(width, height) <= Self.sideLimit / factor else { return nil }
        return arranged(width * factor, height * factor) { ($0 / factor, $1 / factor) }
    }

    /// The picture with another number of pixels, each with the colour of the nearest old one; nil if a side is outside
    /// 1 … `sideLimit`.
    package func picked(width newWidth: Int, height newHeight: Int) -> PixelImage? {
        guard (1...Self.sideLimit).contains(newWidth), (1...Self.sideLimit).contains(newHeight) else { return nil }
        return arranged(newWidth, newHeight) {
            ((2 * $0 + 1) * width / (2 * newWidth), (2 * $1 + 1) * height / (2 * newHeight))
        }
    }

    /// The picture as it is shown: turned and mirrored as the EXIF orientation says (CIPA DC-008, tag 0x0112).
    ///
    /// - Parameter orientation: 1 … 8; any other number changes nothing.
    package func upright(_ orientation: Int) -> PixelImage {
        let (right, bottom) = (width - 1, height - 1)
        let turned: PixelImage? =
            switch orientation {
            case 2: arranged(width, height) { (right - $0, $1) }
            case 3: arranged(width, height) { (right - $0, bottom - $1) }
            case 4: arranged(width, height) { ($0, bottom - $1) }
            case 5: arranged(height, width) { ($1, $0) }
            case 6: arranged(height, width) { ($1, bottom - $0) }
            case 7: arranged(height, width) { (right - $1, bottom - $0) }
            case 8: arranged(height, width) { (right - $1, $0) }
            default: nil
            }
        return turned ?? self
    }

    /// Makes a picture from the pixels of this one.
    ///
    /// - Parameter source: Gives the column and row in this picture for a column and row of the new one.
    private func arranged(_ newWidth: Int, _ newHeight: Int, _ source: (Int, Int) -> (Int, Int)) -> PixelImage? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(3 * newWidth * newHeight)
        for row in 0..<newHeight {
            for column in 0..<newWidth {
                let (fromColumn, fromRow) = source(column, row)
                let at = 3 * (fromRow * width + fromColumn)
                bytes.append(rgb[at])
                bytes.append(rgb[at + 1])
                bytes.append(rgb[at + 2])
            }
        }
        return PixelImage(width: newWidth, height: newHeight, rgb: bytes)
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
