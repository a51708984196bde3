import QueueModel
import SystemPackage

extension UploadQueue {
    /// Sets damage aside: it renames the file, records that in the row, and sets waiting deliveries to `quarantined`.
    ///
    /// - Returns: the new path of the bytes; nil if there are none, or if they are the user's own file.
    func setAside(
        _ record: CaptureRecord, _ kind: CheckFinding.Kind, _ message: String, _ turn: QueueStore.WriterTurn
    ) throws -> FilePath? {
        let place = kind == .damaged ? try spool.quarantine(record.sha256) : nil
        try turn.write { db in
            let now = try clock.stamp(db)
            try db.setHolding(kind == .damaged ? .quarantined : .missing, ofCapture: record.sequence)
            for delivery in record.deliveries {
                // The table of states decides: completed, held and cancelled deliveries keep their state.
                _ = try db.apply(
                    .damage, to: delivery, at: now, .init(cause: message, failure: ("spool.\(kind.rawValue)", message)))
            }
        }
        return place
    }
}
