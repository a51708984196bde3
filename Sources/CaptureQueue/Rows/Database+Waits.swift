import GRDB
import QueueFiles
import QueueModel
import QueueTransports

/// No stored time delays longer than its own rule (Spec/queue.md section 6.2).
extension Database {
    /// The longest wait before a server is asked again for its decision, in milliseconds.
    static let longestPollDelay = 300_000

    /// The milliseconds until the `not_before` of a delivery; 0 if it has none.
    private static let left = """
        max(0, coalesce(min(span_until - :elapsed, not_before - :believed), not_before - :wall, 0))
        """

    private static func arguments(_ now: QueueClock.Reading) -> StatementArguments {
        ["elapsed": now.elapsed, "believed": now.believed, "wall": now.wall]
    }

    /// When a delivery is due that has to wait for nothing but its `not_before`.
    func due(of delivery: DeliveryRecord, _ now: QueueClock.Reading) throws -> Int {
        let arguments = Self.arguments(now) + ["id": delivery.number]
        let left = try integer("SELECT \(Self.left) FROM deliveries WHERE id = :id", arguments)
        return now.wall + (left ?? 0)
    }

    /// Shortens every wait that is longer than its rule allows.
    ///
    /// - Parameters:
    ///   - start: the time from which the waits count: the wall clock, or in a run the run's own clock.
    ///   - isReset: whether nothing waits any more, except for its `not_before`.
    func limitWaits(_ now: QueueClock.Reading, from start: Int, isReset: Bool = false) throws {
        for destination in try Destination.all(self) {
            let longest = isReset ? 0 : destination.pace.retry.longestWait
            try limitDeliveries(
                Self.arguments(now) + [
                    "destination": destination.number, "start": start, "longest": longest,
                    "poll": isReset ? 0 : Self.longestPollDelay, "absence": isReset ? 0 : Absence.pause,
                ])
            try run(
                "UPDATE markers SET due = ?1 WHERE destination = ?2 AND due > ?1",
                [start + (isReset ? 0 : max(1000, longest)), destination.number])
            if let block = destination.block {
                try run(
                    "UPDATE destinations SET blocked_until = ?1 WHERE id = ?2 AND blocked_until > ?1",
                    [start + (isReset ? 0 : block.longest.milliseconds), destination.number])
            }
        }
    }

    /// The first statement moves `due` the other way, because a clock that is ahead does not end a `not_before`.
    private func limitDeliveries(_ arguments: StatementArguments) throws {
        let rule = """
            max(\(Self.left), CASE WHEN state = 'processing' THEN :poll
                WHEN state = 'failed' OR in_doubt = 1 THEN :longest
                WHEN error_code = '\(Absence.code)' THEN :absence ELSE 0 END)
            """
        for sql in [
            """
            UPDATE deliveries SET due = :start + \(Self.left) WHERE destination = :destination
                AND state IN ('pending', 'failed') AND not_before IS NOT NULL AND \(Self.left) > 0
                AND due < :start + \(Self.left) - 1000
            """,
            """
            UPDATE deliveries SET due = :start + \(rule) WHERE destination = :destination
                AND state IN ('pending', 'failed', 'processing') AND due > :start AND due > :start + \(rule)
            """,
            """
            UPDATE deliveries SET waits_from = :start + \(Self.left) WHERE destination = :destination
                AND state IN ('pending', 'failed', 'uploading', 'processing') AND waits_from > :start + \(Self.left) + 1000
            """,
        ] { try run(sql, arguments) }
    }
}
