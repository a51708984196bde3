import CaptureBundle
import CaptureNative
import CurlClient
import Foundation
import GRDB
import QueueModel
import QueueTransports
import SystemPackage

extension UploadQueue {
    /// Sessions that ended, of which every member has landed, and of which this destination has one.
    private static let isDue = """
        sessions.ended_at IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM captures WHERE session = sessions.id
                AND state IN ('pending', 'uploading', 'processing', 'failed', 'held'))
            AND (incomplete = 1 OR NOT EXISTS (SELECT 1 FROM captures WHERE session = sessions.id
                AND state IN ('permanently_failed', 'conflict', 'quarantined', 'cancelled')))
        """

    /// The session's end that a destination has to be told next; nil when there is none.
    func dueMarker(for destination: Destination, at now: Int) throws -> SessionMarker? {
        let number = destination.number
        // Looked for first, so that nothing is written where there is nothing to tell.
        guard let found = try dueSession(for: destination, at: now) else { return nil }
        let session = try found.needInteger("id")
        let ended = try found.needInteger("ended_at")
        let random = try onFile("random numbers") { () throws(NativeError) in try RandomBytes.make(16) }
        let key = UUIDText.of(random, version: 4)
        return try store.write { db in
            try db.run(
                """
                INSERT INTO markers (session, destination, ended_at, key, due) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (session, destination) DO UPDATE SET ended_at = excluded.ended_at, key = excluded.key,
                    attempts = 0, due = excluded.due, sent_at = NULL, answer = NULL, error = NULL
                    WHERE markers.ended_at <> excluded.ended_at
                """, [session, number, ended, key, now])
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

    /// Whether a destination has to be told of a session's end now.
    func isMarkerDue(for destination: Destination, at now: Int) throws -> Bool {
        try dueSession(for: destination, at: now) != nil
    }

    /// Whether a destination has not been told of a session's end that it should know of.
    public func hasUntoldSessions() throws -> Bool {
        try destinations().contains { try dueSession(for: $0, at: .max) != nil }
    }

    /// How often a run that ends when all is done tells of an end that is not taken; the next run goes on.
    private static let patience = 5

    /// Whether a run that ends when all is done still waits to tell.
    func isMarkerWorthWaiting(for destination: Destination) throws -> Bool {
        guard try dueSession(for: destination, at: .max) != nil else { return false }
        return try store.read {
            try $0.integer(
                """
                SELECT 1 FROM markers JOIN sessions ON sessions.id = markers.session
                WHERE destination = ? AND sent_at IS NULL AND markers.ended_at = sessions.ended_at AND attempts < ?
                    AND \(Self.isDue)
                """, [destination.number, Self.patience]) != nil
        }
    }

    private func dueSession(for destination: Destination, at now: Int) throws -> Row? {
        guard destination.settings["session-end-url"] != nil else { return nil }
        let number = destination.number
        return try store.read { db in
            try db.row(
                """
                SELECT sessions.* FROM sessions LEFT JOIN markers
                    ON markers.session = sessions.id AND markers.destination = ?
                WHERE \(Self.isDue) AND EXISTS (SELECT 1 FROM deliveries JOIN captures ON captures.seq = deliveries.capture
                    WHERE captures.session = sessions.id AND deliveries.destination = ? AND deliveries.state = 'completed')
                AND (markers.key IS NULL OR markers.ended_at <> sessions.ended_at
                    OR markers.sent_at IS NULL AND markers.due <= ?)
                ORDER BY sessions.ended_at LIMIT 1
                """, [number, number, now])
        }
    }

    private static func body(_ row: Row, _ session: Int, _ destination: Int, _ db: Database) throws -> [UInt8] {
        let members = try db.rows(
            """
            SELECT captures.id AS id, captures.sha256 AS sha256 FROM captures JOIN deliveries
                ON deliveries.capture = captures.seq
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
                        .members([
                            "id": .string(try member.needText("id")),
                            "sha256": .string(try member.digest("sha256").description),
                        ])
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
                    UPDATE markers SET sent_at = ?, answer = ?, error = NULL, attempts = attempts + 1
                    WHERE session = ? AND destination = ? AND key = ?
                    """, [now, answer, marker.sessionNumber, marker.destination, marker.key])
                try db.run("UPDATE sessions SET marker = ? WHERE id = ?", [answer, marker.sessionNumber])
            case .failure(let trouble):
                let delay = retry.delay(afterAttempt: marker.attempts + 1) ?? retry.delays.last ?? 0
                try db.run(
                    """
                    UPDATE markers SET attempts = attempts + 1, due = ?, error = ?
                    WHERE session = ? AND destination = ? AND key = ?
                    """,
                    [now + max(1, delay) * 1000, trouble.message, marker.sessionNumber, marker.destination, marker.key])
            }
        }
    }

    /// When a destination has to be told again; nil when nothing waits.
    func nextMarker(for destination: Destination) throws -> Int? {
        guard destination.settings["session-end-url"] != nil else { return nil }
        return try store.read {
            try $0.integer(
                """
                SELECT min(due) FROM markers JOIN sessions ON sessions.id = markers.session
                WHERE destination = ? AND sent_at IS NULL AND markers.ended_at = sessions.ended_at AND \(Self.isDue)
                """,
                [destination.number])
        }
    }
}
