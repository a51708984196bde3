import CaptureBundle
import CaptureNative
import CurlClient
import Foundation
import GRDB
import QueueModel
import QueueTransports
import SystemPackage

extension UploadQueue {
    /// Takes the session's end that a destination has to be told next. Its row is claimed in the transaction that finds it due,
    /// so that no two lanes tell it.
    ///
    /// - Returns: nil when there is none.
    func claimSessionEnd(for destination: Destination, at now: Int) throws -> SessionMarker? {
        // Looked for first, so that nothing is written where there is nothing to tell.
        guard try isMarkerDue(for: destination, at: now) else { return nil }
        let random = try onFile("random numbers") { () throws(NativeError) in try RandomBytes.make(16) }
        return try store.write { db in
            guard let found = try Self.dueSession(for: destination, at: now, db) else { return nil }
            let session = try found.needInteger("id")
            let number = destination.number
            try db.run(
                """
                INSERT INTO markers (session, destination, ended_at, key, due) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (session, destination) DO UPDATE SET ended_at = excluded.ended_at, key = excluded.key,
                    attempts = 0, due = excluded.due, sent_at = NULL, answer = NULL, error = NULL
                    WHERE markers.ended_at <> excluded.ended_at
                """, [session, number, try found.needInteger("ended_at"), UUIDText.of(random, version: 4), now])
            try db.run(
                "UPDATE markers SET is_claimed = 1 WHERE session = ? AND destination = ?", [session, number])
            guard
                let row = try db.row(
                    "SELECT * FROM markers WHERE session = ? AND destination = ?", [session, number])
            else { return nil }
            return SessionMarker(
                session: try found.needText("name"), sessionNumber: session, destination: number,
                key: try row.needText("key"), attempts: try row.needInteger("attempts"),
                body: try Self.body(found, session, number, db))
        }
    }

    /// Gives back what a run that is dead had claimed. Only the run calls this, before it begins.
    func recoverSessionEnds() throws {
        let claimed = try store.read { try $0.integer("SELECT 1 FROM markers WHERE is_claimed = 1") }
        guard claimed != nil else { return }
        try store.write { try $0.run("UPDATE markers SET is_claimed = 0") }
    }

    /// Whether a destination has to be told of a session's end now.
    func isMarkerDue(for destination: Destination, at now: Int) throws -> Bool {
        try store.read { try Self.dueSession(for: destination, at: now, $0) } != nil
    }

    /// Whether a destination has not been told of a session's end that it should know of.
    public func hasUntoldSessions() throws -> Bool {
        try destinations().contains { try isMarkerDue(for: $0, at: .max) }
    }

    /// How often a run that ends when all is done tells of an end that is not taken; the next run goes on.
    private static let patience = 5

    /// Whether a run that ends when all is done still waits to tell.
    func isMarkerWorthWaiting(for destination: Destination) throws -> Bool {
        guard try isMarkerDue(for: destination, at: .max) else { return false }
        return try store.read {
            try $0.integer(
                """
                SELECT 1 FROM markers JOIN sessions ON sessions.id = markers.session
                WHERE destination = ? AND sent_at IS NULL AND markers.ended_at = sessions.ended_at AND attempts < ?
                    AND \(Session.due)
                """, [destination.number, Self.patience]) != nil
        }
    }

    private static func dueSession(for destination: Destination, at now: Int, _ db: Database) throws -> Row? {
        guard destination.isToldOfSessions else { return nil }
        let number = destination.number
        return try db.row(
            """
            SELECT sessions.* FROM sessions LEFT JOIN markers
                ON markers.session = sessions.id AND markers.destination = ?
            WHERE \(Session.due) AND EXISTS (SELECT 1 FROM deliveries JOIN captures ON captures.seq = deliveries.capture
                WHERE captures.session = sessions.id AND deliveries.destination = ? AND deliveries.state = 'completed')
            AND (markers.key IS NULL OR markers.is_claimed = 0
                AND (markers.ended_at <> sessions.ended_at OR markers.sent_at IS NULL AND markers.due <= ?))
            ORDER BY sessions.ended_at LIMIT 1
            """, [number, number, now])
    }

    private static func body(_ row: Row, _ session: Int, _ destination: Int, _ db: Database) throws -> [UInt8] {
        let members = try db.rows(
            """
            SELECT captures.id AS id, captures.sha256 AS sha256, deliveries.receipt AS receipt FROM captures
                JOIN deliveries ON deliveries.capture = captures.seq
            WHERE captures.session = ? AND deliveries.destination = ? AND deliveries.state = 'completed'
            ORDER BY captures.seq
            """, [session, destination])
        return CanonicalJSON.encode(
            .members([
                "session": .string(try row.needText("name")),
                "ended_at": CaptureTime(milliseconds: try row.needInteger("ended_at")).map { .string($0.description) },
                "incomplete": .bool(try row.needInteger("incomplete") == 1),
                "captures": .array(
                    try members.map { member in
                        // The queue may hold another copy of the capture by now.
                        let sent = try member.text("receipt").flatMap(Receipt.sha256) ?? member.digest("sha256")
                        return .members(["id": .string(try member.needText("id")), "sha256": .string(sent.description)])
                    }),
            ]))
    }

    /// Writes down what the destination said.
    ///
    /// - Parameter retry: of the destination; after its last delay that one goes on.
    func settle(
        _ marker: SessionMarker, _ result: Result<String, SendTrouble>, retry: RetryPolicy, floor: Int
    ) throws {
        try store.write { db in
            let now = max(try clock.stamp(db), floor)
            switch result {
            case .success(let answer):
                try db.run(
                    """
                    UPDATE markers SET sent_at = ?, answer = ?, error = NULL, attempts = attempts + 1, is_claimed = 0
                    WHERE session = ? AND destination = ? AND key = ?
                    """, [now, answer, marker.sessionNumber, marker.destination, marker.key])
                try db.run("UPDATE sessions SET marker = ? WHERE id = ?", [answer, marker.sessionNumber])
            case .failure(let trouble):
                let delay = retry.delay(afterAttempt: marker.attempts + 1) ?? retry.delays.last ?? 0
                try db.run(
                    """
                    UPDATE markers SET attempts = attempts + 1, due = ?, error = ?, is_claimed = 0
                    WHERE session = ? AND destination = ? AND key = ?
                    """,
                    [now + max(1, delay) * 1000, trouble.message, marker.sessionNumber, marker.destination, marker.key])
            }
        }
    }

    /// When a destination has to be told again; nil when nothing waits.
    func nextMarker(for destination: Destination) throws -> Int? {
        guard destination.isToldOfSessions else { return nil }
        return try store.read {
            try $0.integer(
                """
                SELECT min(due) FROM markers JOIN sessions ON sessions.id = markers.session
                WHERE destination = ? AND sent_at IS NULL AND markers.ended_at = sessions.ended_at AND \(Session.due)
                """,
                [destination.number])
        }
    }
}
