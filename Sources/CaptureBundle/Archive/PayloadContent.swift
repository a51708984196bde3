package import CaptureNative

/// The content of a payload entry that is not in a bundle yet, or the floats from which an entry is made.
package enum PayloadContent: Sendable {
    case bytes([UInt8])
    /// Bytes of a file, from an offset on. They are read a second time and must still be the same.
    case file(FileHandle, name: String, offset: Int = 0)

    package static let memoryLimit = 32 << 20

    package func stream(
        size: Int, sha256: Digest, to body: (Span<UInt8>) throws -> Void
    ) throws(BundleError) {
        switch self {
        case .bytes(let bytes): try native { try body(bytes.span) }
        case .file(let handle, let name, let offset):
            try native({ .reading(name, $0) }) { try handle.seek(to: offset) }
            let found = try BundleSource(handle: handle, name: name).digest(limit: size, body)
            guard found == sha256 else { throw Self.changed(name) }
        }
    }

    /// Hashes a file in pieces and passes the pieces to `body`. The file must have exactly `size` bytes.
    package static func hash(
        _ handle: FileHandle, name: String, expecting size: Int,
        _ body: (Span<UInt8>) throws -> Void = { _ in }
    ) throws(BundleError) -> Digest {
        let source = BundleSource(handle: handle, name: name)
        let digest = try source.digest(limit: size, body)
        guard source.position == size, try source.isAtEnd else { throw changed(name) }
        return digest
    }

    static func changed(_ name: String) -> BundleError {
        BundleError(.inputUnreadable, "changed while it was being read", file: name)
    }
}
