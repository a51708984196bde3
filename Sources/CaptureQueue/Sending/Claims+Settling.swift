import CaptureBundle
import Foundation
import GRDB
import QueueFiles
import QueueModel
import SystemPackage

extension Claims {
    /// Stores the result of an attempt.
    ///
    /// - Returns: nil if the claim has expired, or if the user changed the delivery. The attempt is recorded even then.
    func settle(
        _ claim: Claim, with outcome: SendOutcome, _ settling: AttemptContext, in db: Database
    ) throws -> AttemptResult? {
        let reading = try queue.clock.observe(db)
        let now = reading.time(in: settling.time)
        let held = try claim.held(db)
        try Self.close(claim, with: outcome, settling, isLate: held == nil, at: now.recordTime, db)
        let takenBack = try db.settle(settling, at: claim.destination, now)
        guard let delivery = held else {
            try claim.settleDoubt(outcome.leavesDoubt != nil, db)
            return nil
        }
        var (event, change) = try db.change(for: outcome, of: delivery, at: claim.destination, settling, by: reading)
        if case .parked(let cause, _) = outcome, try db.isCutShort(delivery) {
            change.failure = (RunOptions.cutShortCode, cause)
        }
        guard try db.apply(event, to: delivery, at: now.recordTime, change) else { return nil }
        let state = DeliveryStateMachine.next(delivery.state, event) ?? delivery.state
        return AttemptResult(state: state, dueAt: state == .failed ? change.due : nil, takenBack: takenBack)
    }

    /// Gives back a claim that was not used. The delivery keeps its place in the order.
    func giveBack(_ claim: Claim) throws { try queue.store.write { try giveBack(claim, $0) } }

    func giveBack(_ claim: Claim, cause: String = "not begun", _ db: Database) throws {
        let now = try queue.clock.recordTime(db)
        let outcome = SendOutcome.parked(cause: cause, isInDoubt: false)
        try Self.close(claim, with: outcome, AttemptContext(), isLate: false, at: now, db)
        if let delivery = try claim.held(db) {
            try db.giveBack(delivery, cause: cause, at: now)
        } else {
            try claim.settleDoubt(false, db)
        }
    }

    /// Sets damaged bytes aside. All deliveries of the capture then wait until the bytes are back.
    ///
    /// - Returns: nil if the claim has expired, or if the bytes have the right hash.
    func setAside(
        _ claim: Claim, after outcome: SendOutcome, _ message: String, at time: RunTime, in turn: QueueStore.WriterTurn
    ) throws -> AttemptResult? {
        let record = try queue.store.read { db -> CaptureRecord? in
            try claim.held(db).flatMap { _ in try CaptureRecord.one(db, sequence: claim.capture.sequence) }
        }
        guard let record, record.holding.hasBytes else { return nil }
        let fault = StoredBytesCheck(spool: queue.spool).check(record, reads: true).fault
        if case .absent(let root) = fault { return try postpone(claim, below: root, at: time, in: turn) }
        guard case .wrong(let kind, _) = fault else {
            // If the SHA-256 of the bytes is right, the tag is wrong.
            if fault == nil, record.tag != nil { try turn.write { try $0.dropTag(ofCapture: record.sequence) } }
            return nil
        }
        do { try queue.store.requireSpool() } catch {
            try turn.write { try giveBack(claim, $0) }
            throw error
        }
        try turn.write { db in
            try Self.close(claim, with: outcome, AttemptContext(), isLate: false, at: queue.clock.recordTime(db), db)
        }
        _ = try queue.setAside(record, kind, because: message, sender: claim.delivery, in: turn)
        return AttemptResult(state: .quarantined, dueAt: nil)
    }

    /// Gives back a claim whose bytes are absent because their folder is. Everything else in that folder waits too.
    private func postpone(
        _ claim: Claim, below root: FilePath, at time: RunTime, in turn: QueueStore.WriterTurn
    ) throws -> AttemptResult {
        try turn.write { db in
            try giveBack(claim, cause: Absence.message(root), db)
            let due = try queue.clock.observe(db).time(in: time).wall + Absence.pause
            try db.postpone(below: root, until: due)
            return AttemptResult(state: .pending, dueAt: due, absent: root)
        }
    }

