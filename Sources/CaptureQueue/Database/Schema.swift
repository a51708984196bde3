import CaptureNative
import GRDB
import QueueFiles
import QueueModel

/// Knows the versions of the database and checks which version a file has.
enum Schema {
    /// "capq", by which `file` and other tools recognise the database.
    static let applicationID = 0x6361_7071

    /// The version of release 1.0.0.
    private static let first = "v10"
    private static let unreleased = (1...9).map { "v\($0)" } + Migration11.unreleased

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator().disablingDeferredForeignKeyChecks()
        migrator.registerMigration(first) { db in
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try Tables.make(db)
        }
        migrator.registerMigration(Migration11.name, migrate: Migration11.apply)
        return migrator
    }

    /// Checks the header of the file directly, because SQLite would write to a database that it opens.
    ///
    /// - Throws: `queue.damaged` for a file that is not a database, or is another program's database.
    static func requireHeader(_ folder: QueueFolder) throws(QueueError) {
        guard folder.exists else { return }
        let path = folder.database
        let header = try onFile(path) { try DatabaseFile.reading(path).read(100, at: 0) }
        guard header.count == 100, header.starts(with: Array("SQLite format 3\u{0}".utf8)) else {
            throw QueueError(.damaged, "is not a database, or its beginning is damaged", of: path)
        }
        // File format, section 1.3. A kill during creation leaves a single page without an application id.
        let owner = header[68..<72].reduce(0) { $0 << 8 | Int($1) }
        let size = (try? FileStatus.ofName(path).size) ?? 0
        guard owner == applicationID || owner == 0 && size <= 4096 else {
            throw QueueError(.damaged, "is a database of another program", of: path, cause: .foreign)
        }
    }

    /// Whether it is our database, with all migrations that we know and no others.
    static func isCurrent(_ db: Database, _ migrator: DatabaseMigrator = migrator) throws -> Bool {
        try Int.fetchOne(db, sql: "PRAGMA application_id") == applicationID
            && !migrator.hasBeenSuperseded(db) && migrator.hasCompletedMigrations(db)
    }

    /// Whether no migration was applied yet.
    static func isNew(_ db: Database) throws -> Bool {
        try !db.tableExists("grdb_migrations") || migrator.appliedMigrations(db).isEmpty
    }

    /// Checks that it is our database. This needs the turn to write, because a database is incomplete while it is made.
    ///
    /// - Throws: `queue.newer` for a database with a migration that this tool does not know; `queue.older` for one from
    ///   before the first release; `queue.damaged` for a database that is not ours.
    static func requireOurs(_ db: Database, in folder: QueueFolder) throws {
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master WHERE type = 'table'") ?? 0
        let isOurs = try Int.fetchOne(db, sql: "PRAGMA application_id") == applicationID
        if tables == 0, try Spool(folder: folder).hasBundles() {
            throw QueueError(
                .damaged, "the database is empty, but the spool holds bundles", of: folder.database)
        }
        // A kill during the first migration leaves only the list of migrations, which is empty.
        guard try tables == 0 || isOurs || tables == 1 && db.tableExists("grdb_migrations") && isNew(db) else {
            throw QueueError(.damaged, "is a database of another program", of: folder.database, cause: .foreign)
        }
        guard tables > 0, try migrator.hasBeenSuperseded(db) else { return }
        if try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations").contains(where: unreleased.contains) {
            throw QueueError(
                .older, "was made by a version that was never released, which this one cannot read",
                of: folder.path)
        }
        throw QueueError(
            .newer, "was made by a newer capqueue; this one supports versions up to \(Migration11.name)",
            of: folder.path)
    }
}
