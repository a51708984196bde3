/// The manifest's `depth`: what the depth map is and how it was made (Spec/capture-bundle.md section 4.4).
public struct DepthDescription: Hashable, Sendable {
    public let size: DepthSize
    /// SHA-256 of the raw floats.
    public let sha256: Digest
    public let source: Source

    /// How the floats were made from what the device delivered.
    public struct Source: Hashable, Sendable {
        public let encoding: String
        /// Which of the device's values mean "not measured".
        public let invalid: String
        public let rowOrder: String
        /// Metres to one unit, a decimal string.
        public let scale: String

        /// Float32 metres, top row first: copied as they came.
        static let plain = Source(
            encoding: DepthDescription.encoding, invalid: "nan-or-zero", rowOrder: "top-first", scale: "1")
    }

    static let encoding = "float32-le"
    static let unit = "m"
    static let invalidValues = ["nan", "zero", "nan-or-zero", "none"]
    static let rowOrders = ["top-first", "bottom-first"]
}

/// Width and height of a depth map, in samples; each 1 to 16384.
public struct DepthSize: Hashable, Sendable, CustomStringConvertible {
    public let width: Int
    public let height: Int

    /// nil when a side is outside 1 … 16384.
    public init?(width: Int, height: Int) {
        let sides = 1...BundleLimits.depthSide
        guard sides.contains(width), sides.contains(height) else { return nil }
        self.width = width
        self.height = height
    }

    /// Bytes of the raw floats: 4 · width · height.
    public var byteCount: Int { 4 * width * height }

    /// What `depth.f32.gz` may have at most: more than floats need that cannot be compressed (rule M6).
    public var entryLimit: Int { byteCount + byteCount / 256 + 128 }

    /// How many deflate blocks it may have at most (section 5.1).
    var blockLimit: Int { 64 + byteCount / 512 }

    public var description: String { "\(width)x\(height)" }
}
