import CaptureBundle
import CaptureNative
import Foundation
import GRDB
import QueueFiles
package import QueueModel
import QueueTransports
import SystemPackage

extension Claim {
    /// The delivery as it is now; nil if the user changed it.
    func held(_ db: Database) throws -> DeliveryRecord? {
        try DeliveryRecord.all(
            db, "WHERE id = ? AND token = ? AND state = 'uploading'", [delivery.number, Data(token)]
        ).first
    }

    /// Settles the doubt that is left by whoever interrupted this claim. A doubt from an earlier claim stays, and so does
    /// any doubt if the delivery was claimed again.
    func settleDoubt(_ isInDoubt: Bool, _ db: Database) throws {
        try db.run(
            """
            UPDATE deliveries SET in_doubt = ?, token = NULL
            WHERE id = ? AND token = ? AND state <> 'uploading'
            """, [isInDoubt, delivery.number, Data(token)])
    }
}

/// The claims of this process, and the order in which deliveries are claimed.
package struct Claims {
    let queue: UploadQueue

    package init(_ queue: UploadQueue) { self.queue = queue }

    /// Claims the next due delivery for a destination: untried before tried, then the highest priority, then the one
    /// that has been due for longest (Spec/queue.md section 6).
    ///
    /// - Parameters:
    ///   - before: Unix milliseconds; only deliveries that were due before are claimed. nil for all that are due now.
    ///   - time: the time of a run; nil for the clocks of the queue.
    /// - Returns: nil if nothing is due.
    package func next(
        for destination: Destination, dueBefore before: Int? = nil, time: RunTime? = nil
    ) throws -> Claim? {
        try queue.store.write { db in
            try next(for: destination, dueBefore: before, at: queue.clock.observe(db).time(in: time), db)
        }
    }

    /// Whether `next` would find a delivery.
    func isSomethingDue(for destination: Destination, dueBefore before: Int?, at now: Int) throws -> Bool {
        try queue.store.read { db in try Self.first(for: destination, due: min(before ?? now, now), db) != nil }
    }

    /// Whether a claim may still begin: nobody has changed its delivery, no other open member of its session is before it, and
    /// no delivery of a higher priority is due.
    ///
    /// - Parameter sent: what was sent before it, whose result may not be stored yet.
    func isStillNext(_ claim: Claim, after sent: Claim?, dueBefore before: Int?, at now: Int) throws -> Bool {
        // -100 is below all priorities, because deliveries that were tried come after all others.
        let ownPriority = """
            SELECT iif(tried_at IS NULL, priority, -100) FROM deliveries WHERE id = ? AND (is_behind = 0 OR id = ?)
            """
        return try queue.store.read { db in
            guard try claim.held(db) != nil,
                let own = try db.integer(ownPriority, [claim.delivery.number, Self.member(after: sent, db)])
            else { return false }
            return try Self.byPriority(claim.destination, db) { priority in
                try priority > own
                    ? Self.first(of: priority, for: claim.destination, due: min(before ?? now, now), db) : nil
            } == nil
        }
    }

    /// Claims the next due delivery, as the other `next`.
    ///
    /// - Parameter sent: what the lane sends now; the next member of its session may be claimed, too.
    func next(
        for destination: Destination, after sent: Claim? = nil, dueBefore before: Int?, at now: RunTime, _ db: Database
    ) throws -> Claim? {
        let due = min(before ?? now.wall, now.wall)
        // The order of `first`.
        let earlier = """
            SELECT id FROM deliveries WHERE id IN (?, ?) AND state IN ('pending', 'failed') AND due <= ?
            ORDER BY tried_at IS NOT NULL, iif(tried_at IS NULL, -priority, 0), due, id LIMIT 1
            """
        while true {
            var number = try Self.first(for: destination, due: due, db)
            if let member = try Self.member(after: sent, db) {
                number = try db.integer(earlier, [number, member, due])
            }
            guard let number else { return nil }
            if let claim = try take(number, for: destination, at: now.recordTime, db) { return claim }
        }
    }

    /// The first open member of the session of `sent` at its destination, apart from `sent` while that is claimed; nil without
    /// a session.
    private static func member(after sent: Claim?, _ db: Database) throws -> Int? {
        guard let sent, sent.capture.session != nil else { return nil }
        let sql = """
            SELECT id FROM deliveries INDEXED BY deliveries_session
            WHERE destination = ?1 AND session = (SELECT session FROM deliveries WHERE id = ?2)
                AND state IN ('pending', 'failed', 'uploading') AND NOT (id = ?2 AND state = 'uploading' AND token = ?3)
            ORDER BY \(SessionOrder.columns) LIMIT 1
            """
        return try db.integer(sql, [sent.destination.number, sent.delivery.number, Data(sent.token)])
    }

    /// What waits for a destination and is not behind an earlier member of its session (SessionOrder).
    private static let waiting = "destination = ? AND state IN ('pending', 'failed') AND is_behind = 0"
    private static let untried = "\(waiting) AND tried_at IS NULL"
    private static let tried = "\(waiting) AND tried_at IS NOT NULL"
    private static let undecided = "destination = ? AND state = 'processing'"

    /// Finds the first due delivery of the highest priority that has one. If all were tried before, the one that has
    /// been due for longest comes next, whatever its priority.
    private static func first(for destination: Destination, due: Int, _ db: Database) throws -> Int? {
        let sql = "SELECT id FROM deliveries WHERE \(tried) AND due <= ? ORDER BY due, id LIMIT 1"
        return try byPriority(destination, db) { try first(of: $0, for: destination, due: due, db) }
            ?? db.integer(sql, [destination.number, due])
    }

    private static func first(of priority: Int, for destination: Destination, due: Int, _ db: Database) throws -> Int? {
        let sql = "SELECT id FROM deliveries WHERE \(untried) AND priority = ? AND due <= ? ORDER BY due, id LIMIT 1"
        return try db.integer(sql, [destination.number, priority, due])
    }

    /// Calls `find` for each priority of a delivery that was not tried, the highest first, until it finds something.
    /// Each call is one search in an index, so deliveries that are due later cost nothing.
    private static func byPriority(
        _ destination: Destination, _ db: Database, find: (Int) throws -> Int?
    ) throws -> Int? {
        let lower = "SELECT priority FROM deliveries WHERE \(untried) AND priority < ? ORDER BY priority DESC LIMIT 1"
        var priority = Priority.range.upperBound + 1
        while let next = try db.integer(lower, [destination.number, priority]) {
            priority = next
            if let found = try find(priority) { return found }
        }
        return nil
    }

    /// When the next delivery to a destination becomes due after `now`; nil if there is none.
    func nextDue(for destination: Destination, after now: Int) throws -> Int? {
        try queue.store.read { db in
            let next = "due > ? ORDER BY due LIMIT 1"
            var found = [
                try db.integer("SELECT min(due) FROM deliveries WHERE \(Self.undecided)", [destination.number]),
                try db.integer(
                    "SELECT due FROM deliveries WHERE \(Self.tried) AND \(next)", [destination.number, now]),
            ]
            _ = try Self.byPriority(destination, db) { priority in
                found.append(
                    try db.integer(
                        "SELECT due FROM deliveries WHERE \(Self.untried) AND priority = ? AND \(next)",
                        [destination.number, priority, now]))
                return nil
            }
            return found.compactMap(\.self).min()
        }
    }

    private func take(_ number: Int, for destination: Destination, at now: Int, _ db: Database) throws -> Claim? {
        let captures = try CaptureRecord.all(db, "WHERE seq = (SELECT capture FROM deliveries WHERE id = ?)", [number])
        guard let capture = captures.first, var delivery = capture.deliveries.first(where: { $0.number == number })
        else { throw QueueError.corruptRecord("a delivery has no row, or no capture") }
        guard capture.holding.hasBytes else {
            _ = try db.apply(.damage, to: delivery, at: now, .init(cause: "bytes are \(capture.holdingWords)"))
            return nil
        }
        let token = BegunClaims.number + (try onFile("random numbers") { try RandomBytes.make(8) })
        let attempt = delivery.attempts + 1
        // The key stays the same for all attempts and restarts, so that a server can ignore repetitions.
        let key =
            try delivery.idempotencyKey
            ?? UUIDText.of(onFile("random numbers") { try RandomBytes.make(16) }, version: 4)
        let claimed = try db.apply(
            .claim, to: delivery, at: now,
            .init(
                cause: "attempt \(attempt)", attempts: attempt, token: token, idempotencyKey: key,
                isOnlyDelivery: capture.deliveries.count == 1))
        guard claimed else { return nil }
        try db.run(
            "INSERT INTO attempts (delivery, number, token, started_at) VALUES (?, ?, ?, ?)",
            [number, attempt, Data(token), now])
        (delivery.state, delivery.attempts, delivery.idempotencyKey) = (.uploading, attempt, key)
        (delivery.completedAt, delivery.errorCode, delivery.errorMessage) = (nil, nil, nil)
        let place = try destination.knownPlace(of: capture).map { place in
            try DeliveryRecords(queue: queue, capture: capture, delivery: delivery, token: token)
                .take(place, for: capture.sha256, db)
        }
        return Claim(capture: capture, delivery: delivery, destination: destination, token: token, place: place)
    }

    /// Whether deliveries can be sent or decided without the user. Absent files, and members behind them, cannot.
    func hasWork(for destination: Destination) throws -> Bool {
        try queue.store.read { db in
            let isThere = "error_code IS NOT '\(Absence.code)'"
            return try ["\(Self.untried) AND \(isThere)", "\(Self.tried) AND \(isThere)", Self.undecided].contains {
                try db.integer("SELECT 1 FROM deliveries WHERE \($0) LIMIT 1", [destination.number]) != nil
            }
        }
    }

    /// Returns the claims that are no longer valid: the delivery was held, cancelled, or settled by another process.
    func lost(_ claims: [Claim]) throws -> [Claim] {
        try queue.store.read { db in try claims.filter { try $0.held(db) == nil } }
    }
}
