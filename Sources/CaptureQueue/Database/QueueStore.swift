import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import Synchronization

/// The database of a queue: one connection, which is opened again after a disk error.
///
/// Writers of all processes wait in line at `queue.lock`, each for one transaction. SQLite's own waiting has no order,
/// so one busy process could keep the others out for seconds.
final class QueueStore: Sendable {
    let folder: QueueFolder
    /// Why nothing can be changed, if the queue can only be read; nil otherwise.
    let readOnly: QueueError?
    /// Whether the reserve file is deleted when the disk is full.
    let freesReserve: Bool
    private let connection: Mutex<Connection?>
    /// Whether the folder was synced since the connection was made.
    private let areNamesSettled = Mutex(false)
    /// The run that this store belongs to; nil for all other stores.
    private let runner = Mutex<Runner?>(nil)

    private struct Runner {
        let isEnding: @Sendable () -> Bool
        /// The database at the start of the run.
        let file: FileStatus.Identity?
    }

    /// A connection with the file that it has open. Salvage can put another file in its place.
    private struct Connection {
        let queue: DatabaseQueue
        let file: FileStatus.Identity?
    }

    /// How long a writer waits for its turn, in milliseconds.
    private static let patience = 60_000

    private init(
        _ folder: QueueFolder, _ connection: DatabaseQueue, readOnly: QueueError? = nil, freesReserve: Bool = false
    ) {
        self.folder = folder
        // A read-only copy has no file in the queue folder.
        let file = readOnly == nil ? try? FileStatus.ofName(folder.database).identity : nil
        self.connection = Mutex(Connection(queue: connection, file: file))
        self.readOnly = readOnly
        self.freesReserve = freesReserve
    }

    /// What SQLite and libdispatch have open at most while the queue is opened.
    private static let descriptorsToOpen = 8

    /// Opens the queue, and makes it if there is none and `createIfMissing` allows it.
    ///
    /// - Throws: `queue.missing`, `queue.open`, `queue.newer`, `queue.damaged`, `queue.busy`, `queue.unusable`, `io.failed`.
    static func open(_ folder: QueueFolder, createIfMissing: Bool, freesReserve: Bool) throws(QueueError) -> QueueStore
    {
        if createIfMissing { try folder.createTested() }
        try folder.examine()
        try Schema.requireHeader(folder)
        if !folder.exists {
            // If the database is gone but the spool has bundles, this is not a new queue.
            guard try !Spool(folder: folder).hasBundles() else {
                throw QueueError(
                    .damaged, "the database is missing, but the spool holds bundles", of: folder.database)
            }
            guard createIfMissing else { throw folder.missing }
        }
        // libdispatch, which GRDB uses, ends the process if it gets no descriptors when it starts.
        try onFile(folder.path) { try FileHandle.requireDescriptors(descriptorsToOpen) }
        return try converting(folder) {
            if let copy = try ReadOnlyDatabase.openIfNeeded(folder) {
                let reason = QueueError(
                    .inputOutput,
                    "cannot be changed: the \(folder.isOnReadOnlyDisk ? "disk is read-only" : "folder cannot be written")",
                    of: folder.path)
                return QueueStore(folder, copy, readOnly: reason)
            }
            let refusal = try BackupMark(in: folder).map { _ in BackupMark.refusal(of: folder) }
            // A backup of an older version is read as a copy: only a restore changes its database.
            let mayMigrate = refusal == nil || !folder.exists
            // SQLite creates two files beside the database even to read it.
            var queue = try connectIfRoom(folder, Reserve.size, mayMigrate: mayMigrate)
            if queue == nil && freesReserve {
                _ = Reserve(folder: folder).delete()
                // btrfs gives back what was deleted only when something else asks for that much.
                queue =
                    try connectIfRoom(folder, Reserve.size, mayMigrate: mayMigrate)
                    ?? connectIfRoom(folder, mayMigrate: mayMigrate)
            }
            if let queue { return QueueStore(folder, queue, readOnly: refusal, freesReserve: freesReserve) }
            // A copy fails too if the database is incomplete or was removed meanwhile.
            guard let copy = try? ReadOnlyDatabase.open(folder) else { throw fullDisk(folder) }
            return QueueStore(folder, copy, readOnly: refusal ?? fullDisk(folder))
        }
    }

