import GRDB
import QueueModel
import QueueTransports

extension DestinationWork {
    /// Only what landed since then counts for the rate: six hours, in milliseconds.
    private static let lately = 6 * 3_600_000

    /// All destinations in the order in which they were added; before them the captures without one, where there are any.
    static func all(_ db: Database, at now: Int) throws -> [DestinationWork] {
        var totals: [Int: [DeliveryState: QueueStatus.Total]] = [:]
        for row in try db.rows("SELECT *, deliveries AS captures FROM delivery_totals WHERE deliveries > 0") {
            totals[try row.needInteger("destination"), default: [:]][try row.state("state")] = try .init(row: row)
        }
        let salvaged = try heldBySalvage(db, isNeeded: totals.values.contains { $0[.held] != nil })
        let absent = try absent(db)
        return try ((totals[0] == nil ? [] : [nil]) + Destination.all(db)).map {
            try work(of: $0, totals, salvaged, absent, db, now)
        }
    }

    /// By the number of the destination.
    private static func absent(_ db: Database) throws -> [Int: Int] {
        try counted(
            """
            deliveries INDEXED BY deliveries_absent WHERE error_code = 'source.absent' AND state IN ('pending', 'failed')
            """, db)
    }

    private static func counted(_ deliveries: String, _ db: Database) throws -> [Int: Int] {
        try db.rows("SELECT coalesce(destination, 0) AS destination, count(*) AS number FROM \(deliveries) GROUP BY 1")
            .reduce(into: [:]) { $0[try $1.needInteger("destination")] = try $1.needInteger("number") }
    }

    private static func work(
        of destination: Destination?, _ totals: [Int: [DeliveryState: QueueStatus.Total]], _ salvaged: [Int: Int],
        _ absent: [Int: Int], _ db: Database, _ now: Int
    ) throws -> DestinationWork {
        let number = destination?.number ?? 0
        let own = totals[number] ?? [:]
        let waits = DeliveryState.waiting.contains { own[$0] != nil }
        var work = DestinationWork(destination)
        work.totals = own
        (work.heldBySalvage, work.absent) = (salvaged[number] ?? 0, absent[number] ?? 0)
        work.doubtfulCopies = try destination.map { try doubtfulCopies($0, db) } ?? [:]
        if let destination, destination.isToldOfSessions { try work.addSessions(destination.number, db) }
        guard waits else { return work }
        work.cutShort = try cutShort(number, db)
        work.oldestWaiting = try oldestWaiting(destination?.number, db, now)
        work.rate = try rate(number, db, now)
        return work
    }

    /// By the number of the destination.
    private static func heldBySalvage(_ db: Database, isNeeded: Bool) throws -> [Int: Int] {
        guard isNeeded else { return [:] }
        return try counted(
            """
            transitions AS salvage INDEXED BY transitions_salvaged JOIN deliveries ON deliveries.id = delivery
            WHERE cause IN ('salvaged', 'adopted') AND to_state = 'held' AND state = 'held' AND NOT EXISTS
                (SELECT 1 FROM transitions WHERE delivery = salvage.delivery AND event = 'hold')
            """, db)
    }

    private static func doubtfulCopies(_ destination: Destination, _ db: Database) throws -> [CopyDoubt: Int] {
        guard destination.kind == Destination.Kind.folder.rawValue else { return [:] }
        let sql =
            "SELECT copy, count(*) AS number FROM deliveries WHERE destination = ? AND copy IS NOT NULL GROUP BY copy"
        return try db.rows(sql, [destination.number]).reduce(into: [:]) { found, row in
            if let doubt = CopyDoubt(rawValue: try row.needText("copy")) {
                found[doubt] = try row.needInteger("number")
            }
        }
    }

    private mutating func addSessions(_ number: Int, _ db: Database) throws {
        let untold = "SELECT count(*) FROM \(Session.untold) AND attempts >= ?"
        untoldSessions = try db.integer(untold, [number, Session.patience]) ?? 0
        dueSessions = try db.integer("SELECT count(*) FROM \(Session.reportable)", [number]) ?? 0
        keptBackSessions = try db.mapped("SELECT name FROM \(Session.keptBack)", [number]) { try $0.needText("name") }
    }

    private static func cutShort(_ number: Int, _ db: Database) throws -> QueueStatus.CutShort? {
        let row = try db.row(
            """
            SELECT count(*) AS captures, max(error_message) AS message FROM deliveries INDEXED BY deliveries_cut_short
            WHERE destination = ? AND error_code = 'run.limit' AND state = 'pending'
            """, [number])
        return try row?.text("message").map { .init(captures: try row?.needInteger("captures") ?? 0, message: $0) }
    }

    /// What has waited for longest, of what may be sent: a capture waits from its push on, or from its `not_before`.
    private static func oldestWaiting(_ number: Int?, _ db: Database, _ now: Int) throws -> QueueStatus.Waiting? {
        let waits = "deliveries.state IN ('pending', 'failed', 'uploading', 'processing')"
        let plain = try db.row(
            """
            SELECT captures.id AS id, pushed_at, pushed_at AS since
            FROM deliveries INDEXED BY deliveries_waiting CROSS JOIN captures ON seq = capture
            WHERE destination IS ? AND \(waits) AND captures.not_before IS NULL ORDER BY capture LIMIT 1
            """, [number])
        let deferred = try db.row(
            """
            SELECT captures.id AS id, pushed_at, max(pushed_at, captures.not_before) AS since
            FROM captures INDEXED BY captures_deferred CROSS JOIN deliveries ON capture = seq
            WHERE captures.not_before <= ? AND captures.state NOT IN ('completed', 'cancelled') AND destination IS ? AND \(waits)
            ORDER BY since LIMIT 1
            """, [now, number])
        let oldest = try [plain, deferred].compactMap(\.self).min {
            try $0.needInteger("since") < $1.needInteger("since")
        }
        guard let oldest else { return nil }
        return .init(
            id: try oldest.needText("id"), pushedAt: try oldest.needTime("pushed_at"),
            age: .milliseconds(max(0, now - (try oldest.needInteger("since")))))
    }

    /// From the last 50 deliveries at most: of a million, each is on pages of its own.
    private static func rate(_ number: Int, _ db: Database, _ now: Int) throws -> SendingRate? {
        let landed = try db.mapped(
            """
            SELECT landed.id AS id, bytes, started_at, attempts.ended_at AS ended_at
            FROM (SELECT id, capture FROM deliveries INDEXED BY deliveries_landed
                WHERE destination = ? AND completed_at IS NOT NULL AND completed_at > ?
                ORDER BY completed_at DESC LIMIT 50) AS landed
            JOIN captures ON seq = capture JOIN attempts ON attempts.delivery = landed.id
            WHERE attempts.ended_at IS NOT NULL
            """, [number, now - lately]
        ) { row in
            SendingRate.Attempt(
                delivery: try row.needInteger("id"), bytes: try row.needInteger("bytes"),
                start: try row.needInteger("started_at"), end: try row.needInteger("ended_at"))
        }
        return SendingRate(landed)
    }
}
