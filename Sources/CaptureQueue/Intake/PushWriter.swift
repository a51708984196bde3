import CaptureBundle
import CaptureNative
import Foundation
import GRDB
import QueueModel
import QueueTransports

/// Writes the rows of pushed bundles, inside one transaction.
struct PushWriter {
    private let db: Database
    private let queue: UploadQueue
    private let options: PushOptions
    private let now: Int
    private let destinations: [Int]
    private let usedBefore: Int

    init(_ db: Database, _ intake: Intake) throws {
        self.db = db
        queue = intake.queue
        options = intake.options
        let now = try queue.clock.stamp(db)
        self.now = now
        if let name = options.session, options.reopensSession,
            try db.integer("SELECT 1 FROM sessions WHERE name = ?", [name]) != nil
        {
            // Said by the user, so it is done even if nothing joins it.
            _ = try db.session(name, reopens: true, at: now)
        }
        // The default one may have changed meanwhile; the sidecar names the one of the beginning.
        let fallback = intake.fallback.flatMap { try? db.activeDestination($0) }
        destinations =
            options.destinations.isEmpty
            ? [fallback].compactMap(\.self) : try options.destinations.map { try db.activeDestination($0) }
        usedBefore = try queue.usedBytes(db)
    }

    /// When a new delivery is due.
    private var due: Int { max(now, options.notBefore ?? now) }

    /// - Parameter needsBytes: whether its bytes are to be those that came.
    func write(_ arrival: Arrival, needsBytes: Bool) throws -> Result<Pushed, any Error> {
        // Read anew: the same bundle, earlier in this call, may have changed it.
        if let record = try CaptureRecord.one(db, identity: arrival.facts.identity) {
            return .success(try pushAgain(arrival, record, needsBytes: needsBytes))
        }
        guard needsBytes else {
            return .failure(
                QueueError(.inputOutput, "the same bundle, earlier in this call, could not be stored", of: arrival.name)
            )
        }
        return .success(try insert(arrival))
    }

    private func insert(_ arrival: Arrival) throws -> Pushed {
        let facts = arrival.facts
        // Only now: a session that nothing joins is not opened.
        let session = try options.session.map { try db.session($0, reopens: options.reopensSession, at: now) }
        guard let id = arrival.sidecar?.content.id else {
            throw QueueError(.corruptRecord, "no id for a push", of: arrival.name)
        }
        try db.insertCapture(
            CaptureRow(
                id: id, facts: facts, pushedAt: now, session: session, priority: options.priority,
                notBefore: options.notBefore, holding: arrival.reference == nil ? .spool : .reference,
                reference: arrival.reference),
            destinations: destinations, due: due, at: now, cause: arrival.reference == nil ? "stored" : "by reference",
            tag: arrival.tag, body: arrival.body)
        var notes: [String] = []
        if let reference = arrival.reference {
            notes.append("the queue does not hold these bytes, only their hash: keep \(reference) until it is uploaded")
        }
        return pushed(arrival, id, .stored, facts.sha256, facts.byteCount, notes)
    }

    private func pushAgain(_ arrival: Arrival, _ record: CaptureRecord, needsBytes: Bool) throws -> Pushed {
        var notes: [String] = []
        var outcome = Pushed.Outcome.heldAlready
        if needsBytes {
            try takeBytes(arrival, record)
            outcome = [.removed, .removing, .reference].contains(record.holding) ? .stored : .restored
        }
        let revived = Set(record.revived(by: options).map(\.number))
        if options.resends { try resend(record, &notes) }
        try addDeliveries(record, &notes)
        for delivery in try CaptureRecord.deliveries(of: record.sequence, db) {
            if delivery.state == .quarantined && needsBytes {
                // The time that the first push named still holds.
                let due = max(due, record.notBefore ?? due)
                _ = try db.apply(.restore, to: delivery, at: now, .init(cause: "pushed again", due: due))
            } else if revived.contains(delivery.number) {
                _ = try db.apply(.push, to: delivery, at: now, .init(cause: "pushed again", due: due, attempts: 0))
                notes.append("it was cancelled and waits again")
            }
        }
        try db.refreshState(ofCapture: record.sequence)
        if options.session != nil && record.session != options.session {
            notes.append("it stays in \(record.session.map { "session \($0)" } ?? "no session")")
        }
        let after = try CaptureRecord.one(db, sequence: record.sequence) ?? record
        if outcome == .heldAlready || outcome == .stored && after.state == .completed {
            notes.insert(Self.note(after, isStoredAgain: outcome == .stored), at: 0)
        }
        return pushed(arrival, record.id, outcome, after.sha256, after.byteCount, notes)
    }

    private static func note(_ record: CaptureRecord, isStoredAgain: Bool) -> String {
        switch record.state {
        case .completed where isStoredAgain: "it was uploaded before, and is stored again; --resend sends it again"
        case .completed: "it was uploaded already; --resend sends it again"
        case .permanentlyFailed, .conflict:
            "the queue holds it already, and it failed for good: capqueue retry \(record.id)"
        default: "the queue holds it already"
        }
    }