    private static func close(
        _ claim: Claim, with outcome: SendOutcome, _ settling: AttemptContext, isLate: Bool, at now: Int, _ db: Database
    ) throws {
        let (word, code, message) = outcome.words
        let sent = settling.bytesSent ?? (word == "completed" ? claim.capture.byteCount : nil)
        try db.run(
            """
            UPDATE attempts SET started_at = coalesce(?, started_at), ended_at = ?, outcome = ?, code = ?, message = ?,
                bytes_sent = ? WHERE token = ? AND delivery = ?
            """,
            [
                settling.startedAt, now, isLate ? "late \(word)" : word, word == "parked" ? settling.stopCode : code,
                message, sent, Data(claim.token), claim.delivery.number,
            ])
    }

    /// Parks the delivery without counting the try. It then waits behind the deliveries that were not tried.
    fileprivate static func parking(
        _ outcome: SendOutcome, _ delivery: DeliveryRecord, at now: RunTime
    ) -> (DeliveryEvent, Database.DeliveryChange) {
        let (word, code, message) = outcome.words
        return (
            .park,
            .init(
                cause: message, due: now.wall, attempts: max(0, delivery.attempts - 1),
                failure: message.map { (code ?? word, $0) })
        )
    }

    /// - Parameter lived: how much of its lifetime the delivery has had, in milliseconds.
    fileprivate static func change(
        for outcome: SendOutcome, _ delivery: DeliveryRecord, after lived: @autoclosure () throws -> Int,
        at now: RunTime, _ retry: RetryPolicy
    ) throws -> (DeliveryEvent, Database.DeliveryChange) {
        switch outcome {
        case .completed(let receipt, let id, let url):
            return (
                .complete,
                .init(cause: "a receipt", completion: (now.recordTime, receipt), remoteID: id, remoteURL: url)
            )
        case .accepted(let id, let url):
            return (.accept, .init(due: now.wall + 1000, remoteID: id, remoteURL: url, polls: 0))
        case .failed(let code, let message), .unclear(let code, let message):
            var generator = SystemRandomNumberGenerator()
            guard let delay = retry.delay(afterAttempt: delivery.attempts, using: &generator) else {
                let cause = "attempt \(delivery.attempts) of \(retry.delays.count)"
                return (.reject, .init(cause: cause, failure: (code, "\(message); \(cause)")))
            }
            if try retry.isOver(after: .milliseconds(lived())) {
                let cause = "the lifetime of the capture has passed"
                return (.reject, .init(cause: cause, failure: (code, "\(message); \(cause)")))
            }
            return (.fail, .init(cause: message, due: now.wall + delay.milliseconds, failure: (code, message)))
        case .rejected(let code, let message):
            return (.reject, .init(cause: message, failure: (code, message)))
        case .conflict(let message):
            return (.conflict, .init(cause: message, failure: ("conflict", message)))
        case .parked(let cause, _):
            return (.park, .init(cause: cause, due: now.wall, attempts: max(0, delivery.attempts - 1)))
        case .blocked: return parking(outcome, delivery, at: now)
        case .damaged(let message):
            // `setAside` hashed the stored bytes again and found them intact, so the delivery waits. The try counts.
            return (.park, .init(cause: message, due: now.wall))
        }
    }
}

extension SendOutcome {
    /// Counts a block as a failed try, for use when the server accepts other captures meanwhile.
    fileprivate var counted: SendOutcome {
        guard case .blocked(let block) = self else { return self }
        let (code, message) = (block.code ?? block.reason.rawValue, block.message)
        return block.isInDoubt ? .unclear(code: code, message: message) : .failed(code: code, message: message)
    }
}

extension Database {
    /// Lets a delivery whose claim never began wait again. It keeps its place in the order.
    func giveBack(_ delivery: DeliveryRecord, cause: String, at now: Int) throws {
        _ = try apply(
            .park, to: delivery, at: now,
            .init(cause: cause, due: delivery.dueAt.milliseconds, attempts: max(0, delivery.attempts - 1)))
    }

    /// Stores what the end of a try means for the destination.
    ///
    /// - Returns: the captures that were refused for good and now wait again.
    func settle(_ settling: AttemptContext, at destination: Destination, _ now: RunTime) throws -> [CaptureRecord] {
        if let saved = settling.unsaved { try save(saved, ofDestination: destination.number) }
        return try settling.verdict.takenBack.compactMap { try takeBack($0, at: destination, now) }
    }

