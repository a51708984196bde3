extension BundleError.Code {
    static let containerTruncated = Self("container.truncated")
    package static let containerMagic = Self("container.magic")
    package static let containerVersion = Self("container.version")
    static let containerHeader = Self("container.header")
    static let containerPadding = Self("container.padding")
    static let containerEnd = Self("container.end")
    static let containerTrailing = Self("container.trailing")
    static let containerPath = Self("container.path")
    static let containerDuplicate = Self("container.duplicate")
    static let containerOrder = Self("container.order")
    static let containerLimit = Self("container.limit")
    static let containerUnlisted = Self("container.unlisted")
    static let containerSize = Self("container.size")
    static let containerMissing = Self("container.missing")
}

/// A 512-byte header block. Path and size determine all its bytes (Spec/capture-bundle.md section 3.1).
struct UstarHeader {
    static let blockLength = 512

    /// The bytes before the first NUL of the name field, not yet checked against the path grammar.
    let name: String
    let size: Int

    /// The fields that are the same in every header, each at its offset. The checksum is computed over spaces.
    private static let fields = [
        (100, "000644 "), (108, "000000 "), (116, "000000 "), (135, " 00000000000 "), (148, "        "), (156, "0"),
        (257, "ustar"), (263, "00"), (329, "000000 "), (337, "000000 "),
    ]

    /// The header block for this path and size.
    ///
    /// - Parameters:
    ///   - name: The path, at most 99 bytes.
    ///   - size: The size of the entry, at most 8 GiB − 1.
    static func encode(name: some Collection<UInt8>, size: Int) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: blockLength)
        func put(_ bytes: some Collection<UInt8>, at offset: Int) {
            for (index, byte) in bytes.enumerated() { block[offset + index] = byte }
        }
        put(name, at: 0)
        for (offset, text) in fields { put(text.utf8, at: offset) }
        put("\(size, 11, radix: 8)".utf8, at: 124)
        let sum = block.reduce(0) { $0 + Int($1) }
        put("\(sum, 6, radix: 8)".utf8, at: 148)
        block[154] = 0
        return block
    }

    /// The number of zero bytes between an entry's data and the next block.
    static func padding(_ size: Int) -> Int { (blockLength - size % blockLength) % blockLength }

    /// An entry with its header and padding.
    static func entry(_ path: String, _ bytes: [UInt8]) -> [UInt8] {
        encode(name: path.utf8, size: bytes.count) + bytes + [UInt8](repeating: 0, count: padding(bytes.count))
    }

    /// The length of an entry with its header and padding.
    static func entryLength(_ size: Int) -> Int { blockLength + size + padding(size) }

    /// Reads path and size, builds the canonical block from them and compares: rule C4.
    init(_ block: [UInt8]) throws(BundleError) {
        let name = Array(block[..<100].prefix { $0 != 0 })
        guard !name.isEmpty, name.count <= BundleLimits.pathBytes else {
            throw BundleError(.containerHeader, "a header has no name of 1 to 99 bytes in its name field")
        }
        // The conversion changes bytes that are not UTF-8. No valid path has such bytes, and rule C8 refuses them.
        let text = String(decoding: name, as: UTF8.self)
        let digits = block[124..<135]
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }) else {
            throw BundleError(.containerHeader, "the header of \(text) has a size that is not eleven octal digits")
        }
        self.name = text
        size = digits.reduce(0) { $0 << 3 | Int($1 - UInt8(ascii: "0")) }
        let expected = Self.encode(name: name, size: size)
        guard let offset = block.indices.first(where: { block[$0] != expected[$0] }) else { return }
        throw BundleError(.containerHeader, "the header of \(text) differs from its canonical form at byte \(offset)")
    }
}

/// The first 1024 bytes of a bundle, which are constant (section 3.3).
package enum BundleMagic {
    static let path = "mimetype"
    static let typePrefix = "application/vnd.capture-bundle+tar;version="
    static let content = Array((typePrefix + "1\n").utf8)

    package static let bytes = UstarHeader.entry(path, content)
}
