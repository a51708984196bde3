import CaptureBundle
import CaptureNative
import CaptureTestSupport
import Foundation
import GRDB
import QueueFiles
import QueueModel
import SystemPackage
import Testing

@testable import CaptureQueue

/// Databases of other versions: refused, or brought to the next version.
struct MigrationTests {
    private let room: BundleRoom

    init() throws { room = try BundleRoom() }

    private var folder: QueueFolder { QueueFolder(path: room.folder.path("queue")) }

    private func execute(_ sql: String) throws {
        let database = try DatabaseQueue(path: folder.database.string)
        try database.write { try $0.execute(sql: sql) }
        try database.close()
    }

    private func refusal() -> QueueError? {
        do throws(QueueError) {
            try UploadQueue(at: folder).close()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["('v1'), ('v2'), ('v3')", "('v9')", "('v10'), ('v11.1')"])
    func refusesAQueueThatNoReleaseWrote(versions: String) throws {
        try UploadQueue(at: folder, createIfMissing: true).close()
        try execute("DELETE FROM grdb_migrations; INSERT INTO grdb_migrations VALUES \(versions)")
        let error = try #require(refusal())
        #expect(error.code == .older && error.message.contains("never released"))
        #expect(error.isMendedBySalvage)
        _ = try UploadQueue.salvage(folder, releases: false) { _ in }
        #expect(refusal() == nil)
    }

    /// In 1.0 an end with the time of the one before was never reported. Those ends are found; the others stay reported.
    @Test func numbersTheEndsOf10() throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let database = try DatabaseQueue(configuration: configuration)
        let numbers = try database.write { db in
            try Tables.make(db)
            try db.execute(
                sql: """
                    INSERT INTO sessions (id, name, opened_at, ended_at, marker) VALUES (1, 'told', 1, 5, 'yes'),
                        (2, 'same time', 1, 5, NULL), (3, 'open', 1, NULL, NULL), (4, 'later', 1, 7, NULL),
                        (5, 'refused', 1, 5, NULL);
                    INSERT INTO markers (session, destination, ended_at, key, due, sent_at)
                        SELECT id, 1, 5, 'key', 1, iif(id = 5, NULL, 6) FROM sessions;
                    """)
            try Migration11.apply(db)
            return try Row.fetchAll(
                db,
                sql: """
                    SELECT sessions.end_number AS last, markers.end_number AS reported FROM sessions JOIN markers
                    ON session = id ORDER BY id
                    """
            ).map { [try $0.needInteger("last"), try $0.needInteger("reported")] }
        }
        #expect(numbers == [[1, 1], [1, 0], [0, 0], [1, 0], [1, 1]])
    }

    /// What the next version needs: a migration that keeps all rows, waits for the end of a run, and is refused by this
    /// version afterwards.
    @Test func theNextVersionCanMigrate() throws {
        let queue = try UploadQueue(at: folder, createIfMissing: true)
        let pushed = try queue.push(room.bundle("one"))
        queue.close()
        var next = Schema.migrator
        next.registerMigration("v12") { try $0.execute(sql: "ALTER TABLE captures ADD COLUMN colour TEXT") }
        let database = try QueueStore.connect(folder.database)
        let run = try #require(try FileLock.take(folder.runLock, milliseconds: 0))
        #expect(throws: QueueError.self) { try QueueStore.migrate(database, folder, next) }
        run.unlock()
        try QueueStore.migrate(database, folder, next)
        let ids = try database.read { try String.fetchAll($0, sql: "SELECT id FROM captures WHERE colour IS NULL") }
        #expect(ids == [pushed.id])
        try database.close()
        #expect(refusal()?.code == .newer)
    }
}
