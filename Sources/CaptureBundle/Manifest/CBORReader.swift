/// Reads the subset of CBOR (RFC 8949) that assertions use: shortest heads and definite lengths only.
struct CBORReader {
    enum Major: UInt8 { case bytes = 2, text = 3, map = 5 }

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// Reads a head of the given type and returns its argument; nil if the head has another type or is not the shortest
    /// form.
    mutating func head(_ major: Major) -> Int? {
        guard position < bytes.count, bytes[position] >> 5 == major.rawValue else { return nil }
        let short = Int(bytes[position] & 31)
        let extra: Int
        let smallest: Int
        switch short {
        case 0..<24:
            position += 1
            return short
        case 24: (extra, smallest) = (1, 24)
        case 25: (extra, smallest) = (2, 256)
        // No value here is longer than 65,535 bytes, so a longer head is never the shortest form.
        default: return nil
        }
        guard position + 1 + extra <= bytes.count else { return nil }
        let value = bytes[(position + 1)..<(position + 1 + extra)].reduce(0) { $0 << 8 | Int($1) }
        guard value >= smallest else { return nil }
        position += 1 + extra
        return value
    }

    mutating func byteString() -> [UInt8]? { head(.bytes).flatMap { take($0) } }

    mutating func text() -> String? {
        guard let count = head(.text), let bytes = take(count) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private mutating func take(_ count: Int) -> [UInt8]? {
        guard bytes.count - position >= count else { return nil }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }

    /// The shortest encoding of a head.
    static func encodeHead(_ major: Major, _ value: Int) -> [UInt8] {
        let type = major.rawValue << 5
        switch value {
        case ..<24: return [type | UInt8(value)]
        case ..<256: return [type | 24, UInt8(value)]
        default: return [type | 25, UInt8(truncatingIfNeeded: value >> 8), UInt8(value & 255)]
        }
    }
}
