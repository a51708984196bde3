import QueueFiles
import QueueModel
import SystemPackage

extension UploadQueue {
    /// Records damage in the row and its deliveries, then renames the file. If that fails, the next `check` does it.
    ///
    /// - Parameter sender: the delivery whose try found the damage, so that its body was not sent whole.
    /// - Returns: the new path of the bytes; nil if they were not renamed, or are the user's own file.
    func setAside(
        _ record: CaptureRecord, _ kind: CheckFinding.Kind, _ message: String, sender: DeliveryRecord? = nil,
        _ turn: QueueStore.WriterTurn
    ) throws -> FilePath? {
        try turn.write { db in
            let now = try clock.stamp(db)
            try db.setHolding(kind == .damaged ? .quarantined : .missing, ofCapture: record.sequence)
            for delivery in record.deliveries {
                // The table of states decides: completed, held and cancelled deliveries keep their state.
                _ = try db.apply(
                    .damage, to: delivery, at: now,
                    .init(
                        cause: message, failure: ("spool.\(kind.rawValue)", message),
                        isInDoubt: delivery.number == sender?.number ? delivery.isInDoubt : nil))
            }
        }
        return kind == .damaged ? try? spool.quarantine(record.sha256) : nil
    }
}
