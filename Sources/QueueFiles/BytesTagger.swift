package import CaptureNative
package import QueueModel

/// Computes the tag of a file while its bytes are copied, with a key that is used for this file only.
package final class BytesTagger {
    private let key: [UInt8]
    private let poly: Poly1305

    package init() throws(NativeError) {
        key = try RandomBytes.make(BytesTag.keyLength)
        poly = try Poly1305(key: key)
    }

    package func update(_ bytes: Span<UInt8>) throws(NativeError) { try poly.update(bytes) }

    /// Returns the tag. It may be called once, after the last byte.
    package func finish() throws(NativeError) -> BytesTag? { BytesTag(bytes: key + (try poly.finish())) }
}
