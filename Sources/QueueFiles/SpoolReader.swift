package import CaptureBundle
package import CaptureNative
package import QueueModel
package import SystemPackage

/// Reads files of the spool and compares them with their hash.
package struct SpoolReader: Sendable {
    private let spool: Spool

    package init(_ spool: Spool) { self.spool = spool }

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
        guard let handle = try spool.open(sha256) else { return false }
        let path = spool.folder.bundlePath(sha256)
        let status = try onFile(path) { try handle.status() }
        if let known = known.first(where: { $0.sha256 == sha256 && $0.status == status }) { return known.matches }
        return try Self.hash(handle, path) == sha256
    }

    /// Hashes a file without the turn to write, so that no writer waits for it.
    ///
    /// - Returns: nil if there is no file, or if it changes while it is read.
    package func hashed(_ sha256: Digest) throws -> Hashed? {
        guard let handle = try spool.open(sha256) else { return nil }
        let path = spool.folder.bundlePath(sha256)
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
            while true {
                let count = try handle.readSome(into: &buffer)
                if count == 0 { return Digest(bytes: try hasher.finish()) }
                try hasher.update(buffer.span.extracting(first: count))
            }
        }
    }
}
