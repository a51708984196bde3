import CaptureNative

/// Writes the container of a bundle through libarchive (Spec/capture-bundle.md section 3).
struct BundleWriter {
    private let archive: ArchiveWriteHandle
    private let name: String

    /// - Parameter name: the output, as messages name it.
    init(sink: FileHandle, name: String) throws(BundleError) {
        self.name = name
        do {
            archive = try ArchiveWriteHandle(sink: sink)
        } catch {
            throw Self.failure(name, error)
        }
    }

    func write(manifest: [UInt8], assertion: [UInt8]) throws(BundleError) {
        try write(BundleMagic.path, BundleMagic.content)
        try write("manifest.json", manifest)
        try write("assertion.cbor", assertion)
    }

    func write(_ entry: ManifestEntry, _ content: PayloadContent) throws(BundleError) {
        try run { () throws(NativeError) in
            try archive.beginEntry(path: entry.path.description, size: entry.size)
        }
        try content.stream(expecting: entry) { piece throws(BundleError) in
            do throws(NativeError) { try archive.write(piece) } catch { throw Self.failure(name, error) }
        }
    }

    func finish() throws(BundleError) {
        try run { () throws(NativeError) in try archive.finish() }
    }

    private func write(_ path: String, _ bytes: [UInt8]) throws(BundleError) {
        try run { () throws(NativeError) in
            try archive.beginEntry(path: path, size: bytes.count)
            try archive.write(bytes.span)
        }
    }

    private func run(_ body: () throws(NativeError) -> Void) throws(BundleError) {
        do { try body() } catch { throw Self.failure(name, error) }
    }

    private static func failure(_ name: String, _ error: NativeError) -> BundleError {
        error.origin == .libarchive ? .unexpected(error) : .writing(name, error)
    }
}
