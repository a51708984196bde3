import CLibDeflate

/// The CRC-32 of gzip (RFC 1952 section 8), computed piece by piece.
package struct CRC32: Sendable {
    package private(set) var value: UInt32 = 0

    package init() {}

    package mutating func update(_ bytes: Span<UInt8>) {
        value = unsafe bytes.withUnsafeBytes { unsafe libdeflate_crc32(value, $0.baseAddress, $0.count) }
    }
}
