import CaptureBundle
import CaptureNative
import GRDB
import QueueModel
import QueueTransports
import SystemPackage

/// The notifications about the ends of sessions.
struct SessionOutbox {
    let queue: UploadQueue

    /// Claims the next notification about a session's end for a destination. The transaction that finds it also claims
    /// it, so that no two threads send it.
    ///
    /// - Returns: nil if there is none.
    func claim(for destination: Destination, at now: Int) throws -> SessionMarker? {
        // Read first, so that nothing is written if there is no notification.
        guard try isDue(for: destination, at: now) else { return nil }
        let random = try onFile("random numbers") { try RandomBytes.make(16) }
        return try queue.store.write { db in
            guard let found = try Self.dueSession(for: destination, at: now, db) else { return nil }
            let session = try found.needInteger("id")
            let number = destination.number
            try db.run(
                """
                INSERT INTO markers (session, destination, ended_at, end_number, key, due) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (session, destination) DO UPDATE SET ended_at = excluded.ended_at,
                    end_number = excluded.end_number, key = excluded.key, attempts = 0, due = excluded.due, sent_at = NULL,
                    answer = NULL, error = NULL WHERE markers.end_number <> excluded.end_number
                """,
                [
                    session, number, try found.needInteger("ended_at"), try found.needInteger("end_number"),
                    UUIDText.of(random, version: 4), now,
                ])
            let claimed = try db.row(
                """
                UPDATE markers SET is_claimed = 1, last_change = \(Migration11.lastChange) WHERE session = ? AND destination = ?
                RETURNING key, attempts
                """, [session, number])
            guard let claimed else { return nil }
            return SessionMarker(
                session: try found.needText("name"), sessionNumber: session, destination: number,
                key: try claimed.needText("key"), attempts: try claimed.needInteger("attempts"),
                body: try Self.body(found, Self.members(of: session, at: number, db)))
        }
    }

    /// Gives back notifications that a dead run had claimed. Only a run calls this, before it begins.
    func recover() throws {
        let claimed = try queue.store.read { try $0.integer("SELECT 1 FROM markers WHERE is_claimed = 1") }
        guard claimed != nil else { return }
        try queue.store.write { try $0.run("UPDATE markers SET is_claimed = 0") }
    }

    /// Whether a notification about a session's end is due for a destination.
    func isDue(for destination: Destination, at now: Int) throws -> Bool {
        try queue.store.read { try Self.dueSession(for: destination, at: now, $0) } != nil
    }

    /// Whether a run with `--until-empty` should still wait for a notification.
    func isWorthWaiting(for destination: Destination) throws -> Bool {
        guard try isDue(for: destination, at: .max) else { return false }
        return try queue.store.read {
            try $0.integer(
                "SELECT 1 FROM \(Session.untold) AND attempts < ?", [destination.number, Session.patience]) != nil
        }
    }

    private static func dueSession(for destination: Destination, at now: Int, _ db: Database) throws -> Row? {
        guard destination.isToldOfSessions else { return nil }
        return try db.row(
            """
            SELECT sessions.* FROM \(Session.reportable) AND (markers.key IS NULL OR markers.is_claimed = 0
                AND (markers.end_number <> sessions.end_number OR markers.due <= ?2))
            ORDER BY sessions.ended_at LIMIT 1
            """, [destination.number, now])
    }

    /// What has landed there, in the order of the pushes.
    private static func members(of session: Int, at destination: Int, _ db: Database) throws -> [Row] {
        try db.rows(
            """
            SELECT captures.id AS id, captures.sha256 AS sha256, deliveries.receipt AS receipt FROM captures
                JOIN deliveries ON deliveries.capture = captures.seq
            WHERE captures.session = ? AND deliveries.destination = ? AND deliveries.state = 'completed'
            ORDER BY coalesce(captures.order_after, captures.seq - 1), captures.order_position, captures.seq
            """, [session, destination])
    }

    private static func body(_ row: Row, _ members: [Row]) throws -> [UInt8] {
        CanonicalJSON.encode(
            .members([
                "session": .string(try row.needText("name")),
                "ended_at": CaptureTime(milliseconds: try row.needInteger("ended_at")).map { .string($0.description) },
                "incomplete": .bool(try row.needInteger("incomplete") == 1),
                "captures": .array(
                    try members.map { member in
                        // Use the receipt, because the queue may have another copy of the capture now.
                        let sent = try member.text("receipt").flatMap(Receipt.sha256) ?? member.digest("sha256")
                        return .members(["id": .string(try member.needText("id")), "sha256": .string(sent.description)])
                    }),
            ]))
    }

    /// Stores the answer of the destination.
    ///
    /// - Parameter retry: the retry policy of the destination. Its last delay repeats.
    func settle(
        _ marker: SessionMarker, with result: Result<String, SendOutcome>, retry: RetryPolicy, time: RunTime,
        in turn: QueueStore.WriterTurn
    ) throws {
        try turn.write { db in
            let now = try queue.clock.observe(db).time(in: time)
            switch result {
            case .success(let answer):
                try db.run(
                    """
                    UPDATE markers SET sent_at = ?, answer = ?, error = NULL, attempts = attempts + 1, is_claimed = 0
                    WHERE session = ? AND destination = ? AND key = ?
                    """, [now.recordTime, answer, marker.sessionNumber, marker.destination, marker.key])
                // Meanwhile the session may have been reopened and ended again, or another member may have landed.
                try db.run(
                    """
                    UPDATE sessions SET marker = ?1 WHERE id = ?2 AND ended_at IS NOT NULL AND end_number =
                        (SELECT end_number FROM markers WHERE session = ?2 AND destination = ?3)
                    """, [answer, marker.sessionNumber, marker.destination])
            case .failure(let trouble):
                let delay = retry.delay(afterAttempt: marker.attempts + 1) ?? retry.delays.last ?? .zero
                let asked = if case .blocked(let block) = trouble { block.pause ?? .zero } else { Duration.zero }
                try db.run(
                    """
                    UPDATE markers SET attempts = attempts + 1, due = ?, error = ?, is_claimed = 0
                    WHERE session = ? AND destination = ? AND key = ?
                    """,
                    [
                        now.wall + max(1000, delay.milliseconds, asked.milliseconds), trouble.trouble ?? "",
                        marker.sessionNumber, marker.destination, marker.key,
                    ])
            }
        }
    }

    /// When the next notification of a destination is due; nil if there is none.
    func nextDue(for destination: Destination) throws -> Int? {
        guard destination.isToldOfSessions else { return nil }
        return try queue.store.read { try $0.integer("SELECT min(due) FROM \(Session.untold)", [destination.number]) }
    }
}

extension UploadQueue.Sessions {
    /// Whether any destination still has to be notified of a session's end.
    ///
    /// - Parameter name: the destination to ask about; nil for all of them.
    public func hasUntold(destination name: String? = nil) throws -> Bool {
        try queue.destinations.list().contains {
            try (name == nil || $0.name == name) && SessionOutbox(queue: queue).isDue(for: $0, at: .max)
        }
    }
}

/// The notification of one destination that a session has ended (Spec/queue.md section 9).
struct SessionMarker {
    let session: String
    let sessionNumber: Int
    let destination: Int
    let key: String
    let attempts: Int
    let body: [UInt8]
}
