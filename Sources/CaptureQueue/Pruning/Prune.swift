import CaptureBundle
import CaptureNative
import Foundation
import GRDB
import QueueModel
import QueueTransports

/// The options of `prune`.
public struct PruneOptions: Sendable {
    /// The retention to use; nil for the setting of the queue.
    public var olderThan: QueueAge?
    /// Whether cancelled captures are deleted too, whatever their age.
    public var includesCancelled = false
    /// The ids of the cancelled captures to delete, and no others; nil for all captures that may be deleted.
    public var only: [String]?
    /// Whether a receipt for a part of a bundle, such as its photo, is enough.
    public var acceptsParts = false
    public var isDryRun = false
    /// Whether references stay: a prune frees nothing by them.
    var sparesReferences = false

    public init() {}
}

/// What `prune` did, or in a dry run would do.
public struct PruneResult: Hashable, Sendable {
    public internal(set) var captures = 0
    public internal(set) var bytes = 0
    /// Files that could not be deleted, with the reason. The next prune tries again.
    public internal(set) var failures: [QueueError] = []
    /// Errors for ids that name no capture or one that is not cancelled.
    public internal(set) var refused: [QueueError] = []
    /// The difference in milliseconds between the clock and the expected time, if it delays deletions; nil otherwise.
    public internal(set) var clockDoubt: Int?
    /// The milliseconds until the next uploaded capture may be deleted; nil if there is none.
    public internal(set) var nextDue: Int?
}

extension UploadQueue {
    /// How many captures one turn deletes. The turn is short, so that other writers get theirs soon.
    private static let pruneStep = 2000

    /// Deletes bytes that were uploaded long enough ago, but no rows or receipts (Spec/queue.md sections 7 and 8).
    ///
    /// - Parameter deliver: gets the id of each capture, once the decision to delete it is on the disk.
    /// - Throws: `io.failed`. What was deleted by then stays deleted, and the next call continues.
    public func prune(
        _ options: PruneOptions = PruneOptions(), deliver: (_ id: String, _ bytes: Int) throws -> Void = { _, _ in }
    ) throws -> PruneResult {
        try requireSpool()
        var sweep = PruneSweep(self, options)
        var result = PruneResult()
        // The clock readings are stored first, even if there is nothing to delete: the next prune compares with them.
        if !options.isDryRun { _ = try store.write { try clock.stamp($0) } }
        result.clockDoubt = try store.read { try clock.read($0).doubt }
        if !options.isDryRun { try sweep.finishEarlier() }
        var after = PruneSweep.Place(stage: options.only == nil ? .delivered : .named)
        while let batch = try sweep.next(&after, limit: Self.pruneStep) {
            for item in batch {
                result.captures += 1
                let bytes = item.holding == .reference ? 0 : item.bytes
                result.bytes += bytes
                try deliver(item.id, bytes)
            }
        }
        if !options.isDryRun {
            try sweep.finish()
            Reserve(folder: folder).makeIfMissing()
            result.failures = sweep.failures
            try condenseHistory()
        }
        result.refused = sweep.refused
        result.nextDue = try store.read { db in
            let retention = try options.olderThan ?? QueueAge(QueueSettings(db).retention)
            let now = try clock.read(db).believed
            return try Self.firstUploaded(db).map { $0 + retention.milliseconds - now }.flatMap { $0 > 0 ? $0 : nil }
        }
        return result
    }

    /// When the retention of the capture began that is deleted next; nil if no capture is uploaded.
    static func firstUploaded(_ db: Database) throws -> Int? {
        try db.integer(
            """
            SELECT max(finished_at, stored_at) FROM captures INDEXED BY captures_releasable
            WHERE finished_at IS NOT NULL AND parts_only = 0 AND holding IN ('spool', 'reference')
            ORDER BY max(finished_at, stored_at) LIMIT 1
            """)
    }

    /// Trusts the wall clock from now on. Later stamps are set to the current time, and nothing waits because of them.
    public func acceptClock() throws {
        try store.write { db in
            let now = try clock.accept(QueueClock.memory(db))
            try QueueClock.remember(now.memory, db)
            for (table, column) in [
                ("captures", "pushed_at"), ("captures", "finished_at"), ("captures", "stored_at"),
                ("deliveries", "completed_at"), ("deliveries", "tried_at"),
            ] {
                try db.run("UPDATE \(table) SET \(column) = ?1 WHERE \(column) > ?1", [now.wall])
            }
            try db.limitWaits(now, from: now.wall, isReset: true)
        }
    }
}