    /// - Returns: nil if there is no room for the files that SQLite makes, or as below.
    private static func connectIfRoom(
        _ folder: QueueFolder, _ bytes: Int = QueueFolder.roomToOpen, mayMigrate: Bool
    ) throws -> DatabaseQueue? {
        if folder.isTooFullForSharedMemory(bytes) { return nil }
        do { return try connectCurrent(folder, mayMigrate: mayMigrate) } catch  where isOfFullDisk(error, folder) {
            return nil
        }
    }

    /// Opens a connection to a database of the current version.
    ///
    /// - Parameter mayMigrate: false if this process may already have the turn to write, so that it cannot wait for
    ///   another one.
    /// - Returns: nil if the database has to be made or migrated first, and may not.
    private static func connectCurrent(_ folder: QueueFolder, mayMigrate: Bool) throws -> DatabaseQueue? {
        // One process makes a new database, while the others wait for it.
        let queue =
            !folder.exists && mayMigrate ? try locked(folder) { try makeNew(folder) } : try connect(folder.database)
        if try queue.read({ try Schema.isCurrent($0) }) { return queue }
        guard mayMigrate else {
            try queue.read { try Schema.requireOurs($0, in: folder) }
            return nil
        }
        try migrate(queue, folder)
        return queue
    }

    /// Closes the database, which also removes its log. Otherwise the next process to open it does that.
    func close() {
        try? connection.withLock { known in
            try known?.queue.close()
            known = nil
        }
    }

    // MARK: - Transactions

