import CaptureBundle
import CaptureNative
import Foundation
import GRDB

/// A delivery that this process may send, until the lease is over. What came of it is written only with this claim.
public struct Claim: Hashable, Sendable {
    public let capture: CaptureRecord
    public let delivery: DeliveryRecord
    public let destination: Destination
    /// 128 bits of chance, known to the one who sends.
    let token: [UInt8]
    let attempt: Int
}

/// What came of a try to send.
public enum SendOutcome: Hashable, Sendable {
    case completed(receipt: String, remoteID: String?, remoteURL: String?)
    /// The server has it and has not decided.
    case accepted(remoteID: String?, remoteURL: String?)
    case failed(code: String, message: String)
    /// No further try would help.
    case rejected(code: String, message: String)
    case conflict(message: String)
    /// Nothing was tried, or nothing that counts: offline, or stopped.
    case parked(cause: String)
    /// Our own bytes are not what they were.
    case damaged(message: String)
}

extension UploadQueue {
    /// How long a claim is good without being renewed.
    package static let lease = 600_000

    /// Takes the delivery that is next for a destination: due, most urgent, longest due (Spec/queue.md section 6).
    ///
    /// - Parameter before: Unix milliseconds; only what was due before is taken. nil for what is due now.
    /// - Returns: nil when nothing is due.
    public func claim(for destination: Destination, dueBefore before: Int? = nil) throws -> Claim? {
        try store.write { db in
            let now = try clock.stamp(db)
            while let number = try Self.next(for: destination, due: min(before ?? now, now), db) {
                guard let claim = try take(number, destination, at: now, db) else { continue }
                return claim
            }
            return nil
        }
    }

    private static func next(for destination: Destination, due: Int, _ db: Database) throws -> Int? {
        let bound = try ready("destination = ?", [destination.number], due, db)
        guard destination.isDefault, let unbound = try ready("destination IS NULL", [], due, db) else {
            return bound?.id
        }
        guard let bound else { return unbound.id }
        return (-bound.priority, bound.due, bound.id) < (-unbound.priority, unbound.due, unbound.id)
            ? bound.id : unbound.id
    }

    private typealias Ready = (id: Int, priority: Int, due: Int)

    /// One index search for each priority that is in use: what waits for a later time is stepped over, however much it is.
    private static func ready(
        _ condition: String, _ arguments: StatementArguments, _ due: Int, _ db: Database
    ) throws -> Ready? {
        var priority = Priority.range.upperBound + 1
        while true {
            let below = try db.integer(
                """
                SELECT priority FROM deliveries WHERE \(condition) AND state IN ('pending', 'failed') AND priority < ?
                ORDER BY priority DESC LIMIT 1
                """, arguments + [priority])
            guard let below else { return nil }
            priority = below
            let row = try db.row(
                """
                SELECT id, due FROM deliveries WHERE \(condition) AND state IN ('pending', 'failed') AND priority = ?
                    AND due <= ? ORDER BY due, id LIMIT 1
                """, arguments + [priority, due])
            if let row { return (try row.needInteger("id"), priority, try row.needInteger("due")) }
        }
    }

    private func take(_ number: Int, _ destination: Destination, at now: Int, _ db: Database) throws -> Claim? {
        let condition = "SELECT \(DeliveryRecord.columns) FROM deliveries WHERE id = ?"
        guard let row = try db.row(condition, [number]) else {
            throw QueueError.corruptRecord("an index without its row")
        }
        let delivery = try DeliveryRecord(row: row)
        guard let capture = try CaptureRecord.one(db, sequence: delivery.capture) else {
            throw QueueError.corruptRecord("a delivery without its capture")
        }
        if delivery.destination == nil {
            if capture.deliveries.contains(where: { $0.destination == destination.name }) {
                _ = try db.apply(.cancel, to: delivery, at: now, .init(cause: "goes to \(destination.name) already"))
                return nil
            }
            try db.run("UPDATE deliveries SET destination = ? WHERE id = ?", [destination.number, number])
        }
        guard capture.holding.hasBytes else {
            _ = try db.apply(.damage, to: delivery, at: now, .init(cause: "bytes are \(capture.holding.rawValue)"))
            return nil
        }
        let token = try onFile("random numbers") { () throws(NativeError) in try RandomBytes.make(16) }
        let attempt = delivery.attempts + 1
        let claimed = try db.apply(
            .claim, to: delivery, at: now,
            .init(
                cause: "attempt \(attempt)", due: delivery.dueAt, attempts: attempt,
                claim: (token, ClaimOwner.current.text, now + Self.lease)))
        guard claimed else { return nil }
        try db.run(
            "INSERT INTO attempts (delivery, number, token, started_at) VALUES (?, ?, ?, ?)",
            [number, attempt, Data(token), now])
        guard let taken = try db.row(condition, [number]) else {
            throw QueueError.corruptRecord("a claim without its row")
        }
        return Claim(
            capture: capture, delivery: try DeliveryRecord(row: taken), destination: destination, token: token,
            attempt: attempt)
    }

