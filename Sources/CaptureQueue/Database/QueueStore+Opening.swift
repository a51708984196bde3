import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import SystemPackage

/// Connects to a database, and makes or migrates it.
extension QueueStore {
    static func connect(_ path: FilePath) throws -> DatabaseQueue {
        // SQLite would make the file readable for others. The files that it adds beside the database get the same mode.
        let isNew = try onFile(path) { try DatabaseFile.make(path) }
        var configuration = Configuration()
        // Our own writers wait in line; this timeout is for other programs, such as sqlite3.
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { db in
            // For an existing database this statement would write even if nothing changes.
            if isNew { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
            try db.execute(
                sql: """
                    PRAGMA journal_mode = WAL;
                    PRAGMA synchronous = FULL;
                    PRAGMA journal_size_limit = 4194304;
                    PRAGMA trusted_schema = OFF;
                    PRAGMA cell_size_check = ON;
                    PRAGMA temp_store = MEMORY;
                    """)
        }
        return try DatabaseQueue(path: path.string, configuration: configuration)
    }

    static func makeNew(_ folder: QueueFolder) throws -> DatabaseQueue {
        let queue = try connect(folder.database)
        do {
            try migrate(queue, folder, Schema.migrator, maySend: false)
        } catch let error as DatabaseError where isOfFullDisk(error, folder) {
            // A partial database holds nothing, but would look like a queue of an older version.
            try? queue.close()
            for end in ["", "-wal", "-shm"] { _ = folder.remove(FilePath.Component("queue.sqlite").adding(end)) }
            throw error
        }
        return queue
    }

    /// Takes both locks, in the order in which all commands take them.
    ///
    /// - Parameter migrator: the migrations that this tool knows; tests add further ones.
    static func migrate(
        _ queue: DatabaseQueue, _ folder: QueueFolder, _ migrator: DatabaseMigrator = Schema.migrator
    ) throws {
        // A running run of an earlier version would continue by the old rules.
        let runLock = try onFile(folder.runLock) { try FileLock.take(folder.runLock, milliseconds: 100) }
        defer { runLock?.unlock() }
        try locked(folder) { try migrate(queue, folder, migrator, maySend: runLock == nil) }
    }

    /// - Parameter maySend: whether a run may be active.
    private static func migrate(
        _ queue: DatabaseQueue, _ folder: QueueFolder, _ migrator: DatabaseMigrator, maySend: Bool
    ) throws {
        // Another process may have migrated the database while we waited.
        if try queue.read({ try Schema.isCurrent($0, migrator) }) { return }
        try queue.read { try Schema.requireOurs($0, in: folder) }
        guard try !maySend || queue.read({ try Schema.isNew($0) }) else {
            throw QueueError(
                .busy, "a run of an older version is active, so its database cannot be changed",
                of: folder.path, cause: .oldRun)
        }
        try migrator.migrate(queue)
        // Before anything is promised, the names of the database and its files must be on the disk.
        try onFile(folder.path) { try FolderHandle(folder.path).synchronize() }
        // Sync the parent folder too. That fails if another user owns the parent; then the folder existed before.
        try? FolderHandle(folder.path.folder).synchronize()
    }

    /// Whether there was no room for what SQLite wanted to write. It has no code of its own for a used-up quota, nor for
    /// the files that it makes beside the database.
    static func isOfFullDisk(_ error: any Error, _ folder: QueueFolder) -> Bool {
        switch error {
        case let error as QueueError: error.isDiskFull
        case let error as DatabaseError:
            switch error.resultCode {
            case .SQLITE_FULL: true
            case .SQLITE_IOERR, .SQLITE_CANTOPEN: folder.lackOfRoom() != nil
            default: false
            }
        default: false
        }
    }

    static func fullDisk(_ folder: QueueFolder) -> QueueError {
        QueueError(
            .inputOutput, "cannot be changed: \(folder.lackOfRoom() ?? "the disk is full")", of: folder.path,
            cause: .diskFull)
    }

    static func converting<Value>(_ folder: QueueFolder, _ body: () throws -> Value) throws(QueueError) -> Value {
        do {
            return try body()
        } catch let error as QueueError {
            throw error
        } catch let error as DatabaseError {
            throw isOfFullDisk(error, folder) ? fullDisk(folder) : .database(error, folder.database)
        } catch {
            throw QueueError(.damaged, "the database holds a value of a wrong kind", of: folder.database)
        }
    }
}

extension QueueError {
    /// Converts an error of SQLite to words for people; `QueueStore.isOfFullDisk` must be false for it.
    static func database(_ error: DatabaseError, _ path: FilePath) -> QueueError {
        let (code, message): (Code, String) =
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: (.busy, "another program holds the database")
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: (.damaged, "the database is damaged")
            case .SQLITE_IOERR: (.inputOutput, "the database cannot be read or written")
            case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH: (.inputOutput, "the database cannot be opened")
            case .SQLITE_READONLY: (.inputOutput, "the database cannot be written: it is read-only")
            case .SQLITE_NOMEM: (.inputOutput, "memory ran out")
            // For example a missing table or a violated constraint. Our own statements cannot cause these.
            default:
                (.damaged, "another program may have changed the database (SQLite code \(error.resultCode.rawValue))")
            }
        let limit = error.resultCode == .SQLITE_IOERR ? ProcessLimits.fileSize : nil
        return QueueError(
            code, message, of: path, cause: limit.map { _ in .fileSize }, values: limit.map { [String($0)] } ?? [])
    }
}
