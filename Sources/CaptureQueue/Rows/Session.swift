public import CaptureBundle
import GRDB
public import QueueModel

/// A group of captures that belong together (Spec/queue.md section 9).
public struct Session: Hashable, Sendable {
    public let name: String
    public let openedAt: CaptureTime
    public let endedAt: CaptureTime?
    /// Whether members that failed or were cancelled count as landed.
    public let isIncomplete: Bool
    /// Whether the session has ended and every member has landed.
    public let isDue: Bool
    public let members: [DeliveryState: Int]
    /// Whether a destination was notified of the end of the session and accepted that.
    public let isTold: Bool

    /// The number of members that have not landed yet.
    public var unlanded: Int {
        let landed: Set<DeliveryState> =
            isIncomplete ? [.completed, .permanentlyFailed, .conflict, .quarantined, .cancelled] : [.completed]
        return members.reduce(0) { landed.contains($1.key) ? $0 : $0 + $1.value }
    }

    public var landed: Int { members[.completed] ?? 0 }

    public var count: Int { members.values.reduce(0, +) }
}

extension Session {
    /// The members that have not landed, for `FROM`. Only this index is read, because a session may have a million members.
    private static let unlanded = "captures INDEXED BY captures_unlanded WHERE state <> 'completed' AND session"

    /// The SQL condition for a session that is due: it has ended, and every member has landed.
    static let due = """
        (sessions.ended_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(unlanded) = sessions.id AND (incomplete = 0
            OR state IN ('pending', 'uploading', 'processing', 'failed', 'held'))))
        """

    /// The notifications that a destination has not accepted yet, for `FROM`.
    static let untold = """
        markers JOIN sessions ON sessions.id = markers.session
        WHERE destination = ? AND sent_at IS NULL AND markers.end_number = sessions.end_number AND \(due)
        """

    /// The sessions of which a destination has captures, and whose last end it has not accepted, for `FROM`.
    private static let unaccepted = """
        sessions LEFT JOIN markers ON markers.session = sessions.id AND markers.destination = ?1
        WHERE sessions.ended_at IS NOT NULL AND (markers.key IS NULL OR markers.sent_at IS NULL
            OR markers.end_number <> sessions.end_number)
        AND EXISTS (SELECT 1 FROM captures JOIN deliveries ON deliveries.capture = captures.seq
            WHERE captures.session = sessions.id AND deliveries.destination = ?1 AND deliveries.state = 'completed')
        """

    /// Of these, the ones that a destination can be notified of, for `FROM`.
    static let reportable = "\(unaccepted) AND \(due)"

    /// The one of these that has waited for longest: since its end, or since the last member landed there.
    static let oldestEnd = """
        SELECT name, max(sessions.ended_at, coalesce((SELECT completed_at FROM deliveries INDEXED BY deliveries_landed
            WHERE destination = ?1 AND completed_at IS NOT NULL AND session = sessions.id
            ORDER BY completed_at DESC LIMIT 1), 0)) AS since FROM \(reportable) ORDER BY since LIMIT 1
        """

    /// Of these, the ones that are never due, because a member was cancelled, for `FROM`.
    static let keptBack = """
        \(unaccepted) AND incomplete = 0 AND EXISTS (SELECT 1 FROM \(unlanded) = sessions.id AND state = 'cancelled')
        """

    /// How often a run with `--until-empty` tries one notification. The next run continues.
    static let patience = 5

    static func all(_ db: Database, _ condition: String = "", _ arguments: StatementArguments = []) throws -> [Session]
    {
        try db.rows("SELECT *, \(due) AS is_due FROM sessions \(condition) ORDER BY id", arguments).map { row in
            let number = try row.needInteger("id")
            var members = try db.counts(
                "SELECT state, count(*) AS captures FROM \(unlanded) = ? GROUP BY state", [number])
            let all = try db.integer("SELECT count(*) FROM captures WHERE session = ?", [number]) ?? 0
            let landed = all - members.values.reduce(0, +)
            if landed > 0 { members[.completed] = landed }
            return Session(
                name: try row.needText("name"), openedAt: try row.needTime("opened_at"),
                endedAt: try row.time("ended_at"), isIncomplete: try row.needInteger("incomplete") == 1,
                isDue: try row.needInteger("is_due") == 1, members: members, isTold: try row.text("marker") != nil)
        }
    }
}

extension Traffic {
    /// What was sent to a destination that was removed since is counted with what has no destination, so that two of them are
    /// not two series of one name.
    static func all(_ db: Database) throws -> [Traffic] {
        let counts = try byPlace(
            """
            SELECT coalesce(id, 0) AS place, outcome, coalesce(name, '') AS name, sum(attempts) AS attempts,
                sum(bytes) AS bytes, sum(milliseconds) AS milliseconds
            FROM traffic LEFT JOIN destinations ON id = destination GROUP BY 1, 2 ORDER BY 1, 2
            """, db)
        let latencies = try byPlace(
            """
            SELECT coalesce(id, 0) AS place, at_most, sum(attempts) AS attempts
            FROM latency LEFT JOIN destinations ON id = destination GROUP BY 1, 2 ORDER BY 1, 2
            """, db)
        return try counts.sorted { $0.key < $1.key }.map { place, rows in
            var attempts = 0
            return Traffic(
                destination: try rows.last?.needText("name") ?? "",
                counts: try rows.map { row in
                    Count(
                        outcome: try row.needText("outcome"), attempts: try row.needInteger("attempts"),
                        bytes: try row.needInteger("bytes"), time: .milliseconds(try row.needInteger("milliseconds")))
                },
                latencies: try (latencies[place] ?? []).map { row in
                    attempts += try row.needInteger("attempts")
                    return Latency(atMost: .milliseconds(try row.needInteger("at_most")), attempts: attempts)
                })
        }
    }

    private static func byPlace(_ sql: String, _ db: Database) throws -> [Int: [Row]] {
        try Dictionary(grouping: db.rows(sql)) { try $0.needInteger("place") }
    }
}
