import CaptureNative

/// The chunks of a PNG, in their order (PNG section 5.3).
package struct PNGChunks: Sequence, IteratorProtocol {
    package struct Chunk {
        package let type: String
        package let data: ArraySlice<UInt8>
        /// Type and data, and their CRC as the file has it.
        fileprivate let checked: ArraySlice<UInt8>
        fileprivate let check: UInt32
        let isFirst: Bool
        /// Whether the file ends with this chunk.
        let isLast: Bool

        /// Whether the CRC is right. Reading does not need that.
        var isIntact: Bool {
            var crc = CRC32()
            crc.update(checked.span)
            return crc.value == check
        }
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    private let png: [UInt8]
    private var position = Self.signature.count

    /// nil if the bytes do not begin as a PNG.
    package init?(_ png: [UInt8]) {
        guard png.starts(with: Self.signature) else { return nil }
        self.png = png
    }

    /// EXIF before the picture; only that counts (PNG section 11.3.4.5).
    package var exif: [UInt8]? { prefix { $0.type != "IDAT" }.first { $0.type == "eXIf" }.map { Array($0.data) } }
    /// - Returns: nil at the end, and for a chunk that the file cuts off.
    package mutating func next() -> Chunk? {
        guard position + 12 <= png.count else { return nil }
        let length = number(at: position)
        guard length <= png.count - position - 12 else { return nil }
        let start = position + 8
        let end = start + length
        defer { position = end + 4 }
        return Chunk(
            type: String(decoding: png[(position + 4)..<start], as: UTF8.self), data: png[start..<end],
            checked: png[(start - 4)..<end], check: UInt32(number(at: end)),
            isFirst: position == Self.signature.count, isLast: end + 4 == png.count)
    }

    private func number(at place: Int) -> Int { png[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) } }
}
