import CaptureBundle
import GRDB
import QueueFiles
import QueueModel

/// One `prune`. It commits `removing`, unlinks the files, syncs the folders, and then commits `removed`.
struct PruneSweep {
    /// The position after the last batch.
    private struct Place {
        /// The stages in order. `named` is used alone, for captures that the user named.
        enum Stage { case delivered, parts, cancelled, named, over }

        var stage: Stage
        /// When the last delivery was completed or the bytes were stored, whichever is later.
        var since = Int.min
        var sequence = 0
    }

    struct Item {
        let sequence: Int
        let id: String
        let bytes: Int
        let holding: Holding
        /// When the retention began.
        let since: Int
        let permit: RemovalPermit
        /// The destinations that may have it, although its delivery there was cancelled.
        let doubtful: [String]
    }

    private let queue: UploadQueue
    private let options: PruneOptions
    private var place: Place
    private(set) var failures: [QueueError] = []
    private(set) var refused: [QueueError] = []
    /// Sequence numbers of captures whose files could not be deleted.
    private var stuck: Set<Int> = []

    init(_ queue: UploadQueue, _ options: PruneOptions) {
        self.queue = queue
        self.options = options
        place = Place(stage: options.only == nil ? .delivered : .named)
    }

    /// Chooses the next captures and deletes them.
    ///
    /// - Returns: nil if there are no more captures.
    mutating func next(limit: Int) throws -> [Item]? {
        if options.isDryRun { return try queue.store.read { try candidates(limit: limit, $0) } }
        let start = place
        do {
            return try batch(from: start, limit: limit)
        } catch let error as QueueError where error.isDiskFull {
            // Recording the decision needs a little space. After the first deletions there is more.
            _ = Reserve(folder: queue.folder).delete()
            return try batch(from: start, limit: 16)
        }
    }

    private mutating func batch(from start: Place, limit: Int) throws -> [Item]? {
        try queue.store.turn { turn in
            let found = try turn.write { db -> [Item]? in
                // The transaction runs again when the disk was full.
                place = start
                guard let found = try candidates(limit: limit, db) else { return nil }
                _ = try queue.clock.recordTime(db)
                for item in found {
                    try db.run("UPDATE captures SET holding = 'removing' WHERE seq = ?", [item.sequence])
                }
                return found
            }
            // This is the same turn, so nobody can push the same bytes between the decision and the deletion.
            for item in found ?? [] { remove(item.permit, item.sequence) }
            return found
        }
    }

    private static let columns = "seq, id, sha256, bytes, holding, finished_at, stored_at"

    /// Chooses captures that `RetentionPolicy` permits to delete.
    mutating func candidates(limit: Int, _ db: Database) throws -> [Item]? {
        let now = try queue.clock.read(db).believed
        let retention = try options.olderThan ?? QueueSettings(db).retention
        let policy = RetentionPolicy(retention: retention.milliseconds, options)
        while place.stage != .over {
            let start = self
            let found = try start.rows(until: now - retention.milliseconds, limit: limit, db) { row in
                place.since = max(try row.integer("finished_at") ?? 0, try row.needInteger("stored_at"))
                place.sequence = try row.needInteger("seq")
                return try start.item(row, policy, at: now, db)
            }
            if !found.isEmpty { return found.compactMap(\.self) }
            if place.stage == .named {
                place = Place(stage: .over)
                return try named(policy, at: now, db)
            }
            place = Place(stage: next(after: place.stage))
        }
        return nil
    }

    private func next(after stage: Place.Stage) -> Place.Stage {
        switch stage {
        case .delivered where options.acceptsParts: .parts
        case .delivered, .parts: options.includesCancelled ? .cancelled : .over
        case .cancelled, .named, .over: .over
        }
    }

    /// The rows after `place`.
    private func rows(until: Int, limit: Int, _ db: Database, _ body: (Row) throws -> Item?) throws -> [Item?] {
        let (condition, arguments): (String, StatementArguments)
        switch place.stage {
        case .delivered:
            condition = """
                INDEXED BY captures_releasable
                WHERE finished_at IS NOT NULL AND parts_only = 0 AND holding IN ('spool', 'reference')
                    AND (holding = 'spool' OR NOT ?) AND max(finished_at, stored_at) <= ? AND (max(finished_at, stored_at), seq) > (?, ?)
                    AND NOT EXISTS (SELECT 1 FROM deliveries WHERE capture = captures.seq AND copy IS NOT NULL
                        AND NOT (copy = 'absent' AND ?))
                ORDER BY max(finished_at, stored_at), seq LIMIT ?
                """
            arguments = [options.sparesReferences, until, place.since, place.sequence, options.acceptsAbsent, limit]
        case .parts, .cancelled:
            let isOfParts = "INDEXED BY captures_parts WHERE parts_only = 1"
            let isChosen = place.stage == .parts ? isOfParts : "WHERE state = 'cancelled'"
            condition = "\(isChosen) AND seq > ? AND holding IN ('spool', 'reference') ORDER BY seq LIMIT ?"
            arguments = [place.sequence, limit]
        case .named, .over: return []
        }
        return try db.mapped("SELECT \(Self.columns) FROM captures \(condition)", arguments, body)
    }

