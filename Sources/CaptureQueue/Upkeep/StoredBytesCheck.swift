import CaptureBundle
import CaptureNative
import GRDB
import QueueFiles
public import QueueModel
import SystemPackage

struct StoredBytesCheck: Sendable {
    enum Fault: Sendable {
        case wrong(CheckFinding.Kind, String)
        /// The user's file is absent with this folder, as on a disk that is not mounted.
        case absent(FilePath)
        /// The disk cannot read the bytes, so their state is unknown.
        case unreadable(QueueError)
    }

    struct Verdict: Sendable {
        var fault: Fault?
        var lacksSidecar = false
        var bytesRead = 0
    }

    let spool: Spool

    /// - Parameter reads: whether the bytes are hashed; otherwise only their size is compared.
    func check(_ record: CaptureRecord, reads: Bool) -> Verdict {
        var verdict = Verdict()
        guard record.holding.hasBytes else { return verdict }
        verdict.lacksSidecar = !FileStatus.exists(spool.folder.sidecarPath(record.sha256))
        do throws(QueueError) {
            if record.holding == .spool {
                verdict.fault = try spoolFault(record, reads: reads, &verdict.bytesRead)
            } else if let path = record.reference {
                verdict.fault = try Self.sourceFault(
                    FilePath(path), record.byteCount, record.sha256, reads: reads, &verdict.bytesRead)
            }
        } catch {
            verdict.fault = .unreadable(error)
        }
        return verdict
    }

    private func spoolFault(_ record: CaptureRecord, reads: Bool, _ bytesRead: inout Int) throws(QueueError) -> Fault? {
        let path = spool.folder.bundlePath(record.sha256)
        guard !FileStatus.isMissing(path) else { return .wrong(.missing, "the file is missing") }
        guard let status = try spool.bundleStatus(record.sha256) else {
            return .wrong(.damaged, "is not a regular file")
        }
        guard status.size == record.byteCount else {
            return .wrong(.damaged, "has \(status.size) bytes, but \(record.byteCount) were pushed")
        }
        guard reads else { return nil }
        guard let handle = try spool.open(record.sha256) else { return .wrong(.missing, "the file is missing") }
        bytesRead += status.size
        let found = try Spool.hash(handle, path)
        return found == record.sha256 ? nil : .wrong(.damaged, "its SHA-256 is \(found), not the one that was pushed")
    }

    /// The fault of the user's own file of a reference.
    static func sourceFault(
        _ path: FilePath, _ byteCount: Int, _ sha256: Digest, reads: Bool, _ bytesRead: inout Int
    ) throws(QueueError) -> Fault? {
        if let root = Absence.root(of: path) { return .absent(root) }
        guard let status = try ifThere(path, { try FileStatus.of(path) }) else {
            return .wrong(.source, "the user's file is missing")
        }
        guard status.kind == .file, status.size == byteCount else {
            return .wrong(.source, "the user's file was replaced")
        }
        guard reads else { return nil }
        let handle = try onFile(path) { try FileHandle.reading(path) }
        bytesRead += byteCount
        return try Spool.hash(handle, path) == sha256 ? nil : .wrong(.source, "the user's file was changed")
    }
}

extension UploadQueue.Upkeep {
    /// The room on the disk, and what `push` leaves free.
    public func diskRoom() throws -> DiskRoom {
        let (settings, next) = try queue.store.read { (try QueueSettings($0), try $0.lastBytes()) }
        return try settings.room(at: queue.folder, next: next)
    }

    /// Trusts the wall clock from now on. Later times are set to the current time, and nothing waits because of them.
    public func acceptClock() throws {
        try queue.store.write { db in
            let now = try queue.clock.accept(QueueClock.memory(db))
            try QueueClock.remember(now.memory, db)
            for (table, column) in [
                ("captures", "pushed_at"), ("captures", "finished_at"), ("captures", "stored_at"),
                ("deliveries", "completed_at"), ("deliveries", "tried_at"),
            ] {
                try db.run("UPDATE \(table) SET \(column) = ?1 WHERE \(column) > ?1", [now.wall])
            }
            try db.limitWaits(now, from: now.wall, isReset: true)
        }
    }
}
