package import CaptureNative

/// The content of a payload entry that is not in a bundle yet, or the floats from which an entry is made.
package enum PayloadContent {
    case bytes([UInt8])
    /// A file that is too large for memory. It is read a second time and must still have the same bytes.
    case file(FileHandle, name: String)

    package static let memoryLimit = 32 << 20

    package func stream(
        size: Int, sha256: Digest, to body: (Span<UInt8>) throws(BundleError) -> Void
    ) throws(BundleError) {
        switch self {
        case .bytes(let bytes): try body(bytes.span)
        case .file(let handle, let name):
            do { try handle.seekToStart() } catch { throw .reading(name, error) }
            let digest = try Self.hash(handle, name: name, expecting: size, body)
            guard digest == sha256 else {
                throw BundleError(.inputUnreadable, "changed while it was being packed", file: name)
            }
        }
    }

    /// Hashes a file in pieces and passes the pieces to `body`. The file must have exactly `size` bytes.
    package static func hash(
        _ handle: FileHandle, name: String, expecting size: Int,
        _ body: (Span<UInt8>) throws(BundleError) -> Void = { _ in }
    ) throws(BundleError) -> Digest {
        let source = BundleSource(handle: handle, name: name)
        let digest = try source.digest(limit: size, body)
        guard source.position == size, try source.isAtEnd else {
            throw BundleError(.inputUnreadable, "changed while it was being packed", file: name)
        }
        return digest
    }
}
