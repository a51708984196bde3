import CaptureBundle
import CaptureQueue
import Foundation
import GRDB
import HTTPTypes
import SystemPackage

/// A choice of captures by their devices.
struct DeviceChoice: Sendable {
    let ids: Set<String>
    /// Whether the captures of these devices are wanted, or those of all others.
    let isWanted: Bool
}

/// The index of received captures: an SQLite database. The bytes are in the queue. All calls block.
struct CaptureIndex: Sendable {
    private let database: DatabasePool

    /// Opens the index, and creates it if it is missing.
    init(_ path: FilePath) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        database = try DatabasePool(path: path.string, configuration: configuration)
        try Self.migrator.migrate(database)
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE captures (
                        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, device TEXT NOT NULL,
                        device_name TEXT NOT NULL, captured_at TEXT NOT NULL, received_at INTEGER NOT NULL,
                        verdict TEXT NOT NULL, photo_sha256 TEXT, has_place INTEGER NOT NULL,
                        body_bytes INTEGER NOT NULL) STRICT;
                    CREATE INDEX captures_photo ON captures (photo_sha256);
                    CREATE INDEX captures_device ON captures (device, number);
                    CREATE INDEX captures_time ON captures (captured_at);
                    CREATE TABLE idempotency_keys (
                        device TEXT NOT NULL, key TEXT NOT NULL, body_sha256 TEXT NOT NULL,
                        PRIMARY KEY (device, key)) STRICT, WITHOUT ROWID;
                    """)
        }
        return migrator
    }

    // MARK: - Requests

    /// Checks the Idempotency-Key of a request.
    ///
    /// - Throws: 422 if it was used for another body before.
    func check(_ request: CaptureRequest) throws {
        guard let key = request.idempotencyKey else { return }
        let known = try database.read { db in
            try String.fetchOne(
                db, sql: "SELECT body_sha256 FROM idempotency_keys WHERE device = ? AND key = ?",
                arguments: [request.device, key])
        }
        guard let known, known != request.bodySHA256.description else { return }
        throw APIError(
            .unprocessableContent, "IDEMPOTENCY_KEY_REUSED", "the Idempotency-Key was used for another body before")
    }

    /// What is written for one acknowledged request.
    struct Entry: Sendable {
        let request: CaptureRequest
        let id: String
        /// The capture, which may be known.
        let arrival: Captures.Arrival
    }

    /// Writes captures and the keys of their requests in one transaction, which is on the disk when the call returns.
    func write(_ entries: [Entry], at now: Int) throws {
        try database.write { db in
            for entry in entries {
                try Self.insert(entry.arrival, entry.id, now, db)
                let request = entry.request
                guard let key = request.idempotencyKey else { continue }
                try db.execute(
                    sql: "INSERT OR IGNORE INTO idempotency_keys VALUES (?, ?, ?)",
                    arguments: [request.device, key, request.bodySHA256.description])
            }
        }
    }

    private static func insert(_ arrival: Captures.Arrival, _ id: String, _ now: Int, _ db: Database) throws {
        let manifest = arrival.manifest
        let report = arrival.bundle.report
        let hasPlace = manifest.entry(.location) != nil && !report.withheld.contains(.location)
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO captures (id, device, device_name, captured_at, received_at, verdict,
                    photo_sha256, has_place, body_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                id, arrival.device.id, arrival.device.line.name, manifest.capturedAt.description, now,
                report.withheld.isEmpty ? report.verdict.word : "withheld", manifest.entry(.photo)?.sha256.description,
                hasPlace,
                arrival.bodyByteCount,
            ])
    }

    // MARK: - Captures

    func capture(_ id: String) throws -> CaptureRow? { try rows("WHERE id = ?", [id]).first }

    /// The first capture with this photo.
    func capture(photo: Digest) throws -> CaptureRow? {
        try rows("WHERE photo_sha256 = ? ORDER BY number LIMIT 1", [photo.description]).first
    }

    /// The captures that fit all conditions, the latest arrival first.
    ///
    /// - Parameters:
    ///   - day: The beginning of the claimed time in UTC, such as `2026-03-14`.
    ///   - device: The name or the UUID of the device.
    ///   - devices: Only captures of these devices, or only those of others; nil for all.
    ///   - before: Only captures with a smaller number.
    func search(
        day: String? = nil, device: String? = nil, verdict: String? = nil, among devices: DeviceChoice? = nil,
        before: Int? = nil, limit: Int = 50
    ) throws -> [CaptureRow] {
        var conditions = ["1"]
        var arguments = StatementArguments()
        if let day {
            conditions.append("substr(captured_at, 1, length(?)) = ?")
            arguments += [day, day]
        }
        if let device {
            conditions.append("(device = ? OR device_name = ?)")
            arguments += [device, device]
        }
        if let verdict {
            conditions.append("verdict = ?")
            arguments += [verdict]
        }
        if let devices {
            let list = try String(decoding: JSONEncoder().encode(devices.ids.sorted()), as: UTF8.self)
            conditions.append("device \(devices.isWanted ? "IN" : "NOT IN") (SELECT value FROM json_each(?))")
            arguments += [list]
        }
        if let before {
            conditions.append("number < ?")
            arguments += [before]
        }
        let condition = conditions.joined(separator: " AND ")
        return try rows("WHERE \(condition) ORDER BY number DESC LIMIT ?", arguments + [limit])
    }

    /// The ids and names of the devices that sent captures, by name.
    func devices() throws -> [(id: String, name: String)] {
        try database.read { db in
            try Row.fetchAll(
                db, sql: "SELECT device, min(device_name) AS name FROM captures GROUP BY device ORDER BY name, device"
            ).map { (id: $0["device"], name: $0["name"]) }
        }
    }

    func count() throws -> Int { try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM captures") ?? 0 } }

    private func rows(_ condition: String, _ arguments: StatementArguments) throws -> [CaptureRow] {
        try database.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM captures \(condition)", arguments: arguments).map(Self.row)
        }
    }

    private static func row(_ row: Row) -> CaptureRow {
        CaptureRow(
            number: row["number"], id: row["id"], device: row["device"], deviceName: row["device_name"],
            capturedAt: row["captured_at"], receivedAt: row["received_at"], verdict: row["verdict"],
            photoSHA256: row["photo_sha256"], hasPlace: row["has_place"], bodyByteCount: row["body_bytes"])
    }

    func close() throws { try database.close() }
}
