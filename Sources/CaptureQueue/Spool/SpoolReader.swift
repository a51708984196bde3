import CaptureBundle
import CaptureNative
import QueueModel
import QueueTransports
import SystemPackage

/// Reads bytes and compares them with the hash under which they were pushed.
struct SpoolReader: Sendable {
    private let spool: Spool

    init(_ spool: Spool) { self.spool = spool }

    /// Whether the file of that name is there and has the bytes of its name.
    func matches(_ sha256: Digest) throws -> Bool {
        guard let handle = try spool.open(sha256) else { return false }
        return try Self.hash(handle, spool.folder.bundlePath(sha256)) == sha256
    }

    static func hash(_ handle: FileHandle, _ path: FilePath) throws(QueueError) -> Digest {
        try onFile(path) { () throws(NativeError) in
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

/// The user's own file of a capture by reference.
enum SourceCheck {
    /// Whether a plain file of the right size is still there. Its bytes are compared when they are used.
    static func isThere(_ record: CaptureRecord) -> Bool {
        guard let path = record.reference, let status = try? FileStatus.of(FilePath(path)) else { return false }
        return status.kind == .file && status.size == record.byteCount
    }
}
