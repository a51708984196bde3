import GRDB
import QueueModel

extension Session {
    /// The SQL condition for a session that is due: it has ended, and every member has landed. It needs only indexes,
    /// because a session may have a million members.
    static let due = """
        (sessions.ended_at IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM captures WHERE session = sessions.id
                AND state IN ('pending', 'uploading', 'processing', 'failed', 'held'))
            AND (incomplete = 1 OR NOT EXISTS (SELECT 1 FROM captures WHERE session = sessions.id
                AND state IN ('permanently_failed', 'conflict', 'quarantined', 'cancelled'))))
        """

    /// The notifications that a destination has not accepted yet, for `FROM`.
    static let untold = """
        markers JOIN sessions ON sessions.id = markers.session
        WHERE destination = ? AND sent_at IS NULL AND markers.ended_at = sessions.ended_at AND \(due)
        """

    /// How often a run with `--until-empty` tries one notification. The next run continues.
    static let patience = 5

    static func all(_ db: Database, _ condition: String = "", _ arguments: StatementArguments = []) throws -> [Session]
    {
        try db.rows("SELECT *, \(due) AS is_due FROM sessions \(condition) ORDER BY id", arguments).map { row in
            let members = try db.counts(
                "SELECT state, count(*) AS captures FROM captures WHERE session = ? GROUP BY state",
                [try row.needInteger("id")])
            return Session(
                name: try row.needText("name"), openedAt: try row.needInteger("opened_at"),
                endedAt: try row.integer("ended_at"), isIncomplete: try row.needInteger("incomplete") == 1,
                isDue: try row.needInteger("is_due") == 1, members: members, isTold: try row.text("marker") != nil)
        }
    }
}
