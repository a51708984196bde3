/// The chunks of a PNG, in their order (PNG section 5.3). Their CRCs are not checked.
package struct PNGChunks: Sequence, IteratorProtocol {
    package struct Chunk {
        package let type: String
        package let data: ArraySlice<UInt8>
        let isFirst: Bool
        /// Whether the file ends with this chunk.
        let isLast: Bool
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    private let png: [UInt8]
    private var position = Self.signature.count

    /// nil if the bytes do not begin as a PNG.
    package init?(_ png: [UInt8]) {
        guard png.starts(with: Self.signature) else { return nil }
        self.png = png
    }

    /// - Returns: nil at the end, and for a chunk that the file cuts off.
    package mutating func next() -> Chunk? {
        guard position + 12 <= png.count else { return nil }
        let length = png[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) }
        guard length <= png.count - position - 12 else { return nil }
        let start = position + 8
        defer { position = start + length + 4 }
        return Chunk(
            type: String(decoding: png[(position + 4)..<start], as: UTF8.self), data: png[start..<(start + length)],
            isFirst: position == Self.signature.count, isLast: start + length + 4 == png.count)
    }
}
