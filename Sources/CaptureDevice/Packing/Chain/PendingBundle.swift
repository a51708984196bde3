import CaptureBundle
import CaptureNative
import SystemPackage

/// A file that holds the bundle of a pending link, maybe without its signature (Spec/capture-bundle.md section 9.3).
struct PendingBundle {
    /// The bytes of assertion.cbor; nil if the signature is missing or invalid.
    let assertion: [UInt8]?
    /// Whether the file has the length of the whole bundle.
    let isWhole: Bool
    private let handle: FileHandle
    private let path: FilePath
    private let manifest: [UInt8]

    /// Opens the file; nil if it is missing, is not a regular file, or does not begin with the manifest of the link.
    ///
    /// - Parameter canChange: Whether the file is opened so that `sign` can write to it.
    /// - Throws: `input.unreadable` or `io.failed` if the file cannot be read. The link is not lost then.
    init?(
        _ path: FilePath, of pending: PendingLink, device: DevicePoint, canChange: Bool = false
    ) throws {
        guard let handle = try Self.open(path, canChange: canChange) else { return nil }
        let status = try native({ .reading(path, $0) }) { try handle.status() }
        guard status.kind == .file else { return nil }
        var bytes: [UInt8] = []
        let reader = BundleReader(BundleSource(handle: handle, name: path.string))
        let head: BundleReader.Head?
        do {
            head = try reader.readHead { bytes = $0 }
        } catch {
            // The bytes are not the head of a bundle. Other errors say nothing about the bytes.
            guard error.verdict != nil else { throw error }
            head = nil
        }
        guard try Digest.of(bytes) == pending.manifest, let manifest = try? Manifest.decode(bytes) else { return nil }
        (self.handle, self.path, self.manifest) = (handle, path, bytes)
        isWhole = status.size == BundleWriter.byteCount(manifest, manifestSize: bytes.count, assertion: 1)
        if let head, let read = try? Assertion(decoding: head.assertion), try read.isValid(for: bytes, of: device) {
            assertion = head.assertion
        } else {
            assertion = nil
        }
    }

    private static func open(_ path: FilePath, canChange: Bool) throws -> FileHandle? {
        do {
            return try canChange
                ? FileHandle.open(path, FileHandle.existingFileToChange) : FileHandle.readingPlainFile(path)
        } catch {
            if error.isMissing || error.isLoop || error.isFolder { return nil }
            throw BundleError.reading(path, error)
        }
    }

    /// Makes the signature if it is missing, and syncs the file.
    func sign(_ device: DeviceKey, counter: UInt32) throws {
        let made =
            if let assertion { assertion } else {
                try Assertion(signing: manifest, key: device.key, counter: counter).encode()
            }
        try AssertionPlace.write(made, manifestSize: manifest.count, to: handle, name: path.string)
        try native({ .writing(path, $0) }) { try handle.synchronize() }
    }
}
