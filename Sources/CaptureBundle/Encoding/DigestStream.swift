import CaptureNative

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
