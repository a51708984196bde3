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
        if !options.isDryRun { _ = try queue.store.write { try queue.clock.stamp($0) } }
        result.clockDoubt = try queue.store.read { try queue.clock.read($0).doubt }
        if !options.isDryRun { try sweep.finishEarlier() }
        var after = PruneSweep.Place(stage: options.only == nil ? .delivered : .named)
        while let batch = try sweep.next(&after, limit: Self.pruneStep) {
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
            Reserve(folder: queue.folder).makeIfMissing()
            result.failures = sweep.failures
            try HistoryCondensing(queue: queue).run()
        }
        result.refused = sweep.refused
        result.unseenCopies =
            try queue.store.read {
                try $0.integer("SELECT count(*) FROM deliveries INDEXED BY deliveries_copy WHERE copy = 'unseen'")
            } ?? 0
        result.nextDue = try queue.store.read { db in
            let retention = try options.olderThan ?? QueueSettings(db).retention
            let now = try queue.clock.read(db).believed
            let left = try Self.firstUploaded(db).map { Duration.milliseconds($0 - now) + retention }
            return left.flatMap { $0 > .zero ? $0 : nil }
        }
        return result
    }

    /// When the retention began of the uploaded capture that is due first; nil if there is none.
    static func firstUploaded(_ db: Database) throws -> Int? {
        try db.integer(
            """
            SELECT max(finished_at, stored_at) FROM captures INDEXED BY captures_releasable
            WHERE finished_at IS NOT NULL AND parts_only = 0 AND holding IN ('spool', 'reference')
            ORDER BY max(finished_at, stored_at) LIMIT 1
            """)
    }
}
