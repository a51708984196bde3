import CaptureNative

/// A SHA-256 value: 32 bytes, written as 64 lower-case hex digits.
public struct Digest: Hashable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    /// - Parameter bytes: Exactly 32 bytes.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Parses a digest; nil unless `hex` is 64 lower-case hex digits.
    public init?(hex: String) {
        guard let bytes = Hex.decode(hex), bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    public var description: String { Hex.encode(bytes) }

    /// - Throws: `BundleError.Code.internalFailure` if OpenSSL fails.
    public static func of(_ bytes: [UInt8]) throws(BundleError) -> Digest {
        Digest(bytes: try native { try SHA256Hasher.hash(bytes) })
    }
}

/// Encodes and decodes lower-case hexadecimal.
package enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text; nil if its length is odd or a character is not a lower-case hex digit.
    package static func decode(_ text: String) -> [UInt8]? {
        let values = text.utf8.compactMap(digit)
        guard values.count == text.utf8.count, values.count % 2 == 0 else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }

    /// The value of a lower-case hex digit; nil for any other byte.
    package static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// The value of a hex digit of either case; nil for any other byte.
    static func digitOfEitherCase(_ character: UInt8) -> UInt8? {
        digit((UInt8(ascii: "A")...UInt8(ascii: "F")).contains(character) ? character | 0x20 : character)
    }
}

/// Encodes and decodes Base64 of RFC 4648 section 4, with padding and with unused bits set to zero.
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: Base64Block.encode(bytes), as: UTF8.self)
    }

    /// Encodes for URLs, without padding (RFC 4648 section 5).
    static func encodeURL(_ bytes: [UInt8]) -> String {
        let letters: [UInt8: UInt8] = [UInt8(ascii: "+"): UInt8(ascii: "-"), UInt8(ascii: "/"): UInt8(ascii: "_")]
        let characters = encode(bytes).utf8.prefix { $0 != UInt8(ascii: "=") }.map { letters[$0] ?? $0 }
        return String(decoding: characters, as: UTF8.self)
    }

    /// Decodes a text that `encodeURL` made; nil for any other.
    static func decodeURL(_ text: String) -> [UInt8]? {
        let letters: [UInt8: UInt8] = [UInt8(ascii: "-"): UInt8(ascii: "+"), UInt8(ascii: "_"): UInt8(ascii: "/")]
        let characters = text.utf8.map { letters[$0] ?? $0 }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - characters.count % 4) % 4)
        return decode(String(decoding: characters + padding, as: UTF8.self)).flatMap {
            encodeURL($0) == text ? $0 : nil
        }
    }

    /// Decodes a text; nil unless `encode` gives the same text.
    package static func decode(_ text: String) -> [UInt8]? {
        let bytes = Base64Block.decode(Array(text.utf8))
        return encode(bytes) == text ? bytes : nil
    }
}

/// Computes the SHA-256 of bytes that arrive in pieces.
///
/// ```swift
/// let stream = try DigestStream()
/// for piece in pieces { try stream.update(piece) }
/// let digest = try stream.finish()
/// ```
public final class DigestStream {
    private let hasher: SHA256Hasher

    /// - Throws: `BundleError.Code.internalFailure` if OpenSSL fails.
    public init() throws(BundleError) { hasher = try native { try SHA256Hasher() } }

    /// Adds the next bytes.
    public func update(_ bytes: Span<UInt8>) throws(BundleError) {
        try native { try hasher.update(bytes) }
    }

    /// Returns the digest of all bytes, and starts again.
    public func finish() throws(BundleError) -> Digest {
        Digest(bytes: try native { try hasher.finish() })
    }
}
