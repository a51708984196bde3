import CaptureBundle
import CaptureNative
import Foundation
import GRDB
import QueueFiles
import QueueModel
import QueueTransports

/// Writes the rows of pushed bundles, inside one transaction.
struct PushWriter {
    let db: Database
    private let queue: UploadQueue
    let options: PushOptions
    let now: Int
    /// When a new delivery may be sent.
    let start: DeliveryStart
    let reading: QueueClock.Reading
    let destinations: [Int]
    private let usedBefore: Int

    init(_ db: Database, _ push: Push) throws {
        self.db = db
        queue = push.queue
        options = push.options
        let reading = try queue.clock.look(db)
        let now = reading.stamp
        (self.reading, self.now) = (reading, now)
        start = DeliveryStart(reading, notBefore: options.notBefore, delay: options.delay)
        if let name = options.session, options.reopensSession,
            try db.integer("SELECT 1 FROM sessions WHERE name = ?", [name]) != nil
        {
            // The user asked for this, so it is done even if no capture joins the session.
            _ = try db.session(name, reopens: true, at: now)
        }
        // Use the default destination that the sidecar names, because the default may have changed meanwhile.
        let fallback = push.fallback.flatMap { try? db.activeDestination($0) }
        destinations =
            options.destinations.isEmpty
            ? [fallback].compactMap(\.self) : try options.destinations.map { try db.activeDestination($0) }
        usedBefore = try db.usedBytes(queue.spool)
    }

    /// - Parameter needsBytes: whether the new bytes must be stored.
    func write(_ arrival: Arrival, needsBytes: Bool) throws -> Result<Pushed, any Error> {
        // Read the row again, because an earlier copy of the same bundle in this call may have changed it.
        if let record = try CaptureRecord.one(db, identity: arrival.facts.identity) {
            return .success(try pushAgain(arrival, record, needsBytes: needsBytes))
        }
        guard needsBytes else {
            return .failure(
                QueueError(
                    .inputOutput, "the same bundle was given earlier in this command and could not be stored",
                    of: arrival.name)
            )
        }
        return .success(try insert(arrival))
    }

    private func insert(_ arrival: Arrival) throws -> Pushed {
        let facts = arrival.facts
        guard let sidecar = arrival.sidecar?.content else {
            throw QueueError(.corruptRecord, "no id for a push", of: arrival.name)
        }
        if let state = options.adopts, let known = arrival.known {
            try db.insertFound(
                facts, sidecar, id: sidecar.id, holding: arrival.reference == nil ? .spool : .reference,
                reference: arrival.reference, state: state, at: reading, cause: "adopted", destinations: destinations,
                tag: arrival.tag, body: arrival.body)
            var pushed = pushed(arrival, sidecar.id, .stored, facts.sha256, facts.byteCount, [])
            (pushed.isHeld, pushed.lacksOrder) = (state == .held, known.lacksOrder)
            return pushed
        }
        // The session is opened only now, so that a failed push leaves no empty session.
        let session = try options.session.map { try db.session($0, reopens: options.reopensSession, at: now) }
        let number = try db.insertCapture(
            CaptureRow(
                id: sidecar.id, facts: facts, pushedAt: now, session: session, priority: options.priority,
                holding: arrival.reference == nil ? .spool : .reference, reference: arrival.reference,
                order: sidecar.order),
            destinations: destinations, start: start, at: now,
            cause: arrival.reference == nil ? "stored" : "by reference",
            tag: arrival.tag, body: arrival.body)
        if arrival.isFound { try db.run("UPDATE deliveries SET in_doubt = 1 WHERE capture = ?", [number]) }
        let note = arrival.reference.map(Self.noteToKeep)
        return pushed(arrival, sidecar.id, .stored, facts.sha256, facts.byteCount, [note].compactMap(\.self))
    }

    static func noteToKeep(_ reference: String) -> Pushed.Note {
        .init(words: "the queue keeps only the hash of this file: do not delete \(reference) before it is uploaded")
    }

    func pushed(
        _ arrival: Arrival, _ id: String, _ outcome: Pushed.Outcome, _ sha256: Digest, _ byteCount: Int,
        _ notes: [Pushed.Note]
    ) -> Pushed {
        Pushed(
            id: id, outcome: outcome, sha256: sha256, byteCount: byteCount, verdict: arrival.facts.verdict,
            trustFault: arrival.trustFault, notes: arrival.notes.map { .init(words: $0) } + notes, quotaWarning: nil)
    }

    /// Adds the warning, if one is due, to the last successful result.
    func finish(_ results: [Result<Pushed, any Error>]) throws -> [Result<Pushed, any Error>] {
        let used = try db.usedBytes(queue.spool)
        let mark = try options.warnAt ?? QueueSettings(db).warnAt
        guard used > mark else { return results }
        let warned = try db.integer("SELECT warned_at FROM clock")
        guard usedBefore <= mark || warned.map({ now - $0 >= 3_600_000 || $0 > now }) ?? true else { return results }
        guard let last = results.lastIndex(where: { (try? $0.get()) != nil }) else { return results }
        try db.run("UPDATE clock SET warned_at = ?", [now])
        var results = results
        results[last] = results[last].map { pushed in
            var pushed = pushed
            pushed.quotaWarning = QuotaWarning(usedBytes: used, warnAt: mark)
            return pushed
        }
        return results
    }
}

extension Pushed {
    func adding(note: String) -> Pushed {
        var pushed = self
        pushed.notes.append(.init(words: note))
        return pushed
    }
}
