import CaptureNative
import GRDB
import QueueModel
import QueueTransports
import Synchronization
import SystemPackage

/// The database of a queue: one connection, opened again after a failure of the disk.
///
/// Writers of all processes stand in one line (`queue.lock`), each for one transaction. SQLite's own waiting has no line, and
/// one busy process can keep the others out for seconds.
final class QueueStore: Sendable {
    let folder: QueueFolder
    /// Why nothing can be changed, where only reading works; nil where all does.
    let readOnly: QueueError?
    /// Whether the reserve is given up when the disk is full.
    private let freesReserve: Bool
    private let connection: Mutex<Connection?>
    /// Whether the folder was synced since the connection was made.
    private let areNamesSettled = Mutex(false)
    /// Of the store of a run: whether it is to end. nil for all others.
    private let isEnding = Mutex<(@Sendable () -> Bool)?>(nil)

    /// A connection, and the file that it was opened on: salvage puts another in its place.
    private struct Connection {
        let queue: DatabaseQueue
        let file: FileStatus.Identity?
    }

    /// How long a writer waits for its turn.
    private static let patience = 60_000

    private init(
        _ folder: QueueFolder, _ connection: DatabaseQueue, readOnly: QueueError? = nil, freesReserve: Bool = false
    ) {
        self.folder = folder
        // A copy for reading has no file of the queue's behind it.
        let file = readOnly == nil ? try? FileStatus.ofName(folder.database).identity : nil
        self.connection = Mutex(Connection(queue: connection, file: file))
        self.readOnly = readOnly
        self.freesReserve = freesReserve
    }

    /// Opens the queue, and makes it where `createIfMissing` allows it.
    ///
    /// - Throws: `queue.missing`, `queue.open`, `queue.newer`, `queue.damaged`, `queue.busy`, `queue.unusable`, `io.failed`.
    static func open(_ folder: QueueFolder, createIfMissing: Bool, freesReserve: Bool) throws(QueueError) -> QueueStore
    {
        if createIfMissing { try folder.makeExamined() }
        try folder.examine()
        try Schema.requireHeader(folder)
        if !folder.exists {
            // A database that is gone while the bytes are there is no new queue.
            guard try !Spool(folder: folder).holdsBundles() else {
                throw QueueError(
                    .damaged, "the database is gone, and the spool holds bundles", of: folder.database,
                    hints: [QueueError.salvageHint])
            }
            guard createIfMissing else { throw folder.missing }
        }
        return try converting(folder) {
            if let copy = try ReadOnlyDatabase.openIfNeeded(folder) {
                let reason = QueueError(
                    .inputOutput, "cannot be changed: the folder cannot be written", of: folder.path)
                return QueueStore(folder, copy, readOnly: reason)
            }
            do {
                return QueueStore(folder, try connectCurrent(folder), freesReserve: freesReserve)
            } catch let error as DatabaseError where isOfFullDisk(error, folder) {
                // SQLite makes two files beside the database even for reading it.
                if freesReserve, Reserve(folder: folder).release() {
                    return QueueStore(folder, try connectCurrent(folder), freesReserve: freesReserve)
                }
                // A database that is half made, or was removed meanwhile, cannot be read either.
                guard let copy = try? ReadOnlyDatabase.open(folder) else { throw fullDisk(folder) }
                return QueueStore(folder, copy, readOnly: fullDisk(folder))
            }
        }
    }

    /// - Parameter isLocked: whether this process may have the turn to write already, and cannot wait for another. A database
    ///   that has to be made or migrated first is an error then.
    private static func connectCurrent(_ folder: QueueFolder, isLocked: Bool = false) throws -> DatabaseQueue {
        // A new one is made by one process, while the others wait for it.
        let queue =
            !folder.exists && !isLocked ? try locked(folder) { try makeNew(folder) } : try connect(folder.database)
        if try queue.read({ try Schema.isCurrent($0) }) { return queue }
        guard !isLocked else {
            throw QueueError(.damaged, "the database was replaced by one of another version", of: folder.database)
        }
        try locked(folder) { try migrate(queue, folder) }
        return queue
    }

