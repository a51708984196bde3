import CaptureBundle
import CaptureNative
import Foundation
import GRDB
import QueueModel
import QueueTransports

/// What came of a claim, once it is on the disk.
struct Settled {
    let state: DeliveryState
    /// When the next try is due, if one is.
    let dueAt: Int?
    /// Taken in the same transaction.
    let next: Claim?
}

/// How a claim is settled.
struct Settling {
    var retry = RetryPolicy.standard
    var bytesSent: Int?
    /// It is not earlier than this now.
    var floor = 0
    /// Whether the next delivery of the destination is claimed at once, and due before when.
    var claimsNext = false
    var dueBefore: Int?
}

extension UploadQueue {
    /// Writes down what came of a claim.
    ///
    /// - Returns: the state that the delivery is in now.
    /// - Throws: `claim.lost` when the claim is no longer good: the lease was over, or the user decided otherwise. The
    ///   attempt is recorded all the same.
    @discardableResult
    public func settle(_ claim: Claim, _ outcome: SendOutcome, retry: RetryPolicy = .standard) throws -> DeliveryState {
        try settle(claim, outcome, Settling(retry: retry)).state
    }

    func settle(_ claim: Claim, _ outcome: SendOutcome, _ settling: Settling) throws -> Settled {
        if case .damaged(let message) = outcome, try setAside(claim, outcome, message) {
            return Settled(state: .quarantined, dueAt: nil, next: nil)
        }
        let settled = try store.write { db -> (DeliveryRecord?, Claim?) in
            let now = max(try clock.stamp(db), settling.floor)
            let row = try db.row(
                "SELECT \(DeliveryRecord.columns) FROM deliveries WHERE id = ? AND token = ?",
                [claim.delivery.number, Data(claim.token)])
            try Self.close(claim, outcome, settling, isLate: row == nil, at: now, db)
            guard let row else { return (nil, nil) }
            let delivery = try DeliveryRecord(row: row)
            let (event, change) = Self.change(for: outcome, delivery, claim.capture, at: now, settling.retry)
            guard try db.apply(event, to: delivery, at: now, change) else { return (nil, nil) }
            let after = try db.row(
                "SELECT \(DeliveryRecord.columns) FROM deliveries WHERE id = ?", [claim.delivery.number]
            ).map { try DeliveryRecord(row: $0) }
            let next =
                settling.claimsNext
                ? try self.claim(for: claim.destination, dueBefore: settling.dueBefore, at: now, db) : nil
            return (after, next)
        }
        guard let delivery = settled.0 else {
            throw QueueError(.claimLost, "somebody else decided on it meanwhile", of: claim.capture.id)
        }
        return Settled(
            state: delivery.state, dueAt: delivery.state == .failed ? delivery.dueAt : nil, next: settled.1)
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
                // The bytes are right by their SHA-256, so it is the tag that is wrong.
                if record.tag != nil { try turn.write { try $0.dropTag(ofCapture: record.sequence) } }
                return false
            }
            try turn.write { db in
                try Self.close(claim, outcome, Settling(), isLate: false, at: clock.stamp(db), db)
            }
            _ = try QuarantineRoom(self).setAside(record, kind, message, turn)
            return true
        }
    }

    private static func close(
        _ claim: Claim, _ outcome: SendOutcome, _ settling: Settling, isLate: Bool, at now: Int, _ db: Database
    ) throws {
        let (word, code, message) = outcome.words
        let sent = settling.bytesSent ?? (word == "completed" ? claim.capture.byteCount : nil)
        try db.run(
            "UPDATE attempts SET ended_at = ?, outcome = ?, code = ?, message = ?, bytes_sent = ? WHERE token = ?"
                + " AND delivery = ?",
            [
                now, isLate ? "late \(word)" : word, code, message, sent, Data(claim.token), claim.delivery.number,
            ])
    }

    static func change(
        for outcome: SendOutcome, _ delivery: DeliveryRecord, _ capture: CaptureRecord, at now: Int,
        _ retry: RetryPolicy
    ) -> (DeliveryEvent, Database.DeliveryChange) {
        var (event, change) = plainChange(for: outcome, delivery, capture, at: now, retry)
        change.isInDoubt = outcome.leavesDoubt
        if case .rejected = outcome { change.idempotencyKey = .forgotten }
        return (event, change)
    }

    private static func plainChange(
        for outcome: SendOutcome, _ delivery: DeliveryRecord, _ capture: CaptureRecord, at now: Int,
        _ retry: RetryPolicy
    ) -> (DeliveryEvent, Database.DeliveryChange) {
        switch outcome {
        case .completed(let receipt, let id, let url):
            return (.complete, .init(cause: "a receipt", completion: (now, receipt), remoteID: id, remoteURL: url))
        case .accepted(let id, let url):
            return (.accept, .init(due: now + 1000, remoteID: id, remoteURL: url, polls: 0))
        case .failed(let code, let message), .unclear(let code, let message):
            var generator = SystemRandomNumberGenerator()
            guard let delay = retry.delayMilliseconds(afterAttempt: delivery.attempts, using: &generator) else {
                let cause = "attempt \(delivery.attempts) of \(retry.delays.count)"
                return (.reject, .init(cause: cause, failure: (code, "\(message); \(cause)")))
            }
            if retry.isOver(pushedAt: capture.pushedAt, endedAt: now) {
                let cause = "its lifetime is over"
                return (.reject, .init(cause: cause, failure: (code, "\(message); \(cause)")))
            }
            return (.fail, .init(cause: message, due: now + delay, failure: (code, message)))
        case .rejected(let code, let message):
            return (.reject, .init(cause: message, failure: (code, message)))
        case .conflict(let message):
            return (.conflict, .init(cause: message, failure: ("conflict", message)))
        case .parked(let cause, _):
            return (.park, .init(cause: cause, due: now, attempts: max(0, delivery.attempts - 1)))
        case .held(let hold):
            // It keeps its place in the line, unless it may be itself what the server does not like: another one is tried
            // the next time then.
            return (
                .park,
                .init(
                    cause: hold.message, due: hold.mayBeOfOne ? now : delivery.dueAt,
                    attempts: max(0, delivery.attempts - 1),
                    failure: (hold.code, hold.message))
            )
        case .damaged(let message):
            // Looked at again, they were well: a try that failed.
            return (.park, .init(cause: message, due: now))
        }
    }
}
