import GRDB
import QueueFiles
public import QueueModel

extension UploadQueue.Upkeep {
    /// How many captures one turn deletes. The turn is short, so that other writers get theirs soon.
    private static let pruneStep = 2000

    /// Deletes bytes that were uploaded long enough ago, but no rows or receipts (Spec/queue.md sections 7 and 8).
    ///
    /// - Parameter deliver: gets the id of each capture, once the decision to delete it is on the disk.
    /// - Throws: `io.failed`. What was deleted by then stays deleted, and the next call continues.
    public func prune(
        _ options: PruneOptions = PruneOptions(), deliver: (_ id: String, _ bytes: Int) throws -> Void = { _, _ in }
    ) throws -> PruneResult {
        try queue.store.requireSpool()
        var sweep = PruneSweep(queue, options)
        var result = PruneResult()
        // The clock readings are stored first, even if there is nothing to delete: the next prune compares with them.
        if !options.isDryRun { _ = try queue.store.write { try queue.clock.recordTime($0) } }
        result.clockDoubt = try queue.store.read { try queue.clock.read($0).doubt }
        if !options.isDryRun { try sweep.finishEarlier() }
        while let batch = try sweep.next(limit: Self.pruneStep) {
            for item in batch {
                result.captures += 1
                let bytes = item.holding == .reference ? 0 : item.bytes
                result.bytes += bytes
                if !item.doubtful.isEmpty { result.inDoubt.append(.init(id: item.id, destinations: item.doubtful)) }
                try deliver(item.id, bytes)
            }
        }
        if !options.isDryRun {
            try sweep.finish()
            Reserve(folder: queue.folder).createIfMissing()
            result.failures = sweep.failures
            try condenseHistory()
        }
        result.refused = sweep.refused
        try queue.store.read { db in
            let unseen = "deliveries INDEXED BY deliveries_copy WHERE copy = 'unseen'"
            result.unseenCopies = try db.integer("SELECT count(DISTINCT capture) FROM \(unseen)") ?? 0
            let retention = try options.olderThan ?? QueueSettings(db).retention
            let now = try queue.clock.read(db).believed
            let first = try db.integer(
                """
                SELECT max(finished_at, stored_at) FROM captures INDEXED BY captures_releasable
                WHERE finished_at IS NOT NULL AND parts_only = 0 AND holding IN ('spool', 'reference')
                ORDER BY max(finished_at, stored_at) LIMIT 1
                """)
            result.nextDue = first.map { .milliseconds($0 - now) + retention }.flatMap { $0 > .zero ? $0 : nil }
        }
        return result
    }
}

/// The history of captures that were deleted long ago (Spec/queue.md section 8).
extension UploadQueue.Upkeep {
    /// How long the whole history is kept, in milliseconds.
    private static let historyKept = 30 * 86_400_000

    /// The most steps of one prune, each with 500 captures. The first prune of a large queue must not take long.
    private static let condensingSteps = 20

    /// Shortens the history of captures whose bytes were released more than 30 days ago. Each delivery keeps the first
    /// and the last change of its state but no attempts. Receipts, ids of servers and `was_tried` stay.
    private func condenseHistory() throws {
        for _ in 0..<Self.condensingSteps where try !queue.store.read({ try condensable(limit: 1, $0).isEmpty }) {
            try queue.store.turn { turn in
                try turn.write { db in
                    for sequence in try condensable(limit: 500, db) { try Self.condense(sequence, db) }
                }
                try turn.shrink(pages: 500)
            }
        }
    }

    private func condensable(limit: Int, _ db: Database) throws -> [Int] {
        try db.rows(
            """
            SELECT seq FROM captures INDEXED BY captures_detailed
            WHERE holding = 'removed' AND is_condensed = 0 AND removed_at <= ? ORDER BY removed_at LIMIT ?
            """, [queue.clock.read(db).believed - Self.historyKept, limit]
        ).map { try $0.needInteger("seq") }
    }

    /// Shortens the history of one capture. The last row of each table stays, so that no row number is used again.
    private static func condense(_ sequence: Int, _ db: Database) throws {
        for delivery in try db.rows("SELECT id FROM deliveries WHERE capture = ?", [sequence]) {
            let number = try delivery.needInteger("id")
            try db.run(
                """
                UPDATE deliveries SET was_tried = 1
                WHERE id = ?1 AND EXISTS (SELECT 1 FROM attempts WHERE delivery = ?1)
                """, [number])
            try db.run(
                "DELETE FROM attempts WHERE delivery = ? AND id < (SELECT max(id) FROM attempts)", [number])
            try db.run(
                """
                DELETE FROM transitions WHERE delivery = ?1 AND id < (SELECT max(id) FROM transitions)
                    AND id NOT IN (SELECT min(id) FROM transitions WHERE delivery = ?1
                        UNION SELECT max(id) FROM transitions WHERE delivery = ?1)
                """, [number])
        }
        try db.run("UPDATE captures SET is_condensed = 1 WHERE seq = ?", [sequence])
    }
}

/// What `prune` did, or in a dry run would do.
public struct PruneResult: Hashable, Sendable {
    public internal(set) var captures = 0
    public internal(set) var bytes = 0
    /// Files that could not be deleted, with the reason. The next prune tries again.
    public internal(set) var failures: [QueueError] = []
    /// How many captures stay until a run has looked at their copies in folders (Spec/queue.md section 8.1).
    public internal(set) var unseenCopies = 0
    /// A cancelled capture whose last try may have arrived.
    public struct InDoubt: Hashable, Sendable {
        public let id: String
        /// The destinations that may have it.
        public let destinations: [String]
    }

    /// The deleted captures that a destination may have, although they were cancelled.
    public internal(set) var inDoubt: [InDoubt] = []
    /// An error for each given id that cannot be pruned: it is malformed, unknown or ambiguous, or its capture is not
    /// cancelled or has no bytes.
    public internal(set) var refused: [QueueError] = []
    /// The difference between the clock and the expected time, if it delays deletions; nil otherwise.
    public internal(set) var clockDoubt: Duration?
    /// The time until the next uploaded capture may be deleted; nil if there is none, or if one may be deleted already.
    public internal(set) var nextDue: Duration?
}
