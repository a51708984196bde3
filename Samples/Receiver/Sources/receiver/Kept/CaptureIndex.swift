import CaptureBundle
import CaptureQueue
import Foundation
import GRDB
import HTTPTypes
import Logging
import SystemPackage

/// A choice of captures by their devices.
struct DeviceChoice: Sendable {
    let ids: Set<String>
    /// Whether the captures of these devices are wanted, or those of all others.
    let isWanted: Bool
}

/// The index of received captures: an SQLite database. The bytes are in the queue. All calls block, and throw `IndexFault`.
struct CaptureIndex: Sendable {
    private let path: FilePath
    private let database: DatabasePool

    /// Opens the index, and creates it if it is missing. A damaged index is
    /// renamed, and an empty one is created.
    init(_ path: FilePath, _ logger: Logger) throws {
        self.path = path
        do {
            database = try Self.open(path)
        } catch let fault as IndexFault where fault.isDamage {
            let place = FilePath("\(path).damaged")
            logger.warning("\(fault); it is now \(place)")
            for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: place.string + end) }
            for end in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path.string + end) {
                try FileManager.default.moveItem(atPath: path.string + end, toPath: place.string + end)
            }
            database = try Self.open(path)
        }
    }

    private static func open(_ path: FilePath) throws -> DatabasePool {
        try IndexFault.naming(path) {
            var configuration = Configuration()
            configuration.busyMode = .timeout(30)
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            let database = try DatabasePool(path: path.string, configuration: configuration)
            try migrator.migrate(database)
            let found = try database.read { try String.fetchOne($0, sql: "PRAGMA integrity_check(1)") }
            guard found == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: found) }
            return database
        }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("2") { db in
            try db.execute(
                sql: """
                    CREATE TABLE captures (
                        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, device TEXT NOT NULL,
                        device_name TEXT NOT NULL, captured_at TEXT NOT NULL, received_at INTEGER NOT NULL,
                        verdict TEXT NOT NULL, photo_sha256 TEXT, has_place INTEGER NOT NULL) STRICT;
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

    private func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try IndexFault.naming(path) { try database.read(body) }
    }

    private func write(_ body: (Database) throws -> Void) throws {
        try IndexFault.naming(path) { try database.write(body) }
    }

    // MARK: - Requests

    /// Checks the Idempotency-Key of a request.
    ///
    /// - Throws: 422 if it was used for another body before.
    func check(_ request: CaptureRequest) throws {
        guard let key = request.idempotencyKey else { return }
        let known = try read { db in
            try String.fetchOne(
                db, sql: "SELECT body_sha256 FROM idempotency_keys WHERE device = ? AND key = ?",
                arguments: [request.device, key])
        }
        guard let known, known != request.bodySHA256.description else { return }
        throw APIError(
            .unprocessableContent, "IDEMPOTENCY_KEY_REUSED", "the Idempotency-Key was used for another body before")
    }

    /// Writes captures, which may be known, and the keys of their requests in one transaction. It is on the disk when the
    /// call returns.
    func write(_ captures: [NewCapture], _ requests: [CaptureRequest] = []) throws {
        try write { db in
            for capture in captures { try Self.insert(capture, db) }
            for request in requests {
                guard let key = request.idempotencyKey else { continue }
                try db.execute(
                    sql: "INSERT OR IGNORE INTO idempotency_keys VALUES (?, ?, ?)",
                    arguments: [request.device, key, request.bodySHA256.description])
            }
        }
    }

    /// Writes a capture and deletes it again, to find out whether captures can be written.
    func tryWriting() throws {
        try write { db in
            try db.execute(
                sql: """
                    INSERT INTO captures VALUES (NULL, '', '', '', '', 0, '', '', 0);
                    DELETE FROM captures WHERE id = '';
                    """)
        }
    }

    private static func insert(_ capture: NewCapture, _ db: Database) throws {
        let manifest = capture.manifest
        let hasPlace = manifest.entry(.location) != nil && !capture.report.withheld.contains(.location)
        try db.execute(
            sql: "INSERT OR IGNORE INTO captures VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                capture.id, capture.device.id, capture.device.line.name, manifest.capturedAt.description,
                capture.receivedAt, capture.report.withheld.isEmpty ? capture.verdict : "withheld",
                manifest.entry(.photo)?.sha256.description, hasPlace,
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

    /// The ids of all captures.
    func ids() throws -> Set<String> { try read { try String.fetchSet($0, sql: "SELECT id FROM captures") } }

    /// The ids and names of the devices that sent captures, by name.
    func devices() throws -> [(id: String, name: String)] {
        try read { db in
            try Row.fetchAll(
                db, sql: "SELECT device, min(device_name) AS name FROM captures GROUP BY device ORDER BY name, device"
            ).map { (id: $0["device"], name: $0["name"]) }
        }
    }

    func count() throws -> Int { try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM captures") ?? 0 } }

    private func rows(_ condition: String, _ arguments: StatementArguments) throws -> [CaptureRow] {
        try read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM captures \(condition)", arguments: arguments).map(Self.row)
        }
    }

    private static func row(_ row: Row) -> CaptureRow {
        CaptureRow(
            number: row["number"], id: row["id"], device: row["device"], deviceName: row["device_name"],
            capturedAt: row["captured_at"], receivedAt: row["received_at"], verdict: row["verdict"],
            photoSHA256: row["photo_sha256"], hasPlace: row["has_place"])
    }

    /// Closes the index, so that all its data is in one file.
    func close() throws {
        try IndexFault.naming(path) {
            _ = try database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            try database.close()
        }
    }
}

/// A capture that is written to the index.
struct NewCapture: Sendable {
    let id: String
    let device: RegisteredDevice
    let manifest: Manifest
    let report: VerificationReport
    /// The verdict on arrival.
    let verdict: String
    /// Unix time in milliseconds.
    let receivedAt: Int
}

/// A failure of the index in words: the file, and what SQLite says of it. The statement and its values are left out.
struct IndexFault: Error, CustomStringConvertible {
    let path: FilePath
    private let error: DatabaseError

    var description: String { "\(path): \(error.message ?? error.resultCode.description)" }
    var isDiskFull: Bool { error.resultCode == .SQLITE_FULL }
    /// Whether the file is damaged, is not a database, or has other tables.
    var isDamage: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR].contains(error.resultCode) }

    static func naming<Value>(_ path: FilePath, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as DatabaseError { throw IndexFault(path: path, error: error) }
    }
}
