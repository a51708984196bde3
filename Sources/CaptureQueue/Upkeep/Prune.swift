import CaptureBundle
import CaptureNative
import Foundation
import GRDB
import QueueModel
import QueueTransports

/// How `prune` is done.
public struct PruneOptions: Sendable {
    /// nil for the queue's setting.
    public var olderThan: QueueAge?
    /// Whether what was cancelled goes too, whatever its age.
    public var includesCancelled = false
    /// Captures that go, each cancelled, and no others; nil for all that may go.
    public var only: [String]?
    /// Whether a receipt of a part of a bundle, its photo say, lets it go.
    public var acceptsParts = false
    public var isDryRun = false

    public init() {}
}

/// What `prune` did, or would do.
public struct PruneResult: Hashable, Sendable {
    public internal(set) var captures = 0
    public internal(set) var bytes = 0
    /// Files that could not be deleted, and why. The next prune tries again.
    public internal(set) var failures: [QueueError] = []
    /// Ids that name no capture, or one that is not cancelled.
    public internal(set) var refused: [QueueError] = []
    /// By how many milliseconds the clock differs from the expected time, if captures were kept for that; nil otherwise.
    public internal(set) var clockDoubt: Int?
}

extension UploadQueue {
    /// Captures that one turn deletes: short enough for others to get theirs soon.
    private static let pruneStep = 2000

    /// Lets go of bytes that were uploaded long enough ago (Spec/queue.md sections 7 and 8). Rows, hashes and receipts stay.
    ///
    /// - Parameter deliver: gets the id of each, once its deletion is decided on disk.
    /// - Throws: `io.failed`; what was let go until then stays so, and the next call goes on.
    public func prune(
        _ options: PruneOptions = PruneOptions(), deliver: (_ id: String, _ bytes: Int) throws -> Void = { _, _ in }
    ) throws -> PruneResult {
        var sweep = PruneSweep(self, options)
        var result = PruneResult()
        // What is seen of the clocks is remembered first, whatever there is to do: the next prune measures by it.
        if !options.isDryRun { _ = try store.write { try clock.stamp($0) } }
        result.clockDoubt = try store.read { try Self.doubt(clock.read($0), $0) }
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
        return result
    }

    /// Also where something was finished at a time that has not come yet: the clock was ahead then, or is behind now.
    static func doubt(_ reading: QueueClock.Reading, _ db: Database) throws -> Int? {
        let latest = try db.integer(
            """
            SELECT max(max(finished_at, stored_at)) FROM captures
            WHERE finished_at IS NOT NULL AND parts_only = 0 AND holding IN ('spool', 'reference')
                AND max(finished_at, stored_at) > ?
            """, [reading.stamp + 60_000])
        return [reading.doubt, latest.map { $0 - reading.wall }].compactMap(\.self).max()
    }

    /// Takes the wall clock as it is from now on; what was stamped later than it is stamped anew.
    public func acceptClock() throws {
        try store.write { db in
            let memory = clock.accept()
            try QueueClock.remember(memory, db)
            for (table, column) in [
                ("captures", "finished_at"), ("captures", "stored_at"), ("deliveries", "completed_at"),
            ] {
                try db.run("UPDATE \(table) SET \(column) = ?1 WHERE \(column) > ?1", [memory.lastSeen])
            }
        }
    }
}
