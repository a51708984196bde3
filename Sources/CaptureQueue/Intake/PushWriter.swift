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
    /// When a new delivery may be sent.
    let start: DeliveryStart
    let reading: QueueClock.Reading
    let destinations: [Int]
    private let usedBefore: Int
    var now: Int { reading.recordTime }

    init(_ db: Database, _ push: Push) throws {
        self.db = db
        queue = push.queue
        options = push.options
        reading = try queue.clock.observe(db)
        start = DeliveryStart(reading, notBefore: options.notBefore, delay: options.delay)
        if let name = options.session, options.reopensSession,
            try db.integer("SELECT 1 FROM sessions WHERE name = ?", [name]) != nil
        {
            // The user asked for this, so it is done even if no capture joins the session.
            _ = try db.session(name, reopens: true, at: reading.recordTime)
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
            var pushed = pushed(arrival, id: sidecar.id, .stored, facts.sha256, byteCount: facts.byteCount, notes: [])
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
        return pushed(
            arrival, id: sidecar.id, .stored, facts.sha256, byteCount: facts.byteCount, notes: [note].compactMap(\.self)
        )
    }

    static func noteToKeep(_ reference: String) -> Pushed.Note {
        .init(words: "the queue keeps only the hash of this file: do not delete \(reference) before it is uploaded")
    }

    func pushed(
        _ arrival: Arrival, id: String, _ outcome: Pushed.Outcome, _ sha256: Digest, byteCount: Int,
        notes: [Pushed.Note]
    ) -> Pushed {
        Pushed(
            id: id, outcome: outcome, sha256: sha256, byteCount: byteCount, verdict: arrival.facts.verdict,
            trustFault: arrival.trustFault, notes: arrival.notes.map { .init(words: $0) } + notes)
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

/// Handles a capture that is pushed again (Spec/queue.md section 7).
extension PushWriter {
    /// Stores the bytes of a known capture if they are needed, and sends it again as the options ask.
    func pushAgain(_ arrival: Arrival, _ record: CaptureRecord, needsBytes: Bool) throws -> Pushed {
        var notes: [String] = []
        var outcome = record.holding.hasBytes ? Pushed.Outcome.heldAlready : .uploadedAlready
        if needsBytes {
            try db.setBytes(
                arrival.facts, reference: arrival.reference, tag: arrival.tag, body: arrival.body,
                ofCapture: record.sequence, at: now)
            outcome = [.removed, .removing, .reference].contains(record.holding) ? .stored : .restored
        }
        let retired = try db.rows("SELECT name FROM destinations WHERE is_retired = 1").map { try $0.needText("name") }
        let revived = Set(record.revived(by: options, retired: retired).map(\.number))
        if options.resends || options.resendsLost { try resend(record, needsBytes: needsBytes, &notes) }
        try addDeliveries(record, &notes)
        if record.state == .cancelled && revived.isEmpty && options.destinations.isEmpty {
            try addDefault(record, &notes)
        }
        let deliveries = try CaptureRecord.deliveries(of: record.sequence, db)
        if needsBytes { try db.restore(deliveries, at: reading, cause: "pushed again") }
        for delivery in deliveries where revived.contains(delivery.number) {
            _ = try db.apply(.push, to: delivery, at: now, .init(cause: "pushed again", start: start, attempts: 0))
            notes.append("it was cancelled and waits again")
        }
        try db.refreshState(ofCapture: record.sequence)
        if options.session != nil && record.session != options.session {
            notes.append("it stays in \(record.session.map { "session \($0)" } ?? "no session")")
        }
        let after = try CaptureRecord.one(db, sequence: record.sequence) ?? record
        let isNoted = !needsBytes || outcome == .stored && after.state == .completed
        let isRetired = !deliveries.isEmpty && deliveries.allSatisfy { $0.destination.map(retired.contains) ?? false }
        // A salvage holds what it finds, so that the user may not know of it.
        let first =
            isNoted
            ? Self.note(after, isStoredAgain: needsBytes, isRetired: isRetired)
            : after.state == .held ? Pushed.Note(words: "it is held", change: .release) : nil
        let last = after.holding == .reference && after.state != .completed ? after.reference.map(Self.noteToKeep) : nil
        return pushed(
            arrival, id: record.id, outcome, after.sha256, byteCount: after.byteCount,
            notes: [first].compactMap(\.self) + notes.map { Pushed.Note(words: $0) } + [last].compactMap(\.self))
    }

    private static func note(_ record: CaptureRecord, isStoredAgain: Bool, isRetired: Bool) -> Pushed.Note {
        switch record.state {
        case .completed:
            .init(
                words: (isStoredAgain ? "it was uploaded before and is now stored again" : "it was already uploaded")
                    + (isRetired ? "; its destinations are retired, --dest NAME sends it to another" : ""),
                canBeResent: !isRetired)
        case .permanentlyFailed, .conflict:
            .init(words: "it is already in the queue and failed for good", change: .retry)
        case .held: .init(words: "it is already in the queue; it is held", change: .release)
        default: .init(words: "it is already in the queue")
        }
    }

    /// Sends completed deliveries again: to the named destinations, or to all that take captures.
    private func resend(_ record: CaptureRecord, needsBytes: Bool, _ notes: inout [String]) throws {
        for var delivery in record.deliveries where delivery.state == .completed {
            if delivery.destination == nil {
                guard let bound = try bind(delivery, of: record) else { continue }
                delivery = bound
            }
            guard try isWanted(delivery), try options.resends || needsBytes || compares(delivery) else { continue }
            let isSent = try db.apply(
                .resend, to: delivery, at: now,
                .init(
                    cause: options.resends
                        ? "pushed again, to be sent again"
                        : needsBytes ? "pushed again, its bytes were gone" : "pushed again, the copy there is compared",
                    start: start, attempts: 0, isInDoubt: false, forgetsKey: true))
            if isSent { notes.append("it will be sent again to \(delivery.destination ?? "the first destination")") }
        }
    }

    /// Whether the destination keeps one copy, which is compared when the capture is sent again, and repaired.
    private func compares(_ delivery: DeliveryRecord) throws -> Bool {
        let kind = try db.text("SELECT kind FROM destinations WHERE name = ?", [delivery.destination ?? ""])
        return kind == Destination.Kind.folder.rawValue || kind == Destination.Kind.s3.rawValue
    }

    private func isWanted(_ delivery: DeliveryRecord) throws -> Bool {
        guard let name = delivery.destination else { return true }
        if !options.destinations.isEmpty { return options.destinations.contains(name) }
        return try db.integer("SELECT is_retired FROM destinations WHERE name = ?", [name]) == 0
    }

    /// Gives a delivery without a destination to the default one, unless the capture already has a delivery there.
    private func bind(_ delivery: DeliveryRecord, of record: CaptureRecord) throws -> DeliveryRecord? {
        guard let number = try db.defaultDestination() else { return delivery }
        let known = try db.integer(
            "SELECT 1 FROM deliveries WHERE capture = ? AND destination = ?", [record.sequence, number])
        guard known == nil else { return nil }
        try db.run("UPDATE deliveries SET destination = ? WHERE id = ?", [number, delivery.number])
        return try CaptureRecord.deliveries(of: record.sequence, db).first { $0.number == delivery.number }
    }

    private func addDeliveries(_ record: CaptureRecord, _ notes: inout [String]) throws {
        // The default destination may just have got a delivery that had none.
        let known = try CaptureRecord.deliveries(of: record.sequence, db).map(\.destination)
        for (name, destination) in zip(options.destinations, destinations) where !known.contains(name) {
            try db.addDelivery(
                ofCapture: record.sequence, to: destination, priority: options.priority, start: start, at: now,
                cause: "pushed again")
            notes.append("it will also be sent to \(name)")
        }
    }

    /// Adds a delivery to the default destination for a capture that was cancelled only at retired destinations.
    private func addDefault(_ record: CaptureRecord, _ notes: inout [String]) throws {
        let number = try destinations.first ?? db.defaultDestination()
        let name = try number.flatMap { try db.text("SELECT name FROM destinations WHERE id = ?", [$0]) }
        guard !record.deliveries.contains(where: { $0.destination == name }) else { return }
        try db.addDelivery(
            ofCapture: record.sequence, to: number, priority: options.priority, start: start, at: now,
            cause: "pushed again")
        notes.append("it was cancelled and " + (name.map { "goes to \($0)" } ?? "waits for a destination"))
    }
}

extension CaptureRecord {
    /// Whether its bytes were deleted and a push need not store them: what the push asks for was uploaded, and a
    /// destination has the whole bundle. `evict-uploaded` would delete the bytes again, and others for them.
    func isUploaded(for options: PushOptions) -> Bool {
        func has(_ delivery: DeliveryRecord) -> Bool { delivery.state == .completed && delivery.receipt != nil }
        guard [.removing, .removed].contains(holding), state == .completed, !options.resends, !options.resendsLost
        else {
            return false
        }
        return deliveries.contains { has($0) && $0.part == nil }
            && options.destinations.allSatisfy { name in deliveries.contains { $0.destination == name && has($0) } }
    }

    /// The cancelled deliveries that this push revives: those to the named destinations, or all if nothing else is
    /// left. A delivery to a retired destination is never revived, because it takes no further captures.
    fileprivate func revived(by options: PushOptions, retired: [String]) -> [DeliveryRecord] {
        deliveries.filter { delivery in
            guard delivery.state == .cancelled, delivery.destination.map(retired.contains) != true else { return false }
            return state == .cancelled || delivery.destination.map(options.destinations.contains) ?? false
        }
    }
}
