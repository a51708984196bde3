import COpenSSL

/// Computes Poly1305 (RFC 8439, section 2.5) piece by piece. It is several times as fast as SHA-256.
///
/// The tag proves only to holders of the key that the bytes are unchanged. A key must be used for one message only.
@safe
package final class Poly1305 {
    package static let keyLength = 32
    package static let tagLength = 16

    private let context: OpaquePointer

    /// - Parameter key: 32 random bytes.
    package init(key: [UInt8]) throws(NativeError) {
        precondition(key.count == Self.keyLength, "a key of Poly1305 has 32 bytes")
        guard let context = unsafe EVP_MAC_CTX_new(Algorithm.poly1305) else {
            throw OpenSSLErrorQueue.drain("EVP_MAC_CTX_new")
        }
        unsafe self.context = context
        let status = unsafe EVP_MAC_init(context, key, key.count, nil)
        try OpenSSLErrorQueue.require(status == 1, "EVP_MAC_init")
    }

    deinit { unsafe EVP_MAC_CTX_free(context) }

    package func update(_ bytes: Span<UInt8>) throws(NativeError) {
        let status = unsafe bytes.withUnsafeBufferPointer {
            unsafe EVP_MAC_update(context, $0.baseAddress, $0.count)
        }
        try OpenSSLErrorQueue.require(status == 1, "EVP_MAC_update")
    }

    /// Returns the 16 bytes of the tag; call it once.
    package func finish() throws(NativeError) -> [UInt8] {
        var tag = [UInt8](repeating: 0, count: Self.tagLength)
        var length = 0
        let status = unsafe EVP_MAC_final(context, &tag, &length, tag.count)
        try OpenSSLErrorQueue.require(status == 1 && length == Self.tagLength, "EVP_MAC_final")
        return tag
    }
}
