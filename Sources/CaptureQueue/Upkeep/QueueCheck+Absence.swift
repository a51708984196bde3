import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import SystemPackage

/// Looks again for files that were absent or missing (Spec/queue.md section 11).
extension QueueCheck {
    /// Whether the whole spool is absent. Then nothing is compared; with `--repair` its bundles are lost.
    mutating func isSpoolAbsent() throws -> Bool {
        do {
            try queue.store.requireSpool()
            return false
        } catch let error as QueueError where error.code == .spoolMissing {
            if isRepairing { return false }
            try tell(.absent, queue.folder.spool, error.message)
            return true
        }
    }

    /// Whether a capture waits for a file that was absent. Once it is there, its bytes are compared, because another
    /// disk may be in that place.
    static func awaitsFile(_ record: CaptureRecord) -> Bool {
        record.deliveries.contains { $0.errorCode == Absence.code }
    }

    /// Makes deliveries due that waited for a file which is there again.
    mutating func lookAgain(_ record: CaptureRecord) throws {
        guard !options.isDryRun, Self.awaitsFile(record) else { return }
        try queue.store.write { db in try db.comeBack(record, at: queue.clock.look(db)) }
        try tell(.absent, record, "the file is there again", isRepaired: true)
    }

    /// Takes a file back that is there again; returns whether it did. It sets aside what a killed check left in place.
    mutating func restore(_ record: CaptureRecord) throws -> Bool {
        guard [.missing, .quarantined].contains(record.holding), !options.isDryRun else { return false }
        let path = record.reference.map { FilePath($0) } ?? queue.folder.bundlePath(record.sha256)
        guard let handle = try? FileHandle.readingPlainFile(path, followsLinks: record.reference != nil),
            let isWhole = try? SpoolReader.hash(handle, path) == record.sha256
        else { return false }
        let isBack = try queue.store.turn { turn in
            guard try queue.captures.read(record) == record else { return false }
            if !isWhole && record.holding == .quarantined { _ = try? queue.spool.quarantine(record.sha256) }
            guard isWhole else { return false }
            if record.reference == nil { try queue.spool.settle([record.sha256]) }
            try turn.write { db in
                let now = try queue.clock.look(db)
                try db.setHolding(record.reference == nil ? .spool : .reference, ofCapture: record.sequence)
                try db.restore(record.deliveries, at: now, cause: "the file is there again")
            }
            return true
        }
        let kind: CheckFinding.Kind = record.reference == nil ? .missing : .source
        if isBack { try tell(kind, record, "the file is there again", isRepaired: true) }
        return isBack
    }
}
