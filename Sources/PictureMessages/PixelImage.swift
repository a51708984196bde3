/// A colour picture in memory: 8-bit sRGB, three bytes for each pixel (red, green, blue), row-major, top row first.
package struct PixelImage: Hashable, Sendable {
    package let width: Int
    package let height: Int
    package var rgb: [UInt8]

    package static let sideLimit = 1 << 15

    package static func hasSides(_ width: Int, _ height: Int) -> Bool {
        (1...sideLimit).contains(width) && (1...sideLimit).contains(height)
    }

    /// Creates a picture; nil if a side is outside 1 … `sideLimit` or the number of bytes is not 3 · width · height.
    package init?(width: Int, height: Int, rgb: [UInt8]) {
        guard Self.hasSides(width, height), rgb.count == 3 * width * height else { return nil }
        self.width = width
        self.height = height
        self.rgb = rgb
    }
}

extension PixelImage {
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
    /// - Parameter map: Gives the column and row in this picture for a column and row of the new one.
    package func arranged(_ newWidth: Int, _ newHeight: Int, by map: (Int, Int) -> (Int, Int)) -> PixelImage? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(3 * newWidth * newHeight)
        for row in 0..<newHeight {
            for column in 0..<newWidth {
                let (fromColumn, fromRow) = map(column, row)
                let at = 3 * (fromRow * width + fromColumn)
                bytes.append(rgb[at])
                bytes.append(rgb[at + 1])
                bytes.append(rgb[at + 2])
            }
        }
        return PixelImage(width: newWidth, height: newHeight, rgb: bytes)
    }
}
