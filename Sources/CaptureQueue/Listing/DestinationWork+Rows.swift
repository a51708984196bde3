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
        let salvaged = totals.values.contains { $0[.held] != nil } ? try counted(salvagedDeliveries, db) : [:]
        let absent = try counted(absentDeliveries, db)
        let places: [Destination?] = try (totals[0] == nil ? [] : [nil]) + Destination.all(db)
        return try places.map { destination in
            let number = destination?.number ?? 0
            var work = DestinationWork(destination)
            work.totals = totals[number] ?? [:]
            (work.heldBySalvage, work.absent) = (salvaged[number] ?? 0, absent[number] ?? 0)
            work.doubtfulCopies = try destination.map { try doubtfulCopies($0, db) } ?? [:]
            if let destination, destination.isToldOfSessions { try work.addSessions(of: number, at: now, db) }
            guard DeliveryState.waiting.contains(where: { work.totals[$0] != nil }) else { return work }
            work.cutShort = try cutShort(number, db)
            work.oldestWaiting = try oldestWaiting(for: destination?.number, at: now, db)
            work.rate = try rate(of: number, at: now, db)
            return work
        }
    }

    private static let absentDeliveries = """
        deliveries INDEXED BY deliveries_absent WHERE error_code = 'source.absent' AND state IN ('pending', 'failed')
        """

    private static let salvagedDeliveries = """
        transitions AS salvage INDEXED BY transitions_salvaged JOIN deliveries ON deliveries.id = delivery
        WHERE cause IN ('salvaged', 'adopted') AND to_state = 'held' AND state = 'held' AND NOT EXISTS
            (SELECT 1 FROM transitions WHERE delivery = salvage.delivery AND event = 'hold')
        """

    /// By the number of the destination.
    private static func counted(_ deliveries: String, _ db: Database) throws -> [Int: Int] {
        try db.rows("SELECT coalesce(destination, 0) AS destination, count(*) AS number FROM \(deliveries) GROUP BY 1")
            .reduce(into: [:]) { $0[try $1.needInteger("destination")] = try $1.needInteger("number") }
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

    private mutating func addSessions(of number: Int, at now: Int, _ db: Database) throws {
        let untold = "SELECT count(*) FROM \(Session.untold) AND attempts >= ?"
        untoldSessions = try db.integer(untold, [number, Session.patience]) ?? 0
        dueSessions = try db.integer("SELECT count(*) FROM \(Session.reportable)", [number]) ?? 0
        oldestEnd = try db.row(Session.oldestEnd, [number]).map { row in
            let age = max(0, now - (try row.needInteger("since")))
            return .init(id: try row.needText("name"), pushedAt: try row.needTime("since"), age: .milliseconds(age))
        }
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

    /// What has waited for longest; nil if nothing may be sent yet.
    private static func oldestWaiting(for number: Int?, at now: Int, _ db: Database) throws -> QueueStatus.Waiting? {
        let oldest = try db.row(
            """
            SELECT captures.id AS id, pushed_at, waits_from
            FROM deliveries INDEXED BY deliveries_waiting CROSS JOIN captures ON seq = capture
            WHERE destination IS ? AND deliveries.state IN ('pending', 'failed', 'uploading', 'processing')
            ORDER BY waits_from LIMIT 1
            """, [number])
        // What an index lacks, no run finds.
        guard let oldest else { throw QueueError.corruptRecord("an index does not have the captures that wait") }
        let age = now - (try oldest.needInteger("waits_from"))
        return age < 0
            ? nil
            : .init(
                id: try oldest.needText("id"), pushedAt: try oldest.needTime("pushed_at"), age: .milliseconds(age))
    }

    /// From the last 50 deliveries at most: of a million, each is on pages of its own.
    private static func rate(of number: Int, at now: Int, _ db: Database) throws -> SendingRate? {
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
            (
                delivery: try row.needInteger("id"), bytes: try row.needInteger("bytes"),
                start: try row.needInteger("started_at"), end: try row.needInteger("ended_at")
            )
        }
        return SendingRate(landed)
    }
}

/// The deliveries that a run still has to complete.
public struct RunBacklog: Hashable, Sendable {
    public let deliveries: Int
    /// The total size of their bundles.
    public let bytes: Int

    /// The backlog after some of the deliveries were completed.
    public func without(_ landed: Int, bytes: Int) -> RunBacklog {
        RunBacklog(deliveries: max(0, deliveries - landed), bytes: max(0, self.bytes - bytes))
    }
}

extension UploadQueue.Destinations {
    /// Counts the deliveries that wait or are being sent: all of them, or those to one destination.
    ///
    /// - Parameter isDueNow: whether deliveries that are due later are left out.
    public func backlog(of name: String?, isDueNow: Bool) throws -> RunBacklog {
        try queue.store.read { db in
            let row = try db.row(
                """
                SELECT count(*) AS deliveries, coalesce(sum(captures.bytes), 0) AS bytes
                FROM destinations JOIN deliveries ON deliveries.destination = destinations.id
                    JOIN captures ON captures.seq = deliveries.capture
                WHERE (?1 IS NULL OR destinations.name = ?1) AND (deliveries.state = 'uploading'
                    OR deliveries.state IN ('pending', 'failed') AND (?2 IS NULL OR deliveries.due <= ?2))
                """, [name, isDueNow ? queue.clock.read(db).wall : nil])
            return RunBacklog(
                deliveries: try row?.needInteger("deliveries") ?? 0, bytes: try row?.needInteger("bytes") ?? 0)
        }
    }
}
