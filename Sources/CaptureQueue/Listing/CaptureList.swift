import CaptureBundle
import GRDB
import QueueModel
import QueueTransports

/// Selects captures.
public struct CaptureFilter: Hashable, Sendable {
    public var states: [DeliveryState] = []
    public var session: String?
    /// Selects captures with a delivery to this destination.
    public var destination: String?

    public init() {}

    public var isEmpty: Bool { states.isEmpty && session == nil && destination == nil }

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

extension UploadQueue {
    /// The number of rows in one read, so that no read stays open during slow work.
    static let page = 500

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
        var before = try after.map { try capture($0).sequence } ?? .max
        var left = limit ?? .max
        while left > 0 {
            let wanted = min(left, Self.page)
            let records = try store.read { try $0.captures(filter, before: before, limit: wanted) }
            for record in records where try !deliver(record) { return }
            guard let last = records.last, records.count == wanted else { return }
            before = last.sequence
            left -= records.count
        }
    }

    /// The place in the history after the last change of any state, for `ended`.
    public func historyEnd() throws -> Int { try store.read { try $0.integer("SELECT max(id) FROM transitions") ?? 0 } }

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
        return try store.read { db in
            try db.mapped(sql, session.map { [$0] } ?? []) { (try $0.needText("id"), try $0.state("state")) }
        }
    }

    /// Returns all changes of state and attempts of a capture, oldest first.
    public func history(_ record: CaptureRecord) throws -> [HistoryEvent] {
        try store.read { db in
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
}

extension Database {
    func captures(_ filter: CaptureFilter, before: Int, limit: Int) throws -> [CaptureRecord] {
        let (condition, arguments) = try filter.condition(self)
        // Each state has its own index. For several states, the newest captures of each are merged.
        let states: [DeliveryState?] = filter.states.isEmpty ? [nil] : filter.states.map(Optional.some)
        guard states.count > 1 else {
            return try CaptureRecord.all(
                self, "WHERE \(condition.isEmpty ? "1" : condition) AND seq < ? ORDER BY seq DESC LIMIT ?",
                arguments + [before, limit])
        }
        var merged: [CaptureRecord] = []
        for state in states {
            var one = filter
            one.states = state.map { [$0] } ?? []
            merged += try captures(one, before: before, limit: limit)
        }
        return Array(merged.sorted { $0.sequence > $1.sequence }.prefix(limit))
    }
}

/// A change of state, or an attempt to send.
public struct HistoryEvent: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case transition(from: DeliveryState?, to: DeliveryState, event: String, cause: String?)
        case attempt(number: Int, endedAt: Int?, outcome: String?, code: String?, message: String?, bytesSent: Int?)
    }

    /// When it happened, in Unix milliseconds.
    public let at: Int
    public let destination: String?
    public let kind: Kind

    init(transition row: Row, _ destination: String?) throws {
        at = try row.needInteger("at")
        self.destination = destination
        kind = .transition(
            from: try row.text("from_state").flatMap(DeliveryState.init(rawValue:)), to: try row.state("to_state"),
            event: try row.needText("event"), cause: try row.text("cause"))
    }

    init(attempt row: Row, _ destination: String?) throws {
        at = try row.needInteger("started_at")
        self.destination = destination
        kind = .attempt(
            number: try row.needInteger("number"), endedAt: try row.integer("ended_at"),
            outcome: try row.text("outcome"), code: try row.text("code"), message: try row.text("message"),
            bytesSent: try row.integer("bytes_sent"))
    }
}