    private static func isOfFullDisk(_ error: DatabaseError, _ folder: QueueFolder) -> Bool {
        switch error.resultCode {
        case .SQLITE_FULL: true
        case .SQLITE_IOERR, .SQLITE_CANTOPEN: ((try? DiskSpace.free(at: folder.path)) ?? .max) < Reserve.size
        default: false
        }
    }

    private static func fullDisk(_ folder: QueueFolder) -> QueueError {
        var error = QueueError(.inputOutput, "cannot be changed: the disk is full", of: folder.path)
        error.isDiskFull = true
        return error
    }

    /// Closes the database, which takes its log away too. Without it the next to open does that.
    func close() {
        try? connection.withLock { known in
            try known?.queue.close()
            known = nil
        }
    }

    // MARK: - Transactions

    /// Runs `body` on one state of the database.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try Self.converting(folder) { try usingConnection { try $0.read(body) } }
    }

    /// Waits for a turn to write, and holds it until `body` has returned.
    ///
    /// - Throws: `queue.busy` after a minute, or for a run when it is to end and has waited for a minute; `io.failed` on a read-only
    ///   disk; what `body` throws.
    func turn<Value>(_ body: (WriterTurn) throws -> Value) throws -> Value {
        if let readOnly { throw readOnly }
        let value = try Self.locked(folder, waitsOn: { waitsOn }) {
            try settleNames()
            return try body(WriterTurn(store: self))
        }
        // Whatever was written, a run may have to do something about it.
        if !isRunner { Doorbell.ring(folder.bell) }
        return value
    }

    /// Says whether this store is a run's: its own changes wake nobody then, and it waits for its turn until the run is to end.
    ///
    /// - Parameter isEnding: nil when the run is over.
    func setRunner(isEnding: (@Sendable () -> Bool)?) { self.isEnding.withLock { $0 = isEnding } }

    private var isRunner: Bool { isEnding.withLock { $0 != nil } }
    private var waitsOn: Bool { isEnding.withLock(\.self).map { !$0() } ?? false }

    /// SQLite makes its log anew for most runs, syncs the folder that names it, and does not look at what comes of that.
    private func settleNames() throws {
        let isSettled = areNamesSettled.withLock { $0 }
        if isSettled { return }
        _ = try usingConnection { _ in }
        try onFile(folder.path) { () throws(NativeError) in try FolderHandle(folder.path).synchronize() }
        areNamesSettled.withLock { $0 = true }
    }

    /// - Parameter waitsOn: whether it waits for another minute.
    private static func locked<Value>(
        _ folder: QueueFolder, waitsOn: () -> Bool = { false }, _ body: () throws -> Value
    ) throws -> Value {
        var taken: FileLock?
        repeat {
            taken = try onFile(folder.lock) { () throws(NativeError) in
                try FileLock.take(folder.lock, milliseconds: patience)
            }
        } while taken == nil && waitsOn()
        guard let lock = taken else {
            throw QueueError(.busy, "another process has been writing for a minute", of: folder.path)
        }
        defer { lock.release() }
        return try body()
    }

    /// With the turn to write, so that nothing is half done meanwhile; without it where nothing may be changed.
    func turnOrRead<Value>(isDryRun: Bool, _ body: () throws -> Value) throws -> Value {
        isDryRun ? try body() : try turn { _ in try body() }
    }

    /// A turn for a single transaction, which is on the disk when this returns.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try turn { try $0.write(body) }
    }

    /// The right to write. Only `QueueStore.turn` gives it.
    struct WriterTurn {
        fileprivate let store: QueueStore

        func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
            try QueueStore.converting(store.folder) {
                do {
                    return try writeWhenFree(body)
                } catch let error as DatabaseError
                    where store.freesReserve && error.resultCode == .SQLITE_FULL
                {
                    // Nothing of it was written, so it can be done again.
                    guard Reserve(folder: store.folder).release() else { throw error }
                    return try store.usingConnection { try $0.write(body) }
                }
            }
        }

        /// Another program, sqlite3 for example, does not stand in line; SQLite waits some seconds for it each time.
        private func writeWhenFree<Value>(_ body: (Database) throws -> Value) throws -> Value {
            while true {
                do {
                    return try store.usingConnection { try $0.write(body) }
                } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && store.waitsOn {
                    continue
                }
            }
        }

        /// Gives free pages back to the file system, a few at a time.
        func shrink(pages: Int) throws {
            try QueueStore.converting(store.folder) {
                try store.usingConnection { queue in
                    try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA incremental_vacuum(\(pages))") }
                }
            }
        }
    }

    private func usingConnection<Value>(_ body: (DatabaseQueue) throws -> Value) throws -> Value {
        let queue = try connection.withLock { known in
            let now = readOnly == nil ? try? FileStatus.ofName(folder.database).identity : nil
            if let known, known.file == now { return known.queue }
            try? known?.queue.close()
            known = nil
            guard now != nil else {
                throw QueueError(.damaged, "the database is gone", of: folder.database, hints: [QueueError.salvageHint])
            }
            let opened = try Self.connectCurrent(folder, isLocked: true)
            areNamesSettled.withLock { $0 = false }
            known = Connection(queue: opened, file: now)
            return opened
        }
        do {
            return try body(queue)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_IOERR {
            // After a failed fsync nobody knows what is on the disk, and what SQLite has in memory proves nothing. The next
            // call reads it all again.
            connection.withLock { $0 = nil }
            throw error
        }
    }

    // MARK: - Opening

    static func connect(_ path: FilePath) throws -> DatabaseQueue {
        // SQLite would make it readable for others; the files beside it follow its mode.
        let isNew = try onFile(path) { () throws(NativeError) in
            try FileHandle.open(path, FileHandle.newOrExistingFile, mode: 0o600).status().size == 0
        }
        var configuration = Configuration()
        // Our own writers wait in line; this is for other programs, sqlite3 for example.
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { db in
            // Said to a database that has it, it would write all the same.
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

    private static func makeNew(_ folder: QueueFolder) throws -> DatabaseQueue {
        let queue = try connect(folder.database)
        do {
            try migrate(queue, folder)
        } catch let error as DatabaseError where isOfFullDisk(error, folder) {
            // A part of a database holds nothing, and would be taken for a queue of an older version.
            try? queue.close()
            if let home = try? FolderHandle(folder.path) {
                for end in ["", "-wal", "-shm"] {
                    _ = try? home.removeFile(FilePath.Component("queue.sqlite").adding(end))
                }
            }
            throw error
        }
        return queue
    }

    private static func migrate(_ queue: DatabaseQueue, _ folder: QueueFolder) throws {
        // Somebody else may have done it while we waited.
        if try queue.read({ try Schema.isCurrent($0) }) { return }
        try queue.read { try Schema.requireOurs($0, in: folder) }
        let isNew = try queue.read { try Schema.isNew($0) }
        // A run of an earlier version would go on by the old rules.
        let runLock =
            isNew
            ? nil
            : try onFile(folder.runLock) { () throws(NativeError) in
                try FileLock.take(folder.runLock, milliseconds: 100)
            }
        guard isNew || runLock != nil else {
            throw QueueError(
                .busy, "a run of an older capqueue is active, so the queue cannot be changed to version \(V3.name)",
                of: folder.path, hints: ["stop that run; the next command of this version makes the change"])
        }
        defer { runLock?.release() }
        try Schema.migrator.migrate(queue)
        // The names of the database and of what stands beside it are on the disk before anything is promised.
        try onFile(folder.path) { () throws(NativeError) in try FolderHandle(folder.path).synchronize() }
        // Of the folder itself, too; where another user owns what is above it, it was there before.
        try? FolderHandle(folder.path.folder).synchronize()
    }

    static func converting<Value>(_ folder: QueueFolder, _ body: () throws -> Value) throws(QueueError) -> Value {
        do {
            return try body()
        } catch let error as QueueError {
            throw error
        } catch let error as DatabaseError {
            throw .database(error, folder.database)
        } catch {
            throw QueueError(.damaged, "the database holds a value of a wrong kind", of: folder.database)
        }
    }
}