    /// Writes down what came of a claim.
    ///
    /// - Returns: the state that the delivery is in now.
    /// - Throws: `claim.lost` when the claim is no longer good: the lease was over, or the user decided otherwise. The
    ///   attempt is recorded all the same.
    @discardableResult
    public func settle(_ claim: Claim, _ outcome: SendOutcome, retry: RetryPolicy = .standard) throws -> DeliveryState {
        if case .damaged(let message) = outcome, try setAside(claim, outcome, message) { return .quarantined }
        let settled = try store.write { db -> DeliveryState? in
            let now = try clock.stamp(db)
            let row = try db.row(
                "SELECT \(DeliveryRecord.columns) FROM deliveries WHERE id = ? AND token = ?",
                [claim.delivery.number, Data(claim.token)])
            try Self.close(claim, outcome, isLate: row == nil, at: now, db)
            guard let row else { return nil }
            let delivery = try DeliveryRecord(row: row)
            let (event, change) = Self.change(for: outcome, delivery, at: now, retry)
            guard try db.apply(event, to: delivery, at: now, change) else { return nil }
            return DeliveryStateMachine.next(delivery.state, event)
        }
        guard let settled else {
            throw QueueError(.claimLost, "somebody else decided on it meanwhile", of: claim.capture.id)
        }
        return settled
    }

    /// Bytes that are not what they were are nobody's any more: all deliveries of the capture wait for them to come back.
    ///
    /// - Returns: false when the claim is no longer good, or the bytes are well after all.
    private func setAside(_ claim: Claim, _ outcome: SendOutcome, _ message: String) throws -> Bool {
        try store.turn { turn in
            let record = try store.read { db -> CaptureRecord? in
                let isOurs = try db.integer(
                    "SELECT 1 FROM deliveries WHERE id = ? AND token = ?", [claim.delivery.number, Data(claim.token)])
                return isOurs == nil ? nil : try CaptureRecord.one(db, sequence: claim.capture.sequence)
            }
            guard let record, record.holding.hasBytes else { return false }
            guard case .wrong(let kind, _) = BytesCheck(folder, spool).judge(record, reads: true).fault else {
                return false
            }
            try turn.write { db in try Self.close(claim, outcome, isLate: false, at: clock.stamp(db), db) }
            _ = try QuarantineRoom(self).setAside(record, kind, message, turn)
            return true
        }
    }

    private static func close(_ claim: Claim, _ outcome: SendOutcome, isLate: Bool, at now: Int, _ db: Database) throws
    {
        let (word, code, message) = outcome.words
        try db.run(
            "UPDATE attempts SET ended_at = ?, outcome = ?, code = ?, message = ?, bytes_sent = ? WHERE token = ?"
                + " AND delivery = ?",
            [
                now, isLate ? "late \(word)" : word, code, message, word == "completed" ? claim.capture.byteCount : nil,
                Data(claim.token), claim.delivery.number,
            ])
    }

    private static func change(
        for outcome: SendOutcome, _ delivery: DeliveryRecord, at now: Int, _ retry: RetryPolicy
    ) -> (DeliveryEvent, Database.DeliveryChange) {
        switch outcome {
        case .completed(let receipt, let id, let url):
            return (.complete, .init(cause: "a receipt", completion: (now, receipt), remoteID: id, remoteURL: url))
        case .accepted(let id, let url):
            return (.accept, .init(remoteID: id, remoteURL: url))
        case .failed(let code, let message):
            guard let delay = retry.delay(afterAttempt: delivery.attempts) else {
                return (
                    .reject,
                    .init(cause: "attempt \(delivery.attempts) of \(retry.delays.count)", failure: (code, message))
                )
            }
            return (.fail, .init(cause: message, due: now + delay * 1000, failure: (code, message)))
        case .rejected(let code, let message):
            return (.reject, .init(cause: message, failure: (code, message)))
        case .conflict(let message):
            return (.conflict, .init(cause: message, failure: ("conflict", message)))
        case .parked(let cause):
            return (.park, .init(cause: cause, due: now, attempts: max(0, delivery.attempts - 1)))
        case .damaged(let message):
            // Looked at again, they were well: a try that failed.
            return (.park, .init(cause: message, due: now))
        }
    }
}

extension SendOutcome {
    /// For the record of attempts.
    var words: (outcome: String, code: String?, message: String?) {
        switch self {
        case .completed: ("completed", nil, nil)
        case .accepted: ("accepted", nil, nil)
        case .failed(let code, let message): ("failed", code, message)
        case .rejected(let code, let message): ("rejected", code, message)
        case .conflict(let message): ("conflict", nil, message)
        case .parked(let cause): ("parked", nil, cause)
        case .damaged(let message): ("damaged", nil, message)
        }
    }
}
