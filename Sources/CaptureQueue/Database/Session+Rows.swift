import GRDB
import QueueModel
import QueueTransports

extension Session {
    static func all(_ db: Database, _ condition: String = "", _ arguments: StatementArguments = []) throws -> [Session]
    {
        try db.rows("SELECT * FROM sessions \(condition) ORDER BY id", arguments).map { row in
            var members: [DeliveryState: Int] = [:]
            let counts = try db.rows(
                "SELECT state, count(*) AS members FROM captures WHERE session = ? GROUP BY state",
                [try row.needInteger("id")])
            for count in counts { members[try count.state("state")] = try count.needInteger("members") }
            return Session(
                name: try row.needText("name"), openedAt: try row.needInteger("opened_at"),
                endedAt: try row.integer("ended_at"), isIncomplete: try row.needInteger("incomplete") == 1,
                members: members, isTold: try row.text("marker") != nil)
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
