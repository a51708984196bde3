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
    public var isDryRun = false

    public init() {}
}

/// What `prune` did, or would do.
public struct PruneResult: Hashable, Sendable {
    public internal(set) var captures = 0
    public internal(set) var bytes = 0
    /// Files that could not be deleted, and why. The next prune tries again.
    public internal(set) var failures: [QueueError] = []
    /// How far the clock is from what was to be expected, in milliseconds, where that made captures stay.
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
        var after = PruneSweep.Place()
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
        }
        return result
    }

    /// Also where something was finished at a time that has not come yet: the clock was ahead then, or is behind now.
    static func doubt(_ reading: QueueClock.Reading, _ db: Database) throws -> Int? {
        let latest = try db.integer(
            """
            SELECT max(finished_at) FROM captures
            WHERE finished_at IS NOT NULL AND holding IN ('spool', 'reference') AND finished_at > ?
            """, [reading.stamp + 60_000])
        return [reading.doubt, latest.map { $0 - reading.wall }].compactMap(\.self).max()
    }

    /// Takes the wall clock as it is from now on; what was stamped later than it is stamped anew.
    public func acceptClock() throws {
        try store.write { db in
            let memory = clock.accept()
            try QueueClock.remember(memory, db)
            try db.run("UPDATE captures SET finished_at = ? WHERE finished_at > ?", [memory.lastSeen, memory.lastSeen])
            try db.run(
                "UPDATE deliveries SET completed_at = ? WHERE completed_at > ?", [memory.lastSeen, memory.lastSeen])
        }
    }
}

/// One `prune`: first `removing` is committed, then files are unlinked, then folders synced, then `removed` is committed.
struct PruneSweep {
    /// Where the last batch ended, in each of the two orders.
    struct Place {
        var finishedAt = Int.min
        var sequence = 0
        var isAmongCancelled = false
    }

    struct Item {
        let sequence: Int
        let id: String
        let sha256: Digest
        let bytes: Int
        let holding: Holding
        let finishedAt: Int?
        let permit: RemovalPermit
    }

    private let queue: UploadQueue
    private let options: PruneOptions
    private(set) var failures: [QueueError] = []
    /// Sequence numbers of captures whose files are still there.
    private var stuck: Set<Int> = []

    init(_ queue: UploadQueue, _ options: PruneOptions) {
        self.queue = queue
        self.options = options
    }

    /// Decides on, and deletes, the next captures.
    ///
    /// - Returns: nil after the last.
    mutating func next(_ place: inout Place, limit: Int) throws -> [Item]? {
        let start = place
        if options.isDryRun {
            var after = start
            let found = try queue.store.read { try candidates(&after, limit: limit, $0) }
            place = after
            return found
        }
        do {
            return try batch(&place, limit: limit)
        } catch let error as QueueError where error.isDiskFull {
            // What has to be written first needs a little room; once files are gone there is more.
            _ = Reserve(folder: queue.folder).release()
            place = start
            return try batch(&place, limit: 16)
        }
    }

    private mutating func batch(_ place: inout Place, limit: Int) throws -> [Item]? {
        var after = place
        let found = try queue.store.turn { turn -> [Item]? in
            let found = try turn.write { db -> [Item]? in
                guard let found = try candidates(&after, limit: limit, db) else { return nil }
                _ = try queue.clock.stamp(db)
                for item in found {
                    try db.run("UPDATE captures SET holding = 'removing' WHERE seq = ?", [item.sequence])
                }
                try queue.keepPhotos(of: found.map(\.sequence), db)
                return found
            }
            // In the same turn: nobody pushes the same bytes between the decision and the deletion.
            for item in found ?? [] { remove(item.permit, item.sequence) }
            return found
        }
        place = after
        return found
    }

