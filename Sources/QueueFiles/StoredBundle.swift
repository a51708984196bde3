package import CaptureBundle
package import CaptureNative
package import QueueModel
package import SystemPackage

/// Reads bundles and sidecars of the spool without their rows.
package enum StoredBundle {
    /// - Returns: nil if the bytes do not match the hash, or are not a sound bundle.
    package static func facts(_ sha256: Digest, _ spool: Spool) throws -> CaptureFacts? {
        guard let handle = try spool.open(sha256) else { return nil }
        let path = spool.folder.bundlePath(sha256)
        guard try Spool.hash(handle, path) == sha256 else { return nil }
        try onFile(path) { try handle.seekToStart() }
        let report = try Verifier(trust: TrustFile()).verify(BundleSource(handle: handle, name: path.string))
        return try? CaptureFacts(report, sha256: sha256, name: path.string)
    }

    package static func sidecar(_ sha256: Digest, _ folder: QueueFolder) -> Sidecar? {
        let found = sidecar(at: folder.sidecarPath(sha256))
        return found?.facts.sha256 == sha256 ? found : nil
    }

    /// The sidecar beside a bundle of any folder; nil if it is of another bundle.
    package static func sidecar(_ facts: CaptureFacts, beside bundle: FilePath) -> Sidecar? {
        let found = unverifiedSidecar(beside: bundle)
        return found?.facts.sha256 == facts.sha256 && found?.facts.identity == facts.identity ? found : nil
    }

    /// Reads what is beside a bundle before the bundle itself is read.
    package static func unverifiedSidecar(beside bundle: FilePath) -> Sidecar? {
        var path = bundle
        path.extension = "json"
        return sidecar(at: path)
    }

    private static func sidecar(at path: FilePath) -> Sidecar? {
        let file = try? FileHandle.readingPlainFile(path, followsLinks: false)
        return (try? file?.readAll(limit: Sidecar.sizeLimit)).flatMap { Sidecar(decoding: $0) }
    }
}

/// Reads files and compares them with their hash.
extension Spool {
    /// A file of the spool that was hashed, with its status at that time.
    package struct Hashed: Sendable {
        package let sha256: Digest
        package let status: FileStatus
        package let matches: Bool
    }

    /// Whether the file of this hash exists and has the right bytes.
    ///
    /// - Parameter known: files that were hashed before. A file whose status is unchanged is not hashed again.
    package func matches(_ sha256: Digest, knowing known: [Hashed] = []) throws -> Bool {
        guard let handle = try open(sha256) else { return false }
        let path = folder.bundlePath(sha256)
        let status = try onFile(path) { try handle.status() }
        if let known = known.first(where: { $0.sha256 == sha256 && $0.status == status }) { return known.matches }
        return try Self.hash(handle, path) == sha256
    }

    /// Hashes a file without the turn to write, so that no writer waits for it.
    ///
    /// - Returns: nil if there is no file, or if it changes while it is read.
    package func hashed(_ sha256: Digest) throws -> Hashed? {
        guard let handle = try open(sha256) else { return nil }
        let path = folder.bundlePath(sha256)
        let before = try onFile(path) { try handle.status() }
        let found = try Self.hash(handle, path)
        let after = try onFile(path) { try handle.status() }
        return before == after ? Hashed(sha256: sha256, status: after, matches: found == sha256) : nil
    }

    package static func hash(_ handle: FileHandle, _ path: FilePath) throws(QueueError) -> Digest {
        try onFile(path) {
            let hasher = try SHA256Hasher()
            handle.expectReading()
            var buffer = [UInt8](repeating: 0, count: 1 << 18)
            while case let count = try handle.readSome(into: &buffer), count > 0 {
                try hasher.update(buffer.span.extracting(first: count))
            }
            return Digest(bytes: try hasher.finish())
        }
    }
}

/// Tells files that are gone from files that are absent with their folder, as on a disk that is not mounted
/// (Spec/queue.md section 11). The latter come back, so their captures wait.
package enum Absence {
    /// The code of a delivery that waits for such a file.
    package static let code = "source.absent"

    /// How long such a delivery waits before the file is looked for again, in milliseconds.
    package static let pause = 300_000

    /// The folder that is missing or empty.
    ///
    /// - Returns: nil if the file is there, or if it alone is missing.
    package static func root(of path: FilePath) -> FilePath? {
        guard FileStatus.isMissing(path) else { return nil }
        var folder = path.folder
        if isEmpty(folder) { return folder }
        guard FileStatus.isMissing(folder) else { return nil }
        while folder.folder != folder, FileStatus.isMissing(folder.folder) { folder = folder.folder }
        // The place to which a disk is mounted is empty while it is not.
        return isEmpty(folder.folder) ? folder.folder : folder
    }

    private static func isEmpty(_ folder: FilePath) -> Bool {
        (try? Folders.names(in: folder))?.isEmpty ?? false
    }

    package static func message(_ root: FilePath) -> String { "\(root) is missing or empty: is its disk mounted?" }
}
