import CaptureBundle
import CaptureNative
import Foundation
import GRDB
import QueueFiles
import QueueModel
import QueueTransports

extension Claims {
    /// Gives back the claims of a run that was killed. Those that may have begun are in doubt. Only a run calls this, which
    /// has `run.lock` and has claimed nothing yet.
    ///
    /// - Returns: the number of claims.
    @discardableResult
    package func recover() throws -> Int {
        // Read first, so that nothing is written if there is nothing to do.
        let claimed = "deliveries INDEXED BY deliveries_claimed WHERE token IS NOT NULL"
        let first = try queue.store.read { try $0.integer("SELECT 1 FROM \(claimed) LIMIT 1") }
        guard first != nil else { return 0 }
        let lastRun = BegunClaims.LastRun(in: queue.folder)
        return try queue.store.write { db in
            let reading = try queue.clock.observe(db)
            let now = reading.recordTime
            let policies = try Dictionary(uniqueKeysWithValues: Destination.all(db).map { ($0.name, $0.pace.retry) })
            var count = 0
            for row in try db.rows("SELECT \(DeliveryRecord.columns), token FROM \(claimed)") {
                let delivery = try DeliveryRecord(row: row)
                let token = (row["token"] as Data?).map { Array($0) }
                let neverBegan = token.flatMap { lastRun?.neverBegan($0) } ?? false
                try db.run(
                    "UPDATE attempts SET ended_at = ?, outcome = ? WHERE delivery = ? AND ended_at IS NULL",
                    [now, neverBegan ? "parked" : "lost", delivery.number])
                // Of a claim that was interrupted only the token is left.
                guard delivery.state == .uploading else {
                    try db.run(
                        "UPDATE deliveries SET token = NULL, in_doubt = ? WHERE id = ?",
                        [!neverBegan, delivery.number])
                    continue
                }
                count += 1
                if neverBegan {
                    try db.giveBack(delivery, cause: "not begun", at: now)
                    continue
                }
                // The try does not count as an attempt: a power supply that fails each hour must not use up ten tries.
                // The delay grows with each loss, so that a capture that crashes each run does not hold up the others.
                let losses = try db.lossesInARow(of: delivery)
                let delays = policies[delivery.destination ?? "", default: .standard].delays
                let delay = delays.isEmpty ? .zero : delays[min(max(losses - 1, 0), delays.count - 1)]
                _ = try db.apply(
                    .park, to: delivery, at: now,
                    .init(
                        cause: "its run ended without an answer", due: reading.wall + delay.milliseconds,
                        attempts: max(0, delivery.attempts - 1), isInDoubt: true, triedAt: now))
            }
            return count
        }
    }

    /// Decides whether the server refuses a capture or everything (Spec/queue.md section 6.1).
    ///
    /// - Parameter due: Unix milliseconds; what is due later is not tried in its place.
    func refusal(
        of delivery: DeliveryRecord, _ outcome: SendOutcome, at destination: Destination, due: Int
    ) throws -> CircuitBreaker.Refusal {
        guard case .blocked(let block) = outcome, block.isPerhapsOfCapture || block.code != nil
        else { return .ofDestination }
        return try queue.store.read { db in
            if try db.hasLandedInPlace(of: delivery) { return .ofCapture }
            // An outage blocks the destination at once.
            if block.code != nil { return .ofDestination }
            // Members of its session are behind it.
            let other = """
                SELECT 1 FROM deliveries INDEXED BY deliveries_waiting
                WHERE destination = ? AND state IN ('pending', 'failed', 'uploading', 'processing')
                    AND id <> ? AND is_behind = 0 AND state <> 'processing' AND (state = 'uploading' OR due <= ?) LIMIT 1
                """
            let isOther = try db.integer(other, [destination.number, delivery.number, due]) != nil
            return isOther ? .unclear : .ofDestination
        }
    }
}

extension Database {
    /// The number of tries in a row that were interrupted by the end of their run.
    fileprivate func lossesInARow(of delivery: DeliveryRecord) throws -> Int {
        let sql = """
            SELECT count(*) FROM attempts WHERE delivery = ?1 AND outcome = 'lost' AND id > coalesce(
                (SELECT max(id) FROM attempts WHERE delivery = ?1 AND outcome IS NOT NULL AND outcome <> 'lost'), 0)
            """
        return try integer(sql, [delivery.number]) ?? 0
    }

    private static let isRefusal = """
        coalesce(outcome GLOB '*blocked' AND (code IN ('credentials', 'endpoint', 'local') OR code GLOB '*.*'), 0)
        """

    /// Whether another capture has landed at the destination that was sent after the first of the last refusals of this one.
    /// For a member of a session, only captures outside that session count.
    fileprivate func hasLandedInPlace(of delivery: DeliveryRecord) throws -> Bool {
        let refused = """
            SELECT min(started_at) FROM attempts WHERE delivery = ?1 AND \(Self.isRefusal) AND id > coalesce(
                (SELECT max(id) FROM attempts WHERE delivery = ?1 AND ended_at IS NOT NULL AND NOT \(Self.isRefusal)), 0)
            """
        guard let since = try integer(refused, [delivery.number]) else { return false }
        let landed = """
            SELECT 1 FROM deliveries AS this JOIN deliveries AS other
                ON other.destination = this.destination AND other.completed_at > ?2
            WHERE this.id = ?1 AND (this.session IS NULL OR other.session IS NOT this.session)
                AND (SELECT max(started_at) FROM attempts WHERE delivery = other.id) > ?2 LIMIT 1
            """
        return try integer(landed, [delivery.number, since]) != nil
    }
}
