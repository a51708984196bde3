import CaptureBundle
import CaptureQueue
import CaptureTestSupport
import Foundation
import GRDB
import SystemPackage
import Testing

/// Databases of every version, saved when that version was written, open and keep what they held.
struct MigrationTests {
    private static let databases = Places.root.appending(path: "Tests/CaptureQueueTests/Databases")

    private let room: TemporaryFolder

    init() throws { room = try TemporaryFolder() }

    private func folder(_ database: String) throws -> QueueFolder {
        let folder = QueueFolder(path: room.path("queue"))
        try folder.make()
        try FileManager.default.copyItem(
            at: Self.databases.appending(path: database), to: URL(filePath: folder.database))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.database)
        return folder
    }

    @Test func opensTheFirstVersion() throws {
        let folder = try folder("v1.sqlite")
        let queue = try UploadQueue(at: folder)
        let status = try queue.status()
        #expect(status.totals[.completed]?.captures == 1)
        #expect(status.totals[.pending]?.captures == 1)
        #expect(status.totals[.held]?.captures == 1)
        #expect(try queue.destinations().map(\.name) == ["disk"])
        #expect(try queue.sessions().map(\.name) == ["monday"])
        #expect(try queue.settings().text(.retention) == "14d")
        try queue.list { record in
            let events = try queue.history(record)
            #expect(!events.isEmpty)
            return true
        }
    }

    /// What the second version has to know of captures of the first: their session, and that nothing is in doubt.
    @Test func bringsTheFirstVersionToTheSecond() throws {
        let folder = try folder("v1.sqlite")
        try UploadQueue(at: folder).close()
        let database = try DatabaseQueue(path: folder.database.string)
        try database.read { (db: Database) throws in
            #expect(try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations") == ["v1", "v2"])
            let strange = """
                SELECT count(*) FROM deliveries JOIN captures ON seq = capture
                WHERE deliveries.session IS NOT captures.session OR in_doubt <> 0 OR polls <> 0
                """
            #expect(try Int.fetchOne(db, sql: strange) == 0)
            #expect(try Int.fetchOne(db, sql: "SELECT 1 FROM deliveries WHERE session IS NOT NULL") == 1)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM control WHERE paused IS NULL") == 1)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM markers") == 0)
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
            #expect(try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty)
        }
    }

    @Test func refusesAVersionThatItDoesNotKnowAndChangesNothing() throws {
        let folder = try folder("v1.sqlite")
        let database = try DatabaseQueue(path: folder.database.string)
        try database.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('v99')") }
        try database.close()
        let before = try URL(filePath: folder.database).bytes
        let error = #expect(throws: QueueError.self) { try UploadQueue(at: folder, isMade: true) }
        #expect(error?.code == .newer)
        #expect(try URL(filePath: folder.database).bytes == before)
    }

    @Test func refusesADatabaseOfSomebodyElse() throws {
        let folder = try folder("v1.sqlite")
        try FileManager.default.removeItem(atPath: folder.database)
        let database = try DatabaseQueue(path: folder.database.string)
        try database.write { try $0.execute(sql: "CREATE TABLE mine (a)") }
        try database.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.database)
        let error = #expect(throws: QueueError.self) { try UploadQueue(at: folder) }
        #expect(error?.code == .damaged)
    }
}
