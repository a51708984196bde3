import CaptureBundle
import CaptureNative
import Foundation
import GRDB
import QueueFiles
import QueueModel
import QueueTransports
import SystemPackage

/// Gives received bundles their names and rows, all in one turn and one transaction
/// (Spec/queue.md section 7).
struct PushGroup {
    let push: Push
    private var queue: UploadQueue { push.queue }
    private var options: PushOptions { push.options }

    /// - Returns: one result for each bundle, in order. If the transaction fails, all of them fail.
    func commit(_ arrivals: [Result<Arrival, any Error>]) -> [Result<Pushed, any Error>] {
        guard arrivals.contains(where: { (try? $0.get()) != nil }) else {
            return arrivals.map { $0.flatMap { _ in .failure(QueueError(.corruptRecord, "no arrival")) } }
        }
        var pushed: [Result<Pushed, any Error>]
        do {
            pushed = try queue.store.turn { turn in try commit(arrivals, turn) }
            for index in pushed.indices {
                guard let arrival = try? arrivals[index].get(),
                    case .failure(let refusal as QueueError) = pushed[index],
                    let again = commitEvicting(arrival, after: refusal)
                else { continue }
                pushed[index] = again
            }
        } catch {
            return arrivals.map { $0.flatMap { .failure(QueueError.push(of: $0.name, error, in: queue.folder)) } }
        }
        // If the destinations cannot be read, no source file is removed.
        guard options.moves, let removal = try? SourceRemoval(queue, isInbox: options.isFromInbox) else {
            return pushed
        }
        return zip(arrivals, pushed).map { arrival, result in
            guard let arrival = try? arrival.get() else { return result }
            return result.map { removal.remove(arrival, $0) }
        }
    }

    /// Makes room for a bundle that was refused, and commits it: it needed no room when it was read, because the queue
    /// had its bytes. Not in the turn of the group, because deleting needs turns of its own.
    ///
    /// - Returns: nil if no room can be made.
    private func commitEvicting(_ arrival: Arrival, after refusal: QueueError) -> Result<Pushed, any Error>? {
        guard refusal.code == .quota || refusal.code == .freeDisk else { return nil }
        do {
            guard try push.limits.makeRoom(for: arrival.facts.byteCount) else { return nil }
            let note = push.limits.takeNote()
            return try queue.store.turn { turn in try commit([.success(arrival)], turn) }.first?
                .map { pushed in note.map { pushed.adding(note: $0) } ?? pushed }
        } catch {
            return .failure(QueueError.push(of: arrival.name, error, in: queue.folder))
        }
    }

    private func commit(
        _ arrivals: [Result<Arrival, any Error>], _ turn: QueueStore.WriterTurn
    ) throws -> [Result<Pushed, any Error>] {
        var plans = try plan(arrivals)
        let given = try giveNames(&plans)
        do {
            let results = try turn.write { db in
                let writer = try PushWriter(db, push)
                let results = try plans.map { plan -> Result<Pushed, any Error> in
                    switch plan {
                    case .failed(let error): return .failure(error)
                    case .arrived(let arrival, _, let needsBytes):
                        return try writer.write(arrival, needsBytes: needsBytes)
                    }
                }
                return try writer.finish(results)
            }
            removeOldFiles(plans)
            return results
        } catch let error as QueueError {
            takeBack(given, after: error)
            throw error
        }
    }

    // MARK: - What has to be done for each

    /// The work to do for one received bundle.
    enum Plan {
        case failed(any Error)
        case arrived(Arrival, CaptureRecord?, needsBytes: Bool)
    }

    private func plan(_ arrivals: [Result<Arrival, any Error>]) throws -> [Plan] {
        try queue.store.read { db in
            var total = try db.usedBytes(queue.spool)
            var seen: Set<Digest> = []
            var ids: [String] = []
            return try arrivals.map { received in
                var arrival: Arrival
                do { arrival = try received.get() } catch { return .failed(error) }
                let record = try CaptureRecord.one(db, identity: arrival.facts.identity)
                // A second copy in the same call finds the row of the first one when it is written.
                let isRepeated = seen.contains(arrival.facts.identity)
                let needsBytes = try !isRepeated && needsBytes(arrival, record)
                if needsBytes && arrival.file != nil {
                    let next = try total + arrival.facts.byteCount - replacedBytes(by: arrival, record, db)
                    let limit = record?.holding == .quarantined ? nil : push.limits.settings.limit
                    if let refusal = try refusal(of: arrival, limit, total: next, db) { return .failed(refusal) }
                    total = next
                }
                seen.insert(arrival.facts.identity)
                arrival.isFound = record == nil && FileStatus.exists(queue.folder.sidecarPath(arrival.facts.sha256))
                if needsBytes { try settleSidecar(&arrival, of: record, taken: &ids, db) }
                return .arrived(arrival, record, needsBytes: needsBytes)
            }
        }
    }

    /// The used bytes in whose place those of a push come.
    private func replacedBytes(by arrival: Arrival, _ record: CaptureRecord?, _ db: Database) throws -> Int {
        guard let record else { return 0 }
        if record.holding == .quarantined { return try db.quarantinedBytes(queue.spool, of: record.sha256) }
        return record.holding == .spool && record.sha256 == arrival.facts.sha256 ? record.byteCount : 0
    }

    private func refusal(of arrival: Arrival, _ limit: Int?, total: Int, _ db: Database) throws -> QueueError? {
        let (name, size) = (arrival.name, arrival.facts.byteCount)
        if let refusal = try push.limits.overLimit(limit, of: name, size: size, total: total, db) { return refusal }
        return arrival.isReserved ? nil : try push.limits.overFloor(arrival.name, size: 0, db)
    }

