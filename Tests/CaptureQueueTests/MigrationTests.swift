import CaptureBundle
import CaptureQueue
import CaptureTestSupport
import Foundation
import GRDB
import SystemPackage
import Testing

/// The saved databases of all earlier versions open and keep their contents.
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

    /// The migration copies the session of a capture into its delivery, and nothing is in doubt afterwards.
    @Test func bringsTheFirstVersionToTheNewest() throws {
        let folder = try folder("v1.sqlite")
        let queue = try UploadQueue(at: folder)
        let totals = try queue.status().totals
        #expect([.completed, .pending, .held].map { totals[$0]?.captures } == [1, 1, 1])
        #expect(try queue.destinations().map(\.name) == ["disk"] && queue.sessions().map(\.name) == ["monday"])
        #expect(try queue.settings().text(.retention) == "14d")
        try queue.list { record in
            let events = try queue.history(record)
            #expect(!events.isEmpty)
            return true
        }
        queue.close()
        for (sql, expected) in [
            ("SELECT identifier FROM grdb_migrations", ["v1", "v2", "v3", "v4", "v5", "v6", "v7"]),
            (
                """
                SELECT 1 FROM deliveries JOIN captures ON seq = capture
                WHERE deliveries.session IS NOT captures.session OR in_doubt <> 0 OR polls <> 0
                """, []
            ),
            ("SELECT 1 FROM deliveries WHERE session IS NOT NULL", ["1"]), ("SELECT 1 FROM markers", []),
            ("SELECT 1 FROM control WHERE paused IS NULL", ["1"]), ("PRAGMA integrity_check", ["ok"]),
            ("PRAGMA foreign_key_check", []),
        ] { #expect(try rows(folder, sql) == expected, "\(sql)") }
    }

    private func rows(_ folder: QueueFolder, _ sql: String) throws -> [String] {
        let database = try DatabaseQueue(path: folder.database.string)
        return try database.read { (db: Database) throws in
            try Row.fetchAll(db, sql: sql).map { row in
                row.databaseValues.map { $0.isNull ? "-" : $0.description.replacing("\"", with: "") }.joined(
                    separator: " ")
            }
        }
    }

    /// The saved database has one capture for each way in which a delivery without a destination can meet another
    /// delivery. `b`, which is destination 2, is the default.
    @Test func givesEachDeliveryADestinationAndCancelsNothing() throws {
        let folder = try folder("v2.sqlite")
        let before = try rows(folder, "SELECT seq, id, sha256, bytes, holding FROM captures ORDER BY seq")
        try UploadQueue(at: folder).close()
        #expect(
            try rows(
                folder,
                """
                SELECT seq, captures.state, deliveries.destination, deliveries.state FROM captures
                JOIN deliveries ON capture = seq ORDER BY seq, deliveries.id
                """) == [
                    "1 completed - completed",  // released; its receipt has no destination, before and after
                    "2 pending 2 pending", "3 held 2 held", "4 cancelled 2 cancelled", "5 completed - completed",
                    "6 held 2 held",  // one delivery was cancelled there, the other one waited
                    "7 held 2 held", "8 pending 2 pending", "9 completed 2 completed",
                    "10 completed 1 completed", "11 completed 1 completed",
                ])
        #expect(try rows(folder, "SELECT seq, id, sha256, bytes, holding FROM captures ORDER BY seq") == before)
        #expect(try rows(folder, "SELECT 1 FROM captures WHERE stored_at IS NOT pushed_at").isEmpty)
        #expect(try rows(folder, "SELECT seq FROM captures WHERE finished_at IS NULL AND state = 'completed'").isEmpty)
        #expect(try rows(folder, "PRAGMA integrity_check") == ["ok"])
        #expect(try rows(folder, "PRAGMA foreign_key_check").isEmpty)
        #expect(
            try rows(folder, "SELECT state, captures FROM totals WHERE captures > 0 ORDER BY state")
                == rows(folder, "SELECT state, count(*) FROM captures GROUP BY state ORDER BY state"))
        let queue = try UploadQueue(at: folder)
        try queue.list { record in
            var state: DeliveryState?
            for event in try queue.history(record) {
                guard case .transition(let from, let to, let event, _) = event.kind else { continue }
                guard let from, let event = DeliveryEvent(rawValue: event) else {
                    state = to
                    continue
                }
                #expect(from == state && DeliveryStateMachine.next(from, event) == to, "\(record.id): \(event)")
                state = to
            }
            return true
        }
    }

    /// The receipt tells what was delivered: only a photo, or the multipart body, which holds the whole bundle.
    @Test func knowsOfWhichCapturesOnlyThePhotoWasDelivered() throws {
        let folder = try folder("v2.sqlite")
        let queue = try UploadQueue(at: folder)
        #expect(try queue.status().partsOnly.captures == 1)
        queue.close()
        #expect(try rows(folder, "SELECT seq FROM captures WHERE parts_only = 1") == ["10"])
    }

    /// What version 4 counts is what the rows say, from the migration on and through what is done afterwards.
    @Test(arguments: ["v1.sqlite", "v2.sqlite", "v3.sqlite"])
    func countsTheDeliveriesOfEachDestination(_ saved: String) throws {
        let folder = try folder(saved)
        let kept = "SELECT * FROM delivery_totals WHERE deliveries > 0 ORDER BY 1, 2"
        let counted = """
            SELECT coalesce(destination, 0), deliveries.state, count(*), sum(bytes)
            FROM deliveries JOIN captures ON seq = capture GROUP BY 1, 2 ORDER BY 1, 2
            """
        try UploadQueue(at: folder).close()
        #expect(try rows(folder, kept) == rows(folder, counted))
        let queue = try UploadQueue(at: folder)
        var all = CaptureFilter()
        try queue.change(.cancel, all) { _ in }
        all.states = [.cancelled]
        try queue.change(.retry, all) { _ in }
        queue.close()
        #expect(try rows(folder, kept) == rows(folder, counted))
        let database = try DatabaseQueue(path: folder.database.string)
        try database.write { try $0.execute(sql: "UPDATE captures SET bytes = bytes + 7") }
        try database.close()
        #expect(try rows(folder, kept) == rows(folder, counted))
    }

    @Test func knowsOfTheThirdVersionWhatIsHeldAndWhere() throws {
        let status = try UploadQueue(at: folder("v3.sqlite")).status()
        #expect(status.work.map(\.destination?.name) == [nil, "a", "b"])
        #expect(status.work.map { $0.count([.held]) } == [0, 0, 2])
        #expect(status.work.map(\.backlog.captures) == [0, 3, 0])
        let concerns = status.concerns()
        #expect(concerns.map(\.code) == [.spoolAbsent, .held] && concerns.map(\.count) == [1, 2])
    }

    /// Version 2 had no default after its default was removed; captures that wait must not wait for ever.
    @Test func makesTheOldestDestinationTheDefaultWhereThereIsNone() throws {
        let folder = try folder("v2.sqlite")
        let database = try DatabaseQueue(path: folder.database.string)
        try database.write { try $0.execute(sql: "UPDATE destinations SET is_default = 0") }
        try database.close()
        let queue = try UploadQueue(at: folder)
        #expect(try queue.destinations().first(where: \.isDefault)?.name == "a")
        queue.close()
        #expect(
            try rows(folder, "SELECT capture FROM deliveries WHERE destination IS NULL ORDER BY 1") == ["1", "5"])
    }

    /// A push of version 2 begins before the migration and writes its rows after it. They are refused with an error,
    /// because the delivery would have no destination.
    @Test func refusesTheRowsOfAnOldPushThatLivesThroughIt() throws {
        let folder = try folder("v2.sqlite")
        let old = try DatabaseQueue(path: folder.database.string)
        let insert = """
            INSERT INTO captures (id, identity, sha256, manifest_sha256, bytes, captured_at, device, verdict, pushed_at,
                session, priority, not_before, holding, reference, state)
            SELECT 'new', randomblob(32), randomblob(32), manifest_sha256, bytes, captured_at, device, verdict, pushed_at,
                session, priority, not_before, 'spool', reference, 'pending' FROM captures LIMIT 1
            """
        try old.read { (db: Database) throws in _ = try db.cachedStatement(sql: insert) }
        try UploadQueue(at: folder).close()
        let before = try rows(folder, "SELECT count(*), max(seq) FROM captures")
        #expect(throws: DatabaseError.self) {
            try old.write { (db: Database) throws in try db.cachedStatement(sql: insert).execute() }
        }
        #expect(try rows(folder, "SELECT count(*), max(seq) FROM captures") == before)
    }
}