    /// Runs `body` on a single snapshot of the database, and undoes what it writes.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try Self.converting(folder) { try transaction("BEGIN", ending: "ROLLBACK", body) }
    }

    /// Runs a transaction whose own statements are prepared once, too. GRDB's `read` also sets `PRAGMA query_only` twice, and
    /// SQLite prepares every statement again after that.
    private func transaction<Value>(
        _ begin: String, ending end: String, _ body: (Database) throws -> Value
    ) throws -> Value {
        try usingConnection { queue in
            try queue.inDatabase { db in
                try db.run(begin)
                do {
                    let value = try body(db)
                    try db.run(end)
                    if end == "COMMIT" { try folder.settleCommit() }
                    return value
                } catch {
                    try? db.rollback()
                    throw error
                }
            }
        }
    }

    /// Copies a single snapshot of the database, by SQLite's own backup.
    func copy(to other: DatabaseQueue) throws { try usingConnection { try $0.backup(to: other) } }

    /// Whether another process has written since the last call (PRAGMA data_version). Our own changes do not count.
    func hasChanged(since version: inout Int) throws -> Bool {
        let now = try read { try Int.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
        return exchange(&version, with: now) != now
    }

    /// Waits for the turn to write, and holds it until `body` has returned.
    ///
    /// - Throws: `queue.busy` after a minute, or for a run when it is to end and has waited for a minute; `io.failed`
    ///   if the disk is read-only or full; any error of `body`.
    func turn<Value>(_ body: (WriterTurn) throws -> Value) throws -> Value {
        if let readOnly { throw readOnly }
        let value = try Self.locked(folder, waitsOn: { waitsOn }) {
            try settleNames()
            return try body(WriterTurn(store: self))
        }
        // A run may have to react to any change.
        if runner.withLock({ $0 == nil }) { Doorbell.ring(folder.bell) }
        return value
    }

    /// Marks the store as that of a run: its own changes wake no run, it waits for its turn until the run must end, and
    /// it takes no other database. The owner's lock belongs to the queue that was there at the start.
    ///
    /// - Parameter isEnding: nil when the run is over.
    func setRunner(isEnding: (@Sendable () -> Bool)?) {
        let file = try? FileStatus.ofName(folder.database).identity
        runner.withLock { $0 = isEnding.map { Runner(isEnding: $0, file: file) } }
    }

    private var waitsOn: Bool { runner.withLock { $0?.isEnding }.map { !$0() } ?? false }

    /// Throws `io.failed` if another file has taken the place of the database since the run began.
    func requireSameFile() throws(QueueError) { try requireSame(try? FileStatus.ofName(folder.database).identity) }

    private func requireSame(_ now: FileStatus.Identity?) throws(QueueError) {
        guard let known = runner.withLock(\.self), known.file != now else { return }
        throw QueueError(
            .inputOutput, "the database was replaced or removed while a run was active", of: folder.database,
            cause: .replaced)
    }

    /// Syncs the folder once for each connection. SQLite also does so when it creates its log, but ignores a failure.
    private func settleNames() throws {
        if areNamesSettled.withLock(\.self) { return }
        _ = try usingConnection { _ in }
        try onFile(folder.path) { try FolderHandle(folder.path).synchronize() }
        areNamesSettled.withLock { $0 = true }
    }

    /// - Parameter waitsOn: whether to wait for another minute.
    static func locked<Value>(
        _ folder: QueueFolder, waitsOn: () -> Bool = { false }, _ body: () throws -> Value
    ) throws -> Value {
        var taken: FileLock?
        repeat {
            taken = try onFile(folder.lock) { try FileLock.take(folder.lock, milliseconds: patience) }
        } while taken == nil && waitsOn()
        guard let lock = taken else {
            throw QueueError(.busy, "another process has been writing for a minute", of: folder.path)
        }
        defer { lock.unlock() }
        return try body()
    }

    /// Runs `body` with the turn to write, so that no other writer is in the middle of a change. A dry run needs none.
    func turnOrRead<Value>(isDryRun: Bool, _ body: () throws -> Value) throws -> Value {
        isDryRun ? try body() : try turn { _ in try body() }
    }

    /// Runs a single transaction in a turn of its own. The transaction is on the disk when this returns.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try turn { try $0.write(body) }
    }

    /// Runs a single transaction; a dry run only reads.
    func write<Value>(isDryRun: Bool, _ body: (Database) throws -> Value) throws -> Value {
        try isDryRun ? read(body) : write(body)
    }

    /// The right to write, which only `QueueStore.turn` gives.
    struct WriterTurn {
        fileprivate let store: QueueStore

        func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
            try QueueStore.converting(store.folder) {
                do {
                    return try writeWhenFree(body)
                } catch let error as DatabaseError
                    where store.freesReserve && error.extendedResultCode != .SQLITE_IOERR_FSYNC
                    && isOfFullDisk(error, store.folder)
                {
                    // Nothing of the transaction was written, so it can run again.
                    guard Reserve(folder: store.folder).delete() else { throw error }
                    return try store.transaction("BEGIN IMMEDIATE", ending: "COMMIT", body)
                }
            }
        }

        /// Retries while another program, such as sqlite3, locks the database without waiting at `queue.lock`.
        private func writeWhenFree<Value>(_ body: (Database) throws -> Value) throws -> Value {
            while true {
                do {
                    return try store.transaction("BEGIN IMMEDIATE", ending: "COMMIT", body)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && store.waitsOn {
                    continue
                }
            }
        }

        /// Writes the log into the database and empties it.
        func emptyLog() throws { try execute("PRAGMA wal_checkpoint(TRUNCATE)") }

        /// Returns up to this many free pages to the file system.
        func shrink(pages: Int) throws { try execute("PRAGMA incremental_vacuum(\(pages))") }

        private func execute(_ sql: String) throws {
            try QueueStore.converting(store.folder) {
                try store.usingConnection { try $0.writeWithoutTransaction { try $0.execute(sql: sql) } }
            }
        }
    }

    private func usingConnection<Value>(_ body: (DatabaseQueue) throws -> Value) throws -> Value {
        let queue = try connection.withLock { known in
            let now = readOnly == nil ? try? FileStatus.ofName(folder.database).identity : nil
            try requireSame(now)
            if let known, known.file == now { return known.queue }
            try? known?.queue.close()
            known = nil
            guard now != nil else {
                throw QueueError(.damaged, "the database is missing", of: folder.database)
            }
            guard let opened = try Self.connectCurrent(folder, mayMigrate: false) else {
                throw QueueError(
                    .damaged, "the database was replaced by one of another version", of: folder.database,
                    cause: .otherVersion)
            }
            areNamesSettled.withLock { $0 = false }
            known = Connection(queue: opened, file: now)
            return opened
        }
        do {
            return try body(queue)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_IOERR {
            // After a failed fsync the contents of the disk are unknown, and SQLite's cache proves nothing. The next
            // call reads everything again.
            connection.withLock { $0 = nil }
            throw error
        }
    }
}