    /// Chooses the captures that the user named.
    private mutating func named(_ policy: RetentionPolicy, at now: Int, _ db: Database) throws -> [Item] {
        refused = []
        var found: [Item] = []
        for name in options.only ?? [] {
            do {
                let record = try db.capture(named: name)
                guard !found.contains(where: { $0.sequence == record.sequence }) else { continue }
                guard record.state == .cancelled else {
                    throw QueueError(
                        .stateRefused, "is \(record.state.rawValue), expected cancelled", of: record.id,
                        cause: .notCancelled)
                }
                guard let row = try db.row("SELECT \(Self.columns) FROM captures WHERE seq = ?", [record.sequence]),
                    let item = try item(row, policy, at: now, db)
                else { throw QueueError(.bytesAbsent, "its bytes are \(record.holdingWords)", of: record.id) }
                found.append(item)
            } catch let error as QueueError
                where [.idUnknown, .idMalformed, .idAmbiguous, .stateRefused, .bytesAbsent].contains(error.code)
            {
                refused.append(error)
            }
        }
        return found
    }

    private func item(_ row: Row, _ policy: RetentionPolicy, at now: Int, _ db: Database) throws -> Item? {
        let sequence = try row.needInteger("seq")
        let facts = RetentionPolicy.Facts(
            sha256: try row.digest("sha256"), holding: try CaptureRecord.holding(row),
            deliveries: try db.mapped(
                "SELECT state, receipt IS NOT NULL AS has_receipt, part, copy FROM deliveries WHERE capture = ?",
                [sequence]
            ) {
                .init(
                    state: try $0.state("state"), hasReceipt: try $0.needInteger("has_receipt") == 1,
                    isOfPart: try $0.text("part") != nil,
                    doubt: try $0.text("copy").map { .init(rawValue: $0) ?? .unseen })
            }, finishedAt: try row.integer("finished_at"), storedAt: try row.needInteger("stored_at"))
        guard let permit = policy.permit(facts, now: now) else { return nil }
        return Item(
            sequence: sequence, id: try row.needText("id"), bytes: try row.needInteger("bytes"), holding: facts.holding,
            since: max(facts.finishedAt ?? 0, facts.storedAt), permit: permit,
            doubtful: try db.mapped(
                """
                SELECT name FROM deliveries JOIN destinations ON destinations.id = destination
                WHERE capture = ? AND state = 'cancelled' AND in_doubt = 1 ORDER BY deliveries.id
                """, [sequence]
            ) { try $0.needText("name") })
    }

    /// Deletes again what an earlier prune had decided to delete and may not have finished.
    mutating func finishEarlier() throws {
        try queue.store.eachRemoving(limit: 2000) { rows, _ in
            for row in rows {
                let permit = RetentionPolicy.permitToFinish(
                    try row.digest("sha256"), try CaptureRecord.holding(row),
                    isReference: try row.text("reference") != nil)
                if let permit { remove(permit, try row.needInteger("seq")) }
            }
        }
    }

    /// Deletes the files of a capture. If that fails, the error is stored and the prune continues with the others.
    private mutating func remove(_ permit: RemovalPermit, _ sequence: Int) {
        do throws(QueueError) {
            try queue.spool.remove(permit)
        } catch {
            failures.append(error)
            stuck.insert(sequence)
        }
    }

    /// Syncs the folders, so that no deleted file comes back, and then records the captures as removed.
    func finish() throws {
        // The rows include those of another prune, whose files are gone: it unlinks them in the turn in which it decides.
        try queue.store.eachRemoving(limit: 20_000) { rows, turn in
            for shard in Set(try rows.map { QueueFolder.shard(try $0.digest("sha256")) }) {
                try queue.spool.synchronize(shard: shard)
            }
            let done = try rows.map { try $0.needInteger("seq") }.filter { !stuck.contains($0) }
            // Write in steps, because SQLite keeps the changes of a transaction in memory until it ends.
            for start in stride(from: 0, to: done.count, by: 1000) {
                try turn.write { db in
                    let now = try queue.clock.recordTime(db)
                    for sequence in done[start..<min(start + 1000, done.count)] {
                        try db.run(
                            "UPDATE captures SET holding = 'removed', removed_at = ? WHERE seq = ?", [now, sequence])
                    }
                }
            }
            try turn.shrink(pages: 500)
        }
    }
}

extension QueueStore {
    /// Calls `body` with the captures whose deletion was decided and not recorded as done: `limit` at a time, each group in one
    /// turn.
    fileprivate func eachRemoving(limit: Int, _ body: ([Row], WriterTurn) throws -> Void) throws {
        let sql = """
            SELECT seq, sha256, holding, reference FROM captures INDEXED BY captures_removing
            WHERE holding = 'removing' AND seq > ? ORDER BY seq LIMIT ?
            """
        var after: Int? = 0
        while let start = after {
            after = try turn { turn in
                let rows = try read { try $0.rows(sql, [start, limit]) }
                if !rows.isEmpty { try body(rows, turn) }
                return try rows.last?.needInteger("seq")
            }
        }
    }
}
