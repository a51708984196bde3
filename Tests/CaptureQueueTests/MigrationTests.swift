import CaptureBundle
import CaptureNative
import CaptureTestSupport
import Foundation
import GRDB
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
        #expect(error.hints.contains(.salvage))
        _ = try UploadQueue.salvage(folder, releases: false) { _ in }
        #expect(refusal() == nil)
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
        run.release()
        try QueueStore.migrate(database, folder, next)
        let ids = try database.read { try String.fetchAll($0, sql: "SELECT id FROM captures WHERE colour IS NULL") }
        #expect(ids == [pushed.id])
        try database.close()
        #expect(refusal()?.code == .newer)
    }
}
