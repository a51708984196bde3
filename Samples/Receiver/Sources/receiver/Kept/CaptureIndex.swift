import CaptureBundle
import Foundation
import GRDB
import Hummingbird
import Logging
import SystemPackage

/// What makes two upload requests the same one: the device and the bytes of the body.
struct CaptureRequest: Sendable {
    let device: String
    let bodySHA256: Digest
    /// The client's Idempotency-Key; nil if it sent none.
    let idempotencyKey: String?
}

/// The index of received captures: an SQLite database. The bytes are in the queue. All calls block, and throw `IndexFault`.
struct CaptureIndex: Sendable {
    private let path: FilePath
    private let database: DatabasePool
    /// The inode of the file that is open.
    private let file: UInt64?

    /// Opens the index, and creates it if it is missing. A damaged one is renamed.
    init(_ path: FilePath, _ logger: Logger) throws {
        self.path = path
        do {
            database = try Self.open(path)
        } catch let fault as IndexFault where fault.isDamage {
            let place = FilePath("\(path).damaged")
            logger.warning("\(fault); it is now \(place)")
            for end in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: place.string + end)
                try? FileManager.default.moveItem(atPath: path.string + end, toPath: place.string + end)
            }
            database = try Self.open(path)
        }
        file = Self.inode(path)
    }

    private static func open(_ path: FilePath) throws -> DatabasePool {
        try IndexFault.naming(path) {
            var configuration = Configuration()
            configuration.busyMode = .timeout(30)
            let database = try DatabasePool(path: path.string, configuration: configuration)
            // A pool sets NORMAL while it is opened. With that, a power cut takes back the last transactions.
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            try migrator.migrate(database)
            let found = try database.read { db in
                // A migration that was done is not done again, so tables may be missing.
                try db.execute(sql: "SELECT 1 FROM captures, stamps, idempotency_keys LIMIT 0")
                return try String.fetchOne(db, sql: "PRAGMA integrity_check(1)")
            }
            guard found == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: found) }
            return database
        }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("3") { db in
            try db.execute(
                sql: """
                    CREATE TABLE captures (
                        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, device TEXT NOT NULL,
                        device_name TEXT NOT NULL, captured_at TEXT NOT NULL, received_at INTEGER NOT NULL,
                        verdict TEXT NOT NULL, photo_sha256 TEXT, has_place INTEGER NOT NULL,
                        unstamped TEXT) STRICT;
                    CREATE INDEX captures_photo ON captures (photo_sha256);
                    CREATE INDEX captures_device ON captures (device, number);
                    CREATE INDEX captures_time ON captures (captured_at);
                    CREATE INDEX captures_unstamped ON captures (received_at) WHERE unstamped IS NOT NULL;
                    CREATE TABLE stamps (id TEXT PRIMARY KEY, tsr BLOB NOT NULL) STRICT;
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
        // What was written to a file that has lost its name is gone with this process.
        guard let now = Self.inode(path), now == file else {
            throw Unavailable("\(path) was removed or replaced; \(IndexFault.remedy)")
        }
    }

    private static func inode(_ path: FilePath) -> UInt64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path.string)
        return (attributes?[.systemFileNumber] as? NSNumber)?.uint64Value
    }

    /// - Throws: 422 if the Idempotency-Key of a request was used for another body before.
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

    /// Writes captures, which may be known, and the keys of their requests in one transaction, which is synced.
    func write(_ captures: [CaptureRow], _ requests: [CaptureRequest] = []) throws {
        try write { db in
            for capture in captures { try capture.insert(db) }
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
                    INSERT INTO captures VALUES (NULL, '', '', '', '', 0, '', '', 0, NULL);
                    DELETE FROM captures WHERE id = '';
                    """)
        }
    }

    func capture(_ id: String) throws -> CaptureRow? {
        try read { try CaptureRow.filter(Column("id") == id).fetchOne($0) }
    }

    /// The capture that has waited longest for a time stamp, and the number of those that wait.
    func unstamped() throws -> (oldest: CaptureRow, count: Int)? {
        try read { db in
            let waiting = CaptureRow.filter(Column("unstamped") != nil)
            let oldest = try waiting.order(Column("received_at"), Column("number")).fetchOne(db)
            return try oldest.map { ($0, try waiting.fetchCount(db)) }
        }
    }

    /// Keeps the time stamp of a capture. It is on the disk when the call returns.
    func keep(_ stamp: TimeStamp, of id: String) throws {
        try write { db in
            try db.execute(sql: "INSERT OR IGNORE INTO stamps VALUES (?, ?)", arguments: [id, Data(stamp.bytes)])
            try db.execute(sql: "UPDATE captures SET unstamped = NULL WHERE id = ?", arguments: [id])
        }
    }

    func stamp(of id: String) throws -> TimeStamp? {
        try read { db in
            try Data.fetchOne(db, sql: "SELECT tsr FROM stamps WHERE id = ?", arguments: [id])
        }.map { TimeStamp(bytes: Array($0)) }
    }

    func capture(photo: Digest) throws -> CaptureRow? {
        try read { db in
            try CaptureRow.filter(Column("photo_sha256") == photo.description).order(Column("number")).fetchOne(db)
        }
    }

    /// Finds captures, the latest arrival first.
    ///
    /// - Parameter revoked: The ids of the revoked devices.
    func search(_ search: CaptureSearch, revoked: Set<String>, limit: Int) throws -> [CaptureRow] {
        var found = CaptureRow.order(Column("number").desc).limit(limit)
        if let day = search.day { found = found.filter(Column("captured_at").like("\(day)%")) }
        if let device = search.device { found = found.filter(Column("device") == device) }
        if let verdict = search.verdict {
            let list = try String(decoding: JSONEncoder().encode(revoked.sorted()), as: UTF8.self)
            let isAmong: SQL = "device IN (SELECT value FROM json_each(\(list)))"
            found = found.filter(literal: verdict == .revoked ? isAmong : "NOT \(isAmong)")
        }
        if let before = search.before { found = found.filter(Column("number") < before) }
        return try read { try found.fetchAll($0) }
    }

    func ids() throws -> Set<String> { try read { try String.fetchSet($0, sql: "SELECT id FROM captures") } }

    /// The ids and names of the devices that sent captures, by name.
    func devices() throws -> [(id: String, name: String)] {
        try read { db in
            try Row.fetchAll(
                db, sql: "SELECT device, min(device_name) AS name FROM captures GROUP BY device ORDER BY name, device"
            ).map { (id: $0["device"], name: $0["name"]) }
        }
    }

    func count() throws -> Int { try read { try CaptureRow.fetchCount($0) } }

    /// Closes the index, so that all its data is in one file.
    func close() throws {
        try IndexFault.naming(path) {
            _ = try database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            try database.close()
        }
    }
}

/// A failure of the index in words: the file, and what SQLite says of it. The statement and its values are left out.
struct IndexFault: Error, CustomStringConvertible {
    let path: FilePath
    private let error: DatabaseError

    var description: String {
        let words = "\(path): \(error.message ?? error.resultCode.description)"
        return isDamage ? "\(words); \(Self.remedy)" : words
    }

    static let remedy = "the receiver makes the index again when it is restarted"

    var isDiskFull: Bool { error.resultCode == .SQLITE_FULL }
    /// Whether another process kept its lock for too long.
    var isBusy: Bool { error.resultCode == .SQLITE_BUSY }
    /// Whether the file is damaged, is not a database, or has other tables.
    var isDamage: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR].contains(error.resultCode) }

    static func naming<Value>(_ path: FilePath, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as DatabaseError { throw IndexFault(path: path, error: error) }
    }
}
