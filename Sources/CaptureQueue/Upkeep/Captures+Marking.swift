import GRDB
public import QueueModel

extension UploadQueue.Captures {
    /// Records that a capture was sent by other means, such as curl or rclone. Its retention starts now.
    ///
    /// - Parameters:
    ///   - receipt: a text that contains the bundle's SHA-256. The whole text is stored.
    ///   - destination: needed if several deliveries are not completed.
    /// - Throws: `id.…`, `receipt.mismatch`, `state.refused`, `destination.unknown`.
    @discardableResult
    public func markUploaded(_ id: String, receipt: String, destination: String? = nil) throws -> CaptureRecord {
        guard receipt.utf8.count <= Receipt.sizeLimit else {
            throw QueueError(.receiptMismatch, "the receipt is longer than \(Receipt.sizeLimit) bytes", of: id)
        }
        return try queue.store.write { db in
            let record = try db.capture(named: id)
            guard Receipt.names(record.sha256, receipt) else {
                throw QueueError(
                    .receiptMismatch, "the receipt does not name this bundle; expected its SHA-256, \(record.sha256)",
                    of: record.id)
            }
            let delivery = try Self.delivery(of: record, to: destination, db)
            let now = try queue.clock.stamp(db)
            guard
                try db.apply(
                    .record, to: delivery, at: now,
                    .init(cause: "receipt given by the user", completion: (now, receipt)))
            else {
                throw QueueError(.stateRefused, "is \(delivery.state.rawValue) already", of: record.id)
            }
            return try CaptureRecord.one(db, sequence: record.sequence) ?? record
        }
    }

    private static func delivery(of record: CaptureRecord, to name: String?, _ db: Database) throws -> DeliveryRecord {
        if let name {
            _ = try db.destination(name)
            guard let found = record.deliveries.first(where: { $0.destination == name }) else {
                throw QueueError(.stateRefused, "has no delivery to \(name)", of: record.id)
            }
            return found
        }
        let open = record.deliveries.filter { $0.state != .completed }
        if open.count > 1 {
            throw QueueError(
                .stateRefused, "has \(open.count) deliveries that are not completed", of: record.id,
                cause: .ambiguous)
        }
        guard let first = open.first ?? record.deliveries.first else {
            throw QueueError.corruptRecord("a capture has no deliveries")
        }
        return first
    }
}
