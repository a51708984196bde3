import CaptureBundle
package import CaptureNative
package import QueueModel

/// Checks whether the bytes of a file are the expected ones, while they are read.
package final class ExpectedBytesCheck {
    private enum Work {
        case sha256(SHA256Hasher, Digest)
        case tag(Poly1305, BytesTag)
    }

    private let work: Work

    package init(_ expected: ExpectedBytes) throws(NativeError) {
        switch expected {
        case .sha256(let digest): work = .sha256(try SHA256Hasher(), digest)
        case .tag(let tag): work = .tag(try Poly1305(key: tag.key), tag)
        }
    }

    package func update(_ bytes: Span<UInt8>) throws(NativeError) {
        switch work {
        case .sha256(let hasher, _): try hasher.update(bytes)
        case .tag(let poly, _): try poly.update(bytes)
        }
    }

    /// Returns the result. It may be called once, after the last byte.
    package func agrees() throws(NativeError) -> Bool {
        switch work {
        case .sha256(let hasher, let digest): Digest(bytes: try hasher.finish()) == digest
        case .tag(let poly, let tag): try poly.finish() == tag.tag
        }
    }
}
