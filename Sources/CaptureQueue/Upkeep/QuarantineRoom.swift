import CaptureBundle
import GRDB
import QueueModel
import QueueTransports
import SystemPackage

/// Sets damage aside: the file by a rename, the row by a note, what waits by the state `quarantined`.
struct QuarantineRoom {
    private let queue: UploadQueue

    init(_ queue: UploadQueue) { self.queue = queue }

    /// - Returns: where the bytes are now; nil where there are none, or they are the user's.
    func setAside(
        _ record: CaptureRecord, _ kind: CheckFinding.Kind, _ message: String, _ turn: QueueStore.WriterTurn
    ) throws -> FilePath? {
        let place = kind == .damaged ? try queue.spool.quarantine(record.sha256) : nil
        try turn.write { db in
            let now = try queue.clock.stamp(db)
            try db.setHolding(kind == .damaged ? .quarantined : .missing, ofCapture: record.sequence)
            for delivery in record.deliveries {
                // Those that are done, held or cancelled keep their state; the table says so.
                _ = try db.apply(
                    .damage, to: delivery, at: now, .init(cause: message, failure: ("spool.\(kind.rawValue)", message)))
            }
        }
        return place
    }
}
