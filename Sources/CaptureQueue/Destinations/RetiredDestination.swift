import GRDB
import QueueModel

/// What happened to the waiting deliveries of a retired destination.
public struct RetiredDestination: Hashable, Sendable {
    /// The number of deliveries that were moved to the other destination.
    public internal(set) var moved = 0
    /// The number of deliveries that stay with the retired destination: no other was named, or it may have their bytes.
    public internal(set) var kept = 0
    /// The number of deliveries that failed for good or met a conflict. They are not moved.
    public internal(set) var failed = 0
}

extension UploadQueue.Destinations {
    /// Retires a destination, so that it takes no further captures. Waiting deliveries are still sent there, or are
    /// moved to another destination unless the retired one may already have the bytes.
    ///
    /// - Throws: `destination.unknown`; `destination.retired` or `name.invalid` for the other one.
    public func retire(_ name: String, movingTo other: String? = nil) throws -> RetiredDestination {
        try SettingsCopy(queue: queue).changing { db in
            let number = try db.destination(name)
            guard other != name else {
                throw QueueError(
                    .nameInvalid, "is the destination that is being retired; name another one to move to", of: name)
            }
            let target = try other.map { try db.activeDestination($0) }
            try db.run("UPDATE destinations SET is_retired = 1, is_default = 0 WHERE id = ?", [number])
            if try db.defaultDestination() == nil, let target { try db.setDefault(target) }
            try db.ensureDefault()
            return try moveDeliveries(from: number, to: target, named: other ?? "", db)
        }
    }

    private func moveDeliveries(
        from number: Int, to target: Int?, named name: String, _ db: Database
    ) throws -> RetiredDestination {
        var result = RetiredDestination()
        let now = try queue.clock.observe(db)
        result.failed =
            try db.integer(
                """
                SELECT count(*) FROM deliveries WHERE destination = ? AND state IN ('permanently_failed', 'conflict')
                """, [number]) ?? 0
        var after = 0
        while true {
            let deliveries = try DeliveryRecord.all(
                db,
                """
                WHERE destination = ? AND id > ?
                    AND state IN ('pending', 'failed', 'held', 'uploading', 'processing') ORDER BY id LIMIT 500
                """, [number, after])
            for delivery in deliveries {
                after = delivery.number
                // Only if the destination certainly has none of the bytes.
                let isMovable = [.pending, .failed, .held].contains(delivery.state) && !delivery.isInDoubt
                if let target, isMovable, delivery.remoteID == nil {
                    if try move(delivery, to: target, named: name, at: now, db) { result.moved += 1 }
                } else {
                    result.kept += 1
                }
            }
            if deliveries.isEmpty { return result }
        }
    }

    /// Moves one delivery. If the capture already has a delivery to the other destination, the moved delivery is
    /// cancelled. If the other delivery had been cancelled, it becomes held, so that the user decides.
    ///
    /// - Returns: false if the capture was already being sent to the other destination.
    private func move(
        _ delivery: DeliveryRecord, to target: Int, named name: String, at reading: QueueClock.Reading, _ db: Database
    ) throws -> Bool {
        let cause = "moved to \(name)"
        let now = reading.recordTime
        let condition = "WHERE capture = ? AND destination = ?"
        if let there = try DeliveryRecord.all(db, condition, [delivery.capture, target]).first {
            _ = try db.apply(
                .cancel, to: delivery, at: now, .init(cause: "\(cause), but the capture already has a delivery there"))
            guard there.state == .cancelled, try db.apply(.push, to: there, at: now, .init(cause: cause)) else {
                return false
            }
            if let revived = try DeliveryRecord.one(db, there.number) {
                _ = try db.apply(.hold, to: revived, at: now, .init(cause: cause))
            }
            return true
        }
        try db.run("UPDATE deliveries SET destination = ?, tried_at = NULL WHERE id = ?", [target, delivery.number])
        if delivery.state == .failed {
            _ = try db.apply(
                .retry, to: delivery, at: now,
                .init(cause: cause, due: reading.wall, attempts: 0, forgetsKey: true))
        } else {
            try db.run("UPDATE deliveries SET attempts = 0, idempotency_key = NULL WHERE id = ?", [delivery.number])
            try db.record(
                delivery.number, from: delivery.state, to: delivery.state, .push, cause: cause, at: now)
        }
        return true
    }
}