    /// Translates an outcome into an event and the values to store.
    func change(
        for outcome: SendOutcome, of delivery: DeliveryRecord, at destination: Destination, _ settling: AttemptContext,
        by reading: QueueClock.Reading
    ) throws -> (DeliveryEvent, DeliveryChange) {
        let now = reading.time(in: settling.time)
        let isOwn = try settling.refusal == .ofCapture || hasLandedElsewhere(outcome, delivery)
        var (event, change) =
            try isParked(outcome, of: delivery, at: destination, settling)
            ? Claims.parking(outcome, delivery, at: now)
            : Claims.change(
                for: isOwn ? outcome.counted : outcome, delivery, after: lived(delivery, reading), at: now,
                settling.retry)
        change.isInDoubt = outcome.leavesDoubt
        change.triedAt = now.recordTime
        if case .rejected = outcome { change.forgetsKey = true }
        return (event, change)
    }

    /// Whether the server asks to wait or has no room, although it accepted another capture since the last try of this
    /// one. For a member of a session, only captures outside that session count.
    private func hasLandedElsewhere(_ outcome: SendOutcome, _ delivery: DeliveryRecord) throws -> Bool {
        guard case .blocked(let block) = outcome, [.wait, .full].contains(block.reason), !block.isOfRate else {
            return false
        }
        let sql = """
            SELECT 1 FROM deliveries AS this JOIN deliveries AS other ON other.destination = this.destination
                AND other.completed_at > this.tried_at
            WHERE this.id = ? AND (this.session IS NULL OR other.session IS NOT this.session) LIMIT 1
            """
        return try integer(sql, [delivery.number]) != nil
    }

    /// Whether a delivery waits again without counting the try, because the destination is at fault.
    private func isParked(
        _ outcome: SendOutcome, of delivery: DeliveryRecord, at destination: Destination, _ settling: AttemptContext
    ) throws -> Bool {
        guard case .rejected = outcome else { return settling.verdict.isParked }
        guard settling.verdict.isParked || settling.isTakenBack else { return false }
        // If few captures wait, the refusals may be their own fault.
        let others = try integer(
            """
            SELECT count(*) FROM (
                SELECT 1 FROM deliveries WHERE destination = ?1 AND state IN ('pending', 'failed')
                UNION ALL SELECT 1 FROM deliveries WHERE destination = ?1 AND state = 'processing' AND id <> ?2
                LIMIT ?3)
            """, [destination.number, delivery.number, CircuitBreaker.leastCaptures])
        return (others ?? 0) + 1 >= CircuitBreaker.leastCaptures
    }

    /// The milliseconds that have elapsed since the push, or since the user last asked to send the delivery again.
    private func lived(_ delivery: DeliveryRecord, _ now: QueueClock.Reading) throws -> Int {
        try now.elapsed - (integer("SELECT elapsed_from FROM deliveries WHERE id = ?", [delivery.number]) ?? 0)
    }

    /// Whether the last three tries were stopped by the time limit of their runs.
    fileprivate func isCutShort(_ delivery: DeliveryRecord) throws -> Bool {
        let last = "SELECT code FROM attempts WHERE delivery = ? ORDER BY id DESC LIMIT 3"
        return try integer("SELECT count(*) FROM (\(last)) WHERE code = 'run.limit'", [delivery.number]) == 3
    }

    /// Lets a capture that was refused for good wait again.
    ///
    /// - Returns: nil if the user has changed the delivery meanwhile.
    private func takeBack(_ sequence: Int, at destination: Destination, _ now: RunTime) throws -> CaptureRecord? {
        let condition = "WHERE capture = ? AND destination = ? AND state = 'permanently_failed'"
        guard let delivery = try DeliveryRecord.all(self, condition, [sequence, destination.number]).first else {
            return nil
        }
        let failure = delivery.errorMessage.map { (delivery.errorCode ?? "", $0) }
        let isBack = try apply(
            .retry, to: delivery, at: now.recordTime,
            .init(
                cause: "the destination refuses everything", due: now.wall,
                attempts: max(0, delivery.attempts - 1), failure: failure))
        return isBack ? try CaptureRecord.one(self, sequence: sequence) : nil
    }
}

/// The result of an attempt, after it was stored.
struct AttemptResult {
    let state: DeliveryState
    /// When the next try is due; nil if there is none.
    let dueAt: Int?
    /// The folder that is absent with the bytes; nil if the bytes were there.
    var absent: FilePath?
    /// Captures that were refused for good and now wait again, because the destination refuses everything.
    var takenBack: [CaptureRecord] = []
}