    /// Captures that may go, by the one rule.
    private func candidates(_ place: inout Place, limit: Int, _ db: Database) throws -> [Item]? {
        let now = try queue.clock.read(db).believed
        let retention = try options.olderThan ?? QueueAge(QueueSettings(db).retention)
        let policy = RetentionPolicy(retention: retention.milliseconds, includesCancelled: options.includesCancelled)
        if !place.isAmongCancelled {
            let rows = try db.rows(
                """
                SELECT seq, id, sha256, bytes, holding, finished_at FROM captures INDEXED BY captures_finished
                WHERE finished_at IS NOT NULL AND holding IN ('spool', 'reference')
                    AND finished_at <= ? AND (finished_at, seq) > (?, ?)
                ORDER BY finished_at, seq LIMIT ?
                """, [now - retention.milliseconds, place.finishedAt, place.sequence, limit])
            if let last = rows.last {
                place.finishedAt = try last.needInteger("finished_at")
                place.sequence = try last.needInteger("seq")
                return try rows.compactMap { try item($0, policy, now, db) }
            }
            guard options.includesCancelled else { return nil }
            place = Place(isAmongCancelled: true)
        }
        let rows = try db.rows(
            """
            SELECT seq, id, sha256, bytes, holding, finished_at FROM captures
            WHERE state = 'cancelled' AND seq > ? AND holding IN ('spool', 'reference') ORDER BY seq LIMIT ?
            """, [place.sequence, limit])
        guard let last = rows.last else { return nil }
        place.sequence = try last.needInteger("seq")
        return try rows.compactMap { try item($0, policy, now, db) }
    }

    private func item(_ row: Row, _ policy: RetentionPolicy, _ now: Int, _ db: Database) throws -> Item? {
        let sequence = try row.needInteger("seq")
        let facts = RetentionPolicy.Facts(
            sha256: try row.digest("sha256"), holding: try CaptureRecord.holding(row),
            deliveries: try db.rows(
                "SELECT state, receipt IS NOT NULL AS has_receipt FROM deliveries WHERE capture = ?", [sequence]
            ).map { .init(state: try $0.state("state"), hasReceipt: try $0.needInteger("has_receipt") == 1) },
            finishedAt: try row.integer("finished_at"))
        guard let permit = policy.permit(facts, now: now) else { return nil }
        return Item(
            sequence: sequence, id: try row.needText("id"), sha256: facts.sha256, bytes: try row.needInteger("bytes"),
            holding: facts.holding, finishedAt: facts.finishedAt, permit: permit)
    }

    /// Deletes again what an earlier run had decided on and may not have finished.
    mutating func finishEarlier() throws {
        let policy = RetentionPolicy(retention: .max, includesCancelled: false)
        var after = 0
        while true {
            let permits = try queue.store.turn { _ in
                let found = try queue.store.read { db in
                    try db.rows(
                        """
                        SELECT seq, sha256, holding, reference FROM captures INDEXED BY captures_removing
                        WHERE holding = 'removing' AND seq > ? ORDER BY seq LIMIT 2000
                        """, [after]
                    ).map { row in
                        let permit = policy.permitToFinish(
                            try row.digest("sha256"), try CaptureRecord.holding(row),
                            isReference: try row.text("reference") != nil)
                        return (try row.needInteger("seq"), permit)
                    }
                }
                for case (let sequence, let permit?) in found { remove(permit, sequence) }
                return found
            }
            guard let last = permits.last else { return }
            after = last.0
        }
    }

    /// One that cannot be deleted keeps nobody else's room.
    private mutating func remove(_ permit: RemovalPermit, _ sequence: Int) {
        do throws(QueueError) {
            try queue.spool.remove(permit)
        } catch {
            failures.append(error)
            stuck.insert(sequence)
        }
    }

    /// Syncs the folders, so that nothing comes back, and only then calls it done.
    func finish() throws {
        var after = 0
        while true {
            let isMore = try queue.store.turn { turn -> Bool in
                // Also what another prune is at: its files are unlinked in the turn in which it decides.
                let rows = try queue.store.read {
                    try $0.rows(
                        """
                        SELECT seq, sha256 FROM captures INDEXED BY captures_removing
                        WHERE holding = 'removing' AND seq > ? ORDER BY seq LIMIT 20000
                        """, [after])
                }
                guard let last = try rows.last?.needInteger("seq") else { return false }
                for shard in Set(try rows.map { QueueFolder.shard(try $0.digest("sha256")) }) {
                    try queue.spool.synchronize(shard: shard)
                }
                let done = try rows.map { try $0.needInteger("seq") }.filter { !stuck.contains($0) }
                // In steps: SQLite keeps what a statement changes in memory until it ends.
                for start in stride(from: 0, to: done.count, by: 1000) {
                    try turn.write { db in
                        let now = try queue.clock.stamp(db)
                        for sequence in done[start..<min(start + 1000, done.count)] {
                            try db.run(
                                "UPDATE captures SET holding = 'removed', removed_at = ? WHERE seq = ?",
                                [now, sequence])
                        }
                    }
                }
                try turn.shrink(pages: 500)
                after = last
                return true
            }
            guard isMore else { return }
        }
    }
}
