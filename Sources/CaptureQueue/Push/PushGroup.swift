import CaptureBundle
import CaptureNative
import Foundation
import GRDB

/// Gives bundles that have arrived their names and their rows, all in one turn and one transaction
/// (Spec/queue.md section 7).
struct PushGroup {
    private let queue: UploadQueue
    private let options: PushOptions
    private let limits: PushLimits

    init(_ queue: UploadQueue, _ options: PushOptions, _ limits: PushLimits) {
        self.queue = queue
        self.options = options
        self.limits = limits
    }

    /// - Returns: what came of each, in their order. A failure that is nobody's own is everybody's.
    func commit(_ arrivals: [Result<Arrival, any Error>]) -> [Result<Pushed, any Error>] {
        guard arrivals.contains(where: { (try? $0.get()) != nil }) else {
            return arrivals.map { $0.flatMap { _ in .failure(QueueError(.corruptRecord, "no arrival")) } }
        }
        let pushed: [Result<Pushed, any Error>]
        do {
            pushed = try queue.store.turn { turn in try commit(arrivals, turn) }
        } catch {
            return arrivals.map { $0.flatMap { _ in .failure(error) } }
        }
        guard options.moves else { return pushed }
        return zip(arrivals, pushed).map { arrival, result in
            guard let arrival = try? arrival.get() else { return result }
            return result.map { SourceRemoval(queue).remove(arrival, $0) }
        }
    }

    private func commit(
        _ arrivals: [Result<Arrival, any Error>], _ turn: QueueStore.WriterTurn
    ) throws -> [Result<Pushed, any Error>] {
        var plans = try plan(arrivals)
        let given = try giveNames(&plans)
        do {
            return try turn.write { db in
                let writer = try PushWriter(db, queue, options)
                let results = try plans.map { plan -> Result<Pushed, any Error> in
                    switch plan {
                    case .failed(let error): return .failure(error)
                    case .arrived(let arrival, let record, let needsBytes):
                        return .success(try writer.write(arrival, record, needsBytes: needsBytes))
                    }
                }
                return try writer.finish(results)
            }
        } catch let error as QueueError where error.isDiskFull {
            takeBack(given, after: error)
            throw Intake.withHint(error)
        }
    }

    // MARK: - What has to be done for each

    /// What is to be done for one arrival.
    enum Plan {
        case failed(any Error)
        case arrived(Arrival, CaptureRecord?, needsBytes: Bool)

    }

    private func plan(_ arrivals: [Result<Arrival, any Error>]) throws -> [Plan] {
        try queue.store.read { db in
            var total = try db.integer("SELECT bytes FROM usage") ?? 0
            var seen: Set<Digest> = []
            var ids: Set<String> = []
            return try arrivals.map { received in
                var arrival: Arrival
                do { arrival = try received.get() } catch { return .failed(error) }
                let record = try CaptureRecord.one(db, identity: arrival.facts.identity)
                // A second one of the same call finds the row of the first when it is written.
                let isRepeated = !seen.insert(arrival.facts.identity).inserted
                let needsBytes = try !isRepeated && needsBytes(arrival, record, db)
                if needsBytes && arrival.file != nil {
                    total += arrival.facts.byteCount
                    if let refusal = try limits.refusal(total: total, size: 0) {
                        total -= arrival.facts.byteCount
                        return .failed(refusal)
                    }
                }
                if record == nil && !isRepeated { try settleID(&arrival, &ids, db) }
                return .arrived(arrival, record, needsBytes: needsBytes)
            }
        }
    }

    /// The sidecar names the id that was free when it was written; another process may have taken that meanwhile, or another
    /// bundle of this call.
    private func settleID(_ arrival: inout Arrival, _ taken: inout Set<String>, _ db: Database) throws {
        var id = try db.freeID(arrival.facts.bundleID)
        var number = 1
        while taken.contains(id) {
            number += 1
            id = "\(arrival.facts.bundleID).\(number)"
            if try db.integer("SELECT 1 FROM captures WHERE id = ?", [id]) != nil { continue }
        }
        taken.insert(id)
        if arrival.sidecar?.id != id {
            let intake = Intake(queue, options, memory: try queue.clock.read(db).memory, limits: limits)
            try intake.writeSidecar(&arrival, id: id)
        }
    }

    private func needsBytes(_ arrival: Arrival, _ record: CaptureRecord?, _ db: Database) throws -> Bool {
        guard let record else { return true }
        switch record.holding {
        case .quarantined, .missing: return true
        case .spool: return try queue.spool.bundleStatus(record.sha256)?.size != record.byteCount
        case .reference:
            // Bytes of our own are better than somebody else's; the same file again is nothing new.
            return arrival.reference == nil || !SourceCheck.isThere(record)
        case .removing, .removed:
            // Uploaded already, unless it was cancelled or is wanted elsewhere, too.
            return record.state == .cancelled
                || options.destinations.contains { name in !record.deliveries.contains { $0.destination == name } }
        }
    }

    // MARK: - Names

    /// - Returns: hashes of the files that got their names now.
    private func giveNames(_ plans: inout [Plan]) throws -> [Digest] {
        var files: [(file: IncomingFile, name: String)] = []
        var given: [Digest] = []
        for index in plans.indices {
            guard case .arrived(let arrival, let record, needsBytes: true) = plans[index] else { continue }
            do {
                let isThere = try arrival.file != nil && usesStray(arrival)
                if let file = arrival.file, !isThere {
                    files.append((file, "\(arrival.facts.sha256).bundle"))
                    given.append(arrival.facts.sha256)
                }
                if let sidecar = arrival.sidecar?.file, try !hasSidecar(arrival, record) {
                    // Before the bundle: a bundle alone would be a stray that knows less.
                    files.insert((sidecar, "\(arrival.facts.sha256).json"), at: max(0, files.count - (isThere ? 0 : 1)))
                }
            } catch {
                plans[index] = .failed(error)
            }
        }
        guard !files.isEmpty else { return [] }
        do {
            try queue.spool.publish(files)
        } catch {
            takeBack(given, after: error)
            throw Intake.withHint(error)
        }
        return given
    }

    private func hasSidecar(_ arrival: Arrival, _ record: CaptureRecord?) throws -> Bool {
        FileStatus.exists(queue.folder.sidecarPath(arrival.facts.sha256))
    }

    /// A file that a killed push left under this name is as good as ours, if its bytes are; otherwise it is set aside.
    private func usesStray(_ arrival: Arrival) throws -> Bool {
        guard FileStatus.exists(queue.folder.bundlePath(arrival.facts.sha256)) else { return false }
        if try SpoolReader(queue.spool).matches(arrival.facts.sha256) { return true }
        _ = try queue.spool.quarantine(arrival.facts.sha256)
        return false
    }

    /// Takes names back where it is certain that no row was written: when the disk is full. After any other failure the
    /// rows may be on the disk, and the files stay.
    private func takeBack(_ given: [Digest], after error: any Error) {
        guard let error = error as? QueueError, error.isDiskFull else { return }
        for sha256 in given {
            let rows = try? queue.store.read {
                try $0.integer("SELECT count(*) FROM captures WHERE sha256 = ?", [sha256.data])
            }
            guard let rows, let permit = RetentionPolicy.permitToTakeBack(sha256, rows: rows) else { continue }
            try? queue.spool.remove(permit)
        }
    }
}
