import GRDB

/// The versions of the database, oldest first.
enum Schema {
    /// "capq"; `file` and others tell by it what the database is.
    static let applicationID = 0x6361_7071

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator().disablingDeferredForeignKeyChecks()
        migrator.registerMigration(V1.name) { db in
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try V1.apply(db)
        }
        return migrator
    }

    /// Whether all migrations were made.
    ///
    /// - Throws: `queue.newer` for a database with one that this tool does not know; `queue.damaged` for one that is not ours.
    static func isCurrent(_ db: Database, in folder: QueueFolder) throws -> Bool {
        if try migrator.hasBeenSuperseded(db) {
            throw QueueError(
                .newer, "was made by a newer capqueue; this one knows versions up to \(V1.name)", of: folder.path,
                hints: ["install a newer capqueue; nothing was changed"])
        }
        let isOurs = try Int.fetchOne(db, sql: "PRAGMA application_id") == applicationID
        if try migrator.hasCompletedMigrations(db) && isOurs { return true }
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        guard tables == 0 || isOurs else {
            throw QueueError(.damaged, "is a database, and not one of a queue", of: folder.database)
        }
        return false
    }
}