    /// Rewrites the sidecar if another process, or another bundle of this call, has taken its id since.
    private func settleSidecar(
        _ arrival: inout Arrival, of record: CaptureRecord?, taken: inout [String], _ db: Database
    ) throws {
        let id = try record?.id ?? db.freeID(arrival.facts.bundleID, like: arrival.known?.id, besides: taken)
        taken.append(id)
        if record != nil || arrival.sidecar?.content.id != id {
            try push.writeSidecar(&arrival, id: id, after: record)
        }
    }

    private func needsBytes(_ arrival: Arrival, _ record: CaptureRecord?) throws -> Bool {
        guard let record else { return true }
        switch record.holding {
        case .quarantined, .missing: return true
        // The user may delete the other copy when told that this one is held, so its bytes are checked.
        case .spool: return try !queue.spool.matches(record.sha256, knowing: arrival.hashed)
        case .reference:
            // Bytes in the spool are better than a reference, and the file that was read just now than an older one.
            return arrival.reference != record.reference || arrival.facts.sha256 != record.sha256
        case .removing, .removed: return !push.skips(record)
        }
    }

    // MARK: - Names

    /// What this group has renamed into the spool: a bundle with its sidecar, or only the sidecar of a reference.
    private typealias Given = (sha256: Digest, hasBundle: Bool)

    private func giveNames(_ plans: inout [Plan]) throws -> [Given] {
        var files: [Spool.NewFile] = []
        var given: [Given] = []
        var used: [Digest] = []
        for index in plans.indices {
            guard case .arrived(let arrival, let record, needsBytes: true) = plans[index] else { continue }
            do {
                let sha256 = arrival.facts.sha256
                if let old = record?.sha256, record?.holding == .spool, old != sha256 || arrival.reference != nil {
                    // The old bytes do not match their hash any more. New bytes or a reference take their place.
                    _ = try queue.spool.quarantine(old)
                }
                // The sidecar goes first, because a kill could otherwise leave a bundle without its sidecar.
                if let sidecar = arrival.sidecar?.file, try !keepsSidecar(arrival) {
                    files.append((sidecar, QueueFolder.shard(sha256), QueueFolder.sidecarName(sha256)))
                    if arrival.file == nil { given.append((sha256, false)) }
                }
                guard let file = arrival.file else { continue }
                if try usesStray(arrival) {
                    used.append(sha256)
                } else {
                    files.append((file, QueueFolder.shard(sha256), QueueFolder.bundleName(sha256)))
                    given.append((sha256, true))
                }
            } catch {
                plans[index] = .failed(error)
            }
        }
        do {
            try queue.spool.publish(files)
            try queue.spool.settle(used)
        } catch {
            takeBack(given, after: error)
            throw error
        }
        return given
    }

    /// Whether the existing sidecar says the same as ours. If it does not, it is removed.
    private func keepsSidecar(_ arrival: Arrival) throws -> Bool {
        let path = queue.folder.sidecarPath(arrival.facts.sha256)
        guard FileStatus.exists(path) else { return false }
        let known = StoredBundle.sidecar(arrival.facts.sha256, queue.folder)
        if var known, let ours = arrival.sidecar?.content {
            known.pushedAt = ours.pushedAt
            if known == ours { return true }
        }
        try queue.spool.remove(RetentionPolicy.permitToReplaceSidecar(arrival.facts.sha256))
        return false
    }

    /// Removes the old files of captures whose bytes now have another hash: sidecars, and bundles whose deletion was
    /// interrupted. `check` reports whatever stays.
    private func removeOldFiles(_ plans: [Plan]) {
        for case .arrived(let arrival, let record?, needsBytes: true) in plans
        where record.sha256 != arrival.facts.sha256 {
            guard (try? queue.store.read({ try $0.captures(of: record.sha256) })) == 0 else { continue }
            let hasBundle = FileStatus.exists(queue.folder.bundlePath(record.sha256))
            let toFinish = RetentionPolicy.permitToFinish(
                record.sha256, record.holding, isReference: record.reference != nil)
            let permit = toFinish ?? RetentionPolicy.permitForSidecar(record.sha256, rows: 0, hasBundle: hasBundle)
            if let permit { try? queue.spool.remove(permit) }
        }
    }

    /// Whether a killed push left a file with the right bytes, which can be used. A file with wrong bytes is set aside.
    private func usesStray(_ arrival: Arrival) throws -> Bool {
        guard FileStatus.exists(queue.folder.bundlePath(arrival.facts.sha256)) else { return false }
        if try queue.spool.matches(arrival.facts.sha256, knowing: arrival.hashed) { return true }
        _ = try queue.spool.quarantine(arrival.facts.sha256)
        return false
    }

    /// Removes the named files if it is certain that no row was written: the disk is full, the session has ended, or a
    /// destination takes no captures. After any other failure the rows may be on the disk, so the files stay.
    private func takeBack(_ given: [Given], after error: any Error) {
        guard let error = error as? QueueError,
            error.isDiskFull || error.code == .sessionEnded || error.code == .destinationUnknown
                || error.code == .destinationRetired
        else { return }
        for (sha256, hasBundle) in given {
            let rows = try? queue.store.read { try $0.captures(of: sha256, where: "holding <> 'removed'") }
            guard let rows else { continue }
            let isThere = FileStatus.exists(queue.folder.bundlePath(sha256))
            let permit =
                hasBundle
                ? RetentionPolicy.permitToTakeBack(sha256, rows: rows)
                : RetentionPolicy.permitForSidecar(sha256, rows: rows, hasBundle: isThere)
            if let permit { try? queue.spool.remove(permit) }
        }
    }
}
