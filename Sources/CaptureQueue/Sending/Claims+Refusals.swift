import GRDB
import QueueModel

extension Claims {
    /// Decides whether the server refuses a capture or everything (Spec/queue.md section 6.1).
    ///
    /// - Parameter due: Unix milliseconds; what is due later is not tried in its place.
    func refusal(
        of delivery: DeliveryRecord, _ outcome: SendOutcome, at destination: Destination, due: Int
    ) throws -> DestinationState.Refusal {
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
