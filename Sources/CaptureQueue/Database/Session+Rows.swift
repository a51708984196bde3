import GRDB
import QueueModel
import QueueTransports

extension Session {
    /// The one place that says when a session is due: it has ended, and every member has landed. By index alone: a session
    /// may have a million members.
    static let due = """
        (sessions.ended_at IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM captures WHERE session = sessions.id
                AND state IN ('pending', 'uploading', 'processing', 'failed', 'held'))
            AND (incomplete = 1 OR NOT EXISTS (SELECT 1 FROM captures WHERE session = sessions.id
                AND state IN ('permanently_failed', 'conflict', 'quarantined', 'cancelled'))))
        """

    static func all(_ db: Database, _ condition: String = "", _ arguments: StatementArguments = []) throws -> [Session]
    {
        try db.rows("SELECT *, \(due) AS is_due FROM sessions \(condition) ORDER BY id", arguments).map { row in
            var members: [DeliveryState: Int] = [:]
            let counts = try db.rows(
                "SELECT state, count(*) AS members FROM captures WHERE session = ? GROUP BY state",
                [try row.needInteger("id")])
            for count in counts { members[try count.state("state")] = try count.needInteger("members") }
            return Session(
                name: try row.needText("name"), openedAt: try row.needInteger("opened_at"),
                endedAt: try row.integer("ended_at"), isIncomplete: try row.needInteger("incomplete") == 1,
                isDue: try row.needInteger("is_due") == 1, members: members, isTold: try row.text("marker") != nil)
        }
    }
}

extension UploadQueue {
    public func sessions() throws -> [Session] { try store.read { try Session.all($0) } }

    /// Marks a session ended: no capture joins it any more, and it is due once all its members have landed.
    ///
    /// - Parameter isIncomplete: whether members that failed or were cancelled count as landed.
    /// - Throws: `session.unknown`.
    @discardableResult
    public func endSession(_ name: String, isIncomplete: Bool = false) throws -> Session {
        try store.write { db in
            let now = try clock.stamp(db)
            try db.run(
                """
                UPDATE sessions SET ended_at = coalesce(ended_at, ?), incomplete = max(incomplete, ?) WHERE name = ?
                """, [now, isIncomplete ? 1 : 0, name])
            guard let session = try Session.all(db, "WHERE name = ?", [name]).first else {
                throw QueueError(.sessionUnknown, "no such session", of: name)
            }
            return session
        }
    }
}
