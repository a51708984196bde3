import CaptureBundle
import CaptureNative
import GRDB
import QueueModel

/// The uploaded bundles that `prune` could delete, and the age to give it for that (Spec/queue.md section 10).
public struct Releasable: Hashable, Sendable {
    /// What to give to `prune --older-than`; nil if the retention has passed, so that `prune` needs no age.
    public let age: QueueAge?
    public internal(set) var captures: Int
    public internal(set) var bytes: Int
    /// Whether deleting them frees enough.
    public internal(set) var isEnough = true

    public var command: String { "capqueue prune" + (age.map { " --older-than \($0.text)" } ?? "") }
}

extension PruneOptions {
    /// Everything in the spool that was uploaded, whatever its age.
    fileprivate static func uploaded(isDryRun: Bool) -> PruneOptions {
        var options = PruneOptions()
        options.olderThan = QueueAge(milliseconds: 0)
        options.isDryRun = isDryRun
        options.sparesReferences = true
        return options
    }
}

extension UploadQueue {
    /// How many captures are looked at before an age is proposed.
    private static let looks = 2000

    /// Finds out what has to be deleted to free this many bytes, oldest first.
    ///
    /// - Returns: what a prune of that age deletes, also if that is less; nil if nothing was uploaded.
    func releasable(bytes wanted: Int, _ db: Database) throws -> Releasable? {
        var sweep = PruneSweep(self, .uploaded(isDryRun: true))
        var place = PruneSweep.Place(stage: .delivered)
        let found = try sweep.candidates(&place, limit: Self.looks, db) ?? []
        var freed = 0
        let enough = found.first { item in
            freed += item.bytes
            return freed >= wanted
        }
        guard let last = enough ?? found.last else { return nil }
        let age = try clock.read(db).believed - last.since
        let retention = try QueueSettings(db).retention
        let rounded = QueueAge(milliseconds: age).rounded
        let isDue = age >= QueueAge(retention).milliseconds
        let limit = try clock.read(db).believed - (isDue ? QueueAge(retention).milliseconds : rounded.milliseconds)
        let deleted = found.filter { $0.since <= limit }
        return Releasable(
            age: isDue ? nil : rounded, captures: deleted.count, bytes: deleted.reduce(0) { $0 + $1.bytes },
            isEnough: enough != nil || found.count == Self.looks)
    }

    /// Whether deleting what was uploaded would free this many bytes.
    func canEvict(bytes wanted: Int) throws -> Bool {
        var sweep = PruneSweep(self, .uploaded(isDryRun: true))
        var place = PruneSweep.Place(stage: .delivered)
        var bytes = 0
        while bytes < wanted, let batch = try sweep.next(&place, limit: Self.looks) {
            bytes += batch.reduce(0) { $0 + $1.bytes }
        }
        return bytes >= wanted
    }

    /// Deletes what was uploaded, oldest first, until this many bytes are free. Everything else that section 8 of
    /// Spec/queue.md demands of a deletion holds, too. Nothing is deleted if that would not be enough.
    ///
    /// - Returns: how many captures were deleted, and their bytes.
    func evict(bytes wanted: Int) throws -> (captures: Int, bytes: Int) {
        guard try canEvict(bytes: wanted) else { return (0, 0) }
        var sweep = PruneSweep(self, .uploaded(isDryRun: false))
        var place = PruneSweep.Place(stage: .delivered)
        var evicted = (captures: 0, bytes: 0)
        while evicted.bytes < wanted, let batch = try sweep.next(&place, limit: 1) {
            for item in batch {
                evicted.captures += 1
                evicted.bytes += item.bytes
            }
        }
        if evicted.captures > 0 { try sweep.finish() }
        return evicted
    }
}
