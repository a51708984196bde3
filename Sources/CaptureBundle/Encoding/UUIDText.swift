/// Formats UUIDs (RFC 9562).
package enum UUIDText {
    private static let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]

    /// - Parameters:
    ///   - bytes: The value. The first 16 bytes are used, except for the bits of the version and the variant; missing
    ///     bytes count as zero.
    ///   - version: 4 for random bytes, 8 for bytes that the application defines.
    package static func of(_ bytes: [UInt8], version: UInt8) -> String {
        var bytes = bytes + [UInt8](repeating: 0, count: max(0, 16 - bytes.count))
        bytes[6] = bytes[6] & 0x0f | version << 4
        bytes[8] = bytes[8] & 0x3f | 0x80
        return groups.map { Hex.encode(Array(bytes[$0])) }.joined(separator: "-")
    }
}
