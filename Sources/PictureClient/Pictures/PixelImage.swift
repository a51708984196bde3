/// A colour picture in memory: 8-bit sRGB, three bytes for each pixel (red, green, blue), row-major, top row first.
package struct PixelImage: Hashable, Sendable {
    package let width: Int
    package let height: Int
    package var rgb: [UInt8]

    package static let sideLimit = 1 << 15

    /// Creates a picture; nil if a side is outside 1 … `sideLimit` or the number of bytes is not 3 · width · height.
    package init?(width: Int, height: Int, rgb: [UInt8]) {
        let sides = 1...Self.sideLimit
        guard sides.contains(width), sides.contains(height), rgb.count == 3 * width * height else { return nil }
        self.width = width
        self.height = height
        self.rgb = rgb
    }
}
