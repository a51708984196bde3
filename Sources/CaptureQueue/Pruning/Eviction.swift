import GRDB
import QueueModel

/// Frees bytes for a push, by deleting what was uploaded.
struct Eviction {
    let queue: UploadQueue

    /// How many captures are looked at in one step.
    private static let looks = 2000

    /// Finds out what has to be deleted to free this many bytes, oldest first.
    ///
    /// - Parameter looks: how many captures are looked at before an age is proposed.
    /// - Returns: what a prune of that age deletes, also if that is less; nil if nothing was uploaded.
    func prunable(bytes wanted: Int, looks: Int = Self.looks, _ db: Database) throws -> Prunable? {
        var sweep = PruneSweep(queue, .uploaded(isDryRun: true))
        let found = try sweep.candidates(limit: looks, db) ?? []
        var freed = 0
        let enough = found.first { item in
            freed += item.bytes
            return freed >= wanted
        }
        guard let last = enough ?? found.last else { return nil }
        let now = try queue.clock.read(db).believed
        let retention = try QueueSettings(db).retention
        let rounded = Duration.milliseconds(now - last.since).rounded
        let isDue = now - last.since >= retention.milliseconds
        let limit = now - (isDue ? retention : rounded).milliseconds
        let deleted = found.filter { $0.since <= limit }
        return Prunable(
            age: isDue ? nil : rounded, captures: deleted.count, bytes: deleted.reduce(0) { $0 + $1.bytes },
            isAll: found.count < looks, isEnough: enough != nil || found.count == looks)
    }

    /// Whether deleting what was uploaded would free this many bytes.
    func canFree(bytes wanted: Int) throws -> Bool {
        var sweep = PruneSweep(queue, .uploaded(isDryRun: true))
        var bytes = 0
        while bytes < wanted, let batch = try sweep.next(limit: Self.looks) {
            bytes += batch.reduce(0) { $0 + $1.bytes }
        }
        return bytes >= wanted
    }

    /// Deletes what was uploaded, oldest first, until this many bytes are free. Everything else that section 8 of
    /// Spec/queue.md demands of a deletion holds, too. Nothing is deleted if that would not be enough.
    ///
    /// - Returns: how many captures were deleted, and their bytes.
    func free(bytes wanted: Int) throws -> (captures: Int, bytes: Int) {
        guard try canFree(bytes: wanted) else { return (0, 0) }
        var sweep = PruneSweep(queue, .uploaded(isDryRun: false))
        var evicted = (captures: 0, bytes: 0)
        while evicted.bytes < wanted, let batch = try sweep.next(limit: 1) {
            for item in batch {
                evicted.captures += 1
                evicted.bytes += item.bytes
            }
        }
        if evicted.captures > 0 { try sweep.finish() }
        return evicted
    }
}

extension PruneOptions {
    /// Everything in the spool that was uploaded, whatever its age.
    fileprivate static func uploaded(isDryRun: Bool) -> PruneOptions {
        var options = PruneOptions()
        options.olderThan = .zero
        options.isDryRun = isDryRun
        options.sparesReferences = true
        return options
    }
}
