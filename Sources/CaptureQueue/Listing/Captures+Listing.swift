import GRDB
import QueueFiles
public import QueueModel
public import SystemPackage

extension UploadQueue.Captures {
    /// Finds the capture for an id, the beginning of an id, or the beginning of a bundle's SHA-256.
    ///
    /// - Throws: `id.malformed`, `id.unknown`, `id.ambiguous`.
    public func find(_ id: String) throws -> CaptureRecord {
        try queue.store.read { try $0.capture(named: id) }
    }

    /// Reads a capture again; nil if it has no row any more.
    func read(_ record: CaptureRecord) throws -> CaptureRecord? {
        try queue.store.read { try CaptureRecord.one($0, sequence: record.sequence) }
    }

    /// The path of a capture's bytes; nil if there are none.
    public func path(of record: CaptureRecord) -> FilePath? {
        switch record.holding {
        case .spool: queue.folder.bundlePath(record.sha256)
        case .reference: record.reference.map { FilePath($0) }
        case .removing, .removed, .quarantined, .missing: nil
        }
    }

    /// Lists captures, newest first. Each page is a separate read, so a long listing does not hold up writers. Captures
    /// that are pushed meanwhile are not listed.
    ///
    /// - Parameters:
    ///   - after: the id of the last capture of an earlier page; the listing continues with older captures.
    ///   - limit: the most captures; nil for all.
    ///   - deliver: returns false to end the listing.
    /// - Throws: `id.…` for `after`, `session.unknown`, `destination.unknown`, any error of `deliver`.
    public func list(
        _ filter: CaptureFilter = CaptureFilter(), after: String? = nil, limit: Int? = nil,
        deliver: (CaptureRecord) throws -> Bool
    ) throws {
        var before = try after.map { try find($0).sequence } ?? .max
        var left = limit ?? .max
        while left > 0 {
            let wanted = min(left, CaptureRecord.page)
            let records = try queue.store.read { try $0.captures(filter, before: before, limit: wanted) }
            for record in records where try !deliver(record) { return }
            guard let last = records.last, records.count == wanted else { return }
            before = last.sequence
            left -= records.count
        }
    }

    /// The place in the history after the last change of any state, for `ended`.
    public func historyEnd() throws -> Int {
        try queue.store.read { try $0.integer("SELECT max(id) FROM transitions") ?? 0 }
    }

    /// Lists the captures that are completed, cancelled or failed for good, newest first.
    ///
    /// - Parameters:
    ///   - session: only its captures; nil for all.
    ///   - mark: a value of `historyEnd`, to leave out what was completed or cancelled before; nil to leave out nothing.
    public func ended(session: String?, since mark: Int?) throws -> [(id: String, state: DeliveryState)] {
        let words = { (states: [DeliveryState]) in states.map { "'\($0.rawValue)'" }.joined(separator: ", ") }
        let (failed, landed) = (words(DeliveryState.failedForGood), words([.completed, .cancelled]))
        let isNew = mark.map { mark in
            "seq IN (SELECT capture FROM transitions JOIN deliveries ON deliveries.id = delivery WHERE transitions.id > \(mark))"
        }
        let isMember = session.map { _ in "session = (SELECT id FROM sessions WHERE name = ?)" }
        let sql = """
            SELECT id, state FROM captures WHERE \(isMember ?? "1")
                AND (state IN (\(failed)) OR state IN (\(landed)) AND \(isNew ?? "1")) ORDER BY seq DESC
            """
        return try queue.store.read { db in
            try db.mapped(sql, session.map { [$0] } ?? []) { (try $0.needText("id"), try $0.state("state")) }
        }
    }

    /// Returns all changes of state and attempts of a capture, oldest first.
    public func history(of record: CaptureRecord) throws -> [HistoryEvent] {
        try queue.store.read { db in
            var events: [HistoryEvent] = []
            for delivery in try CaptureRecord.deliveries(of: record.sequence, db) {
                events += try db.rows("SELECT * FROM transitions WHERE delivery = ? ORDER BY id", [delivery.number])
                    .map { try HistoryEvent(transition: $0, delivery.destination) }
                events += try db.rows("SELECT * FROM attempts WHERE delivery = ? ORDER BY id", [delivery.number])
                    .map { try HistoryEvent(attempt: $0, delivery.destination) }
            }
            // The sort keeps the order of events in the same millisecond.
            return events.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
        }
    }

    /// The number of captures in each state, for one session or for all.
    public func totals(session: String?) throws -> [DeliveryState: Int] {
        try queue.store.read { db in
            if let session { return try Session.all(db, "WHERE name = ?", [session]).first?.members ?? [:] }
            return try db.counts("SELECT state, captures FROM totals")
        }
    }

    /// Lists the captures that wait to be sent, oldest first, for users who send them by other means.
    public func export(_ filter: CaptureFilter = CaptureFilter(), deliver: (CaptureRecord) throws -> Void) throws {
        var filter = filter
        if filter.states.isEmpty { filter.states = [.pending, .failed, .held, .permanentlyFailed] }
        try queue.store.eachPage(
            where: { db in
                let (condition, arguments) = try filter.condition(db)
                return ("\(condition) AND holding IN ('spool', 'reference')", arguments)
            }, { for record in $0 { try deliver(record) } })
    }
}

extension CaptureFilter {
    func condition(_ db: Database) throws -> (sql: String, arguments: StatementArguments) {
        var parts: [String] = []
        var arguments = StatementArguments()
        if let session {
            guard let id = try db.integer("SELECT id FROM sessions WHERE name = ?", [session]) else {
                throw QueueError(.sessionUnknown, "no such session", of: session)
            }
            parts.append("session = ?")
            arguments += [id]
        }
        if !states.isEmpty {
            parts.append("state IN (\(states.map { "'\($0.rawValue)'" }.joined(separator: ", ")))")
        }
        if let destination {
            parts.append("EXISTS (SELECT 1 FROM deliveries WHERE capture = captures.seq AND destination = ?)")
            arguments += [try db.destination(destination)]
        }
        return (parts.joined(separator: " AND "), arguments)
    }
}

extension Database {
    func captures(_ filter: CaptureFilter, before: Int, limit: Int) throws -> [CaptureRecord] {
        let (condition, arguments) = try filter.condition(self)
        // Each state has its own index. For several states, the newest captures of each are merged.
        guard filter.states.count > 1 else {
            return try CaptureRecord.all(
                self, "WHERE \(condition.isEmpty ? "1" : condition) AND seq < ? ORDER BY seq DESC LIMIT ?",
                arguments + [before, limit])
        }
        let merged = try filter.states.flatMap { state in
            var one = filter
            one.states = [state]
            return try captures(one, before: before, limit: limit)
        }
        return Array(merged.sorted { $0.sequence > $1.sequence }.prefix(limit))
    }
}

extension HistoryEvent {
    init(transition row: Row, _ destination: String?) throws {
        self.init(
            at: try row.needTime("at"), destination,
            .transition(
                from: try row.text("from_state").flatMap(DeliveryState.init(rawValue:)), to: try row.state("to_state"),
                event: try row.needText("event"), cause: try row.text("cause")))
    }

    init(attempt row: Row, _ destination: String?) throws {
        self.init(
            at: try row.needTime("started_at"), destination,
            .attempt(
                number: try row.needInteger("number"), endedAt: try row.time("ended_at"),
                outcome: try row.text("outcome"), code: try row.text("code"), message: try row.text("message"),
                bytesSent: try row.integer("bytes_sent")))
    }
}
