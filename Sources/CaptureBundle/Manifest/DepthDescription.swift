/// The manifest's `depth`: the form of the depth map and its origin (Spec/capture-bundle.md section 4.4).
public struct DepthDescription: Hashable, Sendable {
    public let size: DepthSize
    /// The SHA-256 of the raw floats.
    public let sha256: Digest
    public let source: Source

    package init(size: DepthSize, sha256: Digest, source: Source) {
        (self.size, self.sha256, self.source) = (size, sha256, source)
    }

    /// The form in which the device delivered the depth map.
    public struct Source: Hashable, Sendable {
        public let encoding: String
        /// The values of the device that mean "not measured".
        public let invalid: String
        public let rowOrder: String
        /// The number of metres in one unit, as a decimal string.
        public let scale: String

        package init(encoding: String, invalid: String, rowOrder: String, scale: String) {
            (self.encoding, self.invalid, self.rowOrder, self.scale) = (encoding, invalid, rowOrder, scale)
        }

        /// Float32 metres with the top row first, which need no conversion.
        package static let plain = floats(DepthDescription.encoding)

        /// The same, in an encoding with this name.
        package static func floats(_ encoding: String) -> Source {
            Source(encoding: encoding, invalid: "nan-or-zero", rowOrder: "top-first", scale: "1")
        }
    }

    package static let encoding = "float32-le"
    static let unit = "m"
    static let invalidValues = ["nan", "zero", "nan-or-zero", "zero-or-max", "none"]
    static let rowOrders = ["top-first", "bottom-first"]
}

/// The width and height of a depth map in samples, each 1 to 16384.
public struct DepthSize: Hashable, Sendable, CustomStringConvertible {
    public let width: Int
    public let height: Int

    /// Creates a size; nil if a side is outside 1 … 16384.
    public init?(width: Int, height: Int) {
        let sides = 1...BundleLimits.depthSide
        guard sides.contains(width), sides.contains(height) else { return nil }
        self.width = width
        self.height = height
    }

    /// The number of bytes of the raw floats: 4 · width · height.
    public var byteCount: Int { 4 * width * height }

    /// The maximum number of bytes of `depth.f32.gz`. Even incompressible floats need less (rule M6).
    public var entryLimit: Int { byteCount + byteCount / 256 + 128 }

    /// The maximum number of deflate blocks of `depth.f32.gz` (section 5.1).
    var blockLimit: Int { 64 + byteCount / 512 }

    package var pixels: PixelSize { PixelSize(width: width, height: height) }

    public var description: String { pixels.description }
}
