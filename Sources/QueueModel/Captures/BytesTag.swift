package import CaptureBundle

/// The Poly1305 tag of a file in the spool, with the random key that made it (Spec/queue.md section 7.1).
///
/// Both are made at push, while the bytes are copied. When sending, the tag is much cheaper than another SHA-256.
package struct BytesTag: Hashable, Sendable {
    package static let keyLength = 32
    package static let tagLength = 16

    /// The key, then the tag: 48 bytes, as the database stores them.
    package let bytes: [UInt8]

    /// Returns nil unless there are exactly 48 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.keyLength + Self.tagLength else { return nil }
        self.bytes = bytes
    }

    package var key: [UInt8] { Array(bytes[..<Self.keyLength]) }
    package var tag: [UInt8] { Array(bytes[Self.keyLength...]) }
}

/// How to check the bytes of a file: by their SHA-256, or by the tag that was made when they were stored.
package enum ExpectedBytes: Hashable, Sendable {
    case sha256(Digest)
    case tag(BytesTag)
}

extension CaptureRecord {
    /// How to check the bytes before they are sent. A user can change the file of a reference, so its SHA-256 is
    /// compared.
    package var expectedBytes: ExpectedBytes {
        if holding == .spool, let tag { return .tag(tag) }
        return .sha256(sha256)
    }
}