    /// Makes the row name the bytes that came.
    private func takeBytes(_ arrival: Arrival, _ record: CaptureRecord) throws {
        try db.run(
            """
            UPDATE captures SET sha256 = ?, bytes = ?, holding = ?, reference = ?, removed_at = NULL, stored_at = ?,
                photo = ?, is_condensed = 0 WHERE seq = ?
            """,
            [
                arrival.facts.sha256.data, arrival.facts.byteCount,
                arrival.reference == nil ? Holding.spool.rawValue : Holding.reference.rawValue, arrival.reference, now,
                arrival.facts.photo?.data, record.sequence,
            ])
        try db.setBytes(tag: arrival.tag, body: arrival.body, ofCapture: record.sequence)
    }

    /// What was delivered already is sent again: to the destinations that are named, or to all that take captures.
    private func resend(_ record: CaptureRecord, _ notes: inout [String]) throws {
        for var delivery in record.deliveries where delivery.state == .completed {
            if delivery.destination == nil {
                guard let bound = try bind(delivery, of: record) else { continue }
                delivery = bound
            }
            guard try isWanted(delivery) else { continue }
            let isSent = try db.apply(
                .resend, to: delivery, at: now,
                .init(
                    cause: "pushed again with --resend", due: due, attempts: 0, isInDoubt: false,
                    idempotencyKey: .forgotten))
            if isSent { notes.append("it is sent to \(delivery.destination ?? "the first destination") again") }
        }
    }

    private func isWanted(_ delivery: DeliveryRecord) throws -> Bool {
        guard let name = delivery.destination else { return true }
        if !options.destinations.isEmpty { return options.destinations.contains(name) }
        return try db.integer("SELECT is_retired FROM destinations WHERE name = ?", [name]) == 0
    }

    /// A receipt without a destination: sent again, it goes to the default one, unless the capture has a delivery there.
    private func bind(_ delivery: DeliveryRecord, of record: CaptureRecord) throws -> DeliveryRecord? {
        guard let number = try db.defaultDestination() else { return delivery }
        let known = try db.integer(
            "SELECT 1 FROM deliveries WHERE capture = ? AND destination = ?", [record.sequence, number])
        guard known == nil else { return nil }
        try db.run("UPDATE deliveries SET destination = ? WHERE id = ?", [number, delivery.number])
        return try CaptureRecord.deliveries(of: record.sequence, db).first { $0.number == delivery.number }
    }

    private func addDeliveries(_ record: CaptureRecord, _ notes: inout [String]) throws {
        for (name, destination) in zip(options.destinations, destinations)
        where !record.deliveries.contains(where: { $0.destination == name }) {
            try db.addDelivery(
                ofCapture: record.sequence, to: destination, priority: options.priority, due: due, at: now,
                cause: "pushed again")
            notes.append("it goes to \(name), too")
        }
    }

    private func pushed(
        _ arrival: Arrival, _ id: String, _ outcome: Pushed.Outcome, _ sha256: Digest, _ byteCount: Int,
        _ notes: [String]
    ) -> Pushed {
        Pushed(
            id: id, outcome: outcome, sha256: sha256, byteCount: byteCount, verdict: arrival.facts.verdict,
            notes: notes,
            quotaWarning: nil)
    }

    /// Puts the warning, if one is due, to the last of them.
    func finish(_ results: [Result<Pushed, any Error>]) throws -> [Result<Pushed, any Error>] {
        let used = try queue.usedBytes(db)
        let mark = try options.warnAt ?? QueueSettings(db).warnAt
        guard used > mark else { return results }
        let warned = try db.integer("SELECT warned_at FROM clock")
        guard usedBefore <= mark || warned.map({ now - $0 >= 3_600_000 || $0 > now }) ?? true else { return results }
        guard let last = results.lastIndex(where: { (try? $0.get()) != nil }) else { return results }
        try db.run("UPDATE clock SET warned_at = ?", [now])
        var results = results
        results[last] = results[last].map { $0.with(QuotaWarning(usedBytes: used, warnAt: mark)) }
        return results
    }
}

extension CaptureRecord {
    /// Deliveries that were cancelled and are wanted again by a push: those that it names, or all where nothing else is left.
    func revived(by options: PushOptions) -> [DeliveryRecord] {
        deliveries.filter { delivery in
            guard delivery.state == .cancelled else { return false }
            return state == .cancelled || delivery.destination.map(options.destinations.contains) ?? false
        }
    }
}

extension Pushed {
    func with(_ warning: QuotaWarning) -> Pushed {
        Pushed(
            id: id, outcome: outcome, sha256: sha256, byteCount: byteCount, verdict: verdict, notes: notes,
            quotaWarning: warning)
    }

    func adding(note: String) -> Pushed {
        Pushed(
            id: id, outcome: outcome, sha256: sha256, byteCount: byteCount, verdict: verdict, notes: notes + [note],
            quotaWarning: quotaWarning)
    }
}
