import CaptureBundle
import CaptureNative
import GRDB
public import QueueFiles
import QueueModel
public import SystemPackage

/// The counts of a backup.
public struct BackupResult: Hashable, Sendable {
    public internal(set) var captures = 0
    /// Bundles that the backup did not have yet.
    public internal(set) var copied = 0
    public internal(set) var copiedBytes = 0
    /// Ids of captures whose bytes neither the queue nor the backup has.
    public internal(set) var missing: [String] = []
}

extension UploadQueue.Upkeep {
    /// Copies the queue into a folder while others use it. What the folder has already is not copied again.
    ///
    /// A kill at any time leaves the last backup or the new one.
    ///
    /// - Throws: `queue.unusable` if the folder has other content than a backup of this queue; `queue.busy`, `queue.open`,
    ///   `io.failed`.
    public func makeBackup(in path: FilePath) throws -> BackupResult {
        try queue.folder.requireOutside(path)
        let target = QueueFolder(path: path)
        let mark = BackupMark(queue: try queue.number())
        try mark.claim(target)
        let lock = try target.take(target.runLock, milliseconds: 0, orSay: "another process is writing this backup")
        defer { lock.unlock() }
        var backup = Backup(queue, target)
        return try backup.run()
    }
}

extension BackupMark {
    /// Makes the folder a backup of this queue, if it is empty or missing.
    fileprivate func claim(_ target: QueueFolder) throws(QueueError) {
        if let status = try? FileStatus.of(target.path) {
            guard status.kind == .folder else { throw QueueError(.unusable, "is not a folder", of: target.path) }
            try QueueFolder.requirePrivate(target.path, status)
        }
        _ = try onFile(target.path) { try Folders.create(target.path, mode: 0o700) }
        if try BackupMark(in: target) == nil {
            let names = try onFile(target.path) { try Folders.names(in: target.path) }
            // A kill can leave the mark under its hidden name.
            guard names.allSatisfy({ $0.bytes.starts(with: ".\(Self.name).".utf8) }) else {
                throw QueueError(
                    .unusable, "has other files in it, expected an empty folder or a backup", of: target.path)
            }
            try write(in: target)
        }
        guard let known = try BackupMark(in: target), !known.isRestoring else {
            throw BackupMark.refusal(of: target)
        }
        guard known == self else {
            throw QueueError(.unusable, "is the backup of another queue", of: target.path)
        }
        try target.createChecked()
        try target.examine()
        try target.requireOneMount()
    }
}

extension UploadQueue {
    /// A random number by which backups know their queue. It is made for the first backup, and a salvaged or restored
    /// queue gets another one.
    fileprivate func number() throws -> String {
        let sql = "SELECT value FROM settings WHERE name = ?"
        if let known = try store.read({ try $0.text(sql, [SettingsCopy.number]) }) { return known }
        var generator = SystemRandomNumberGenerator()
        let number = Hex.encode((0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
        return try store.write { db in
            try db.run("INSERT OR IGNORE INTO settings VALUES (?, ?)", [SettingsCopy.number, number])
            return try db.text(sql, [SettingsCopy.number]) ?? number
        }
    }
}

/// One backup: the database, then the bundles that it lists, then the name of the database.
struct Backup {
    let queue: UploadQueue
    let target: QueueFolder
    let spool: Spool
    var result = BackupResult()

    /// The copy of the database until it is complete.
    private var newDatabase: FilePath { target.database.adding(".new") }

    init(_ queue: UploadQueue, _ target: QueueFolder) {
        (self.queue, self.target, spool) = (queue, target, Spool(folder: target))
    }

    mutating func run() throws -> BackupResult {
        _ = try spool.sweepIncoming(isDryRun: false)
        try copySettings()
        // A prune may delete what the copy lists. Then another copy is made; the last one while nobody can delete.
        for _ in 0..<3 {
            if try attempt(isAlone: false) { return result }
        }
        _ = try queue.store.turn { _ in try attempt(isAlone: true) }
        return result
    }

    /// - Parameter isAlone: whether no other process can change the queue meanwhile.
    /// - Returns: false if the queue deleted something that the copy of its database lists.
    private mutating func attempt(isAlone: Bool) throws -> Bool {
        (result.captures, result.missing) = (0, [])
        defer { removeDatabase("queue.sqlite.new") }
        let outdated: [RemovalPermit]
        do {
            let copy = try snapshot()
            defer { try? copy.close() }
            guard try copyBundles(of: copy, isAlone: isAlone) else { return false }
            outdated = try QueueStore.converting(target) { try copy.read(self.outdated) }
            try QueueStore.converting(target) {
                try copy.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
                try copy.close()
            }
        }
        try publish()
        for permit in outdated { try spool.remove(permit) }
        return true
    }

    // MARK: - The database

    private func snapshot() throws -> DatabaseQueue {
        removeDatabase("queue.sqlite.new")
        _ = try onFile(newDatabase) { try DatabaseFile.make(newDatabase) }
        return try QueueStore.converting(target) {
            var configuration = Configuration()
            // The file is synced as a whole before it gets its name.
            configuration.prepareDatabase {
                try $0.execute(
                    sql: "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA trusted_schema = OFF")
            }
            let copy = try DatabaseQueue(path: newDatabase.string, configuration: configuration)
            try queue.store.copy(to: copy)
            try copy.write(settle)
            return copy
        }
    }

    /// Changes the copy so that it is right whenever it is used: what was not delivered may have been delivered since.
    private func settle(_ db: Database) throws {
        let now = try queue.clock.recordTime(db)
        try db.run("UPDATE captures SET holding = 'removed', removed_at = ? WHERE holding = 'removing'", [now])
        try db.run("UPDATE attempts SET ended_at = ?, outcome = 'lost' WHERE ended_at IS NULL", [now])
        let claimed = "deliveries WHERE token IS NOT NULL AND state = 'uploading'"
        for row in try db.rows("SELECT \(DeliveryRecord.columns) FROM \(claimed)") {
            let delivery = try DeliveryRecord(row: row)
            _ = try db.apply(
                .park, to: delivery, at: now,
                .init(
                    cause: "was being sent during the backup", attempts: max(0, delivery.attempts - 1), triedAt: now))
        }
        try db.run("UPDATE deliveries SET in_doubt = 1, token = NULL WHERE state <> 'completed'")
        try db.run("UPDATE markers SET is_claimed = 0 WHERE is_claimed = 1")
    }

    /// Gives the copy the name of the database, after everything that it lists is on the disk.
    private func publish() throws {
        for shard in try spool.shards() { try spool.synchronize(shard: shard) }
        for folder in [target.spool, target.quarantine] {
            try onFile(folder) { try FolderHandle(folder, followsLinks: false).synchronize() }
        }
        try onFile(newDatabase) { try DatabaseFile.reading(newDatabase).synchronize() }
        // The log of a backup is empty. Those who read the old database keep their files.
        for end in ["-wal", "-shm"] { _ = target.remove(FilePath.Component("queue.sqlite").adding(end)) }
        try onFile(target.database) {
            let home = try FolderHandle(target.path)
            try home.rename("queue.sqlite.new", to: home, as: "queue.sqlite")
            try home.synchronize(renamed: "queue.sqlite")
        }
    }

    private func removeDatabase(_ name: FilePath.Component) {
        for end in ["", "-journal", "-wal", "-shm"] { _ = target.remove(name.adding(end)) }
    }

    /// Copies what `salvage` would need if no backup is ever completed.
    private func copySettings() throws(QueueError) {
        let source = queue.folder.settingsCopy
        let bytes = try ifThere(source) {
            try FileHandle.reading(source, followsLinks: false).readAll(limit: SettingsCopy.sizeLimit)
        }
        guard let bytes else { return }
        try onFile(target.settingsCopy) {
            try AtomicFile.write(bytes, to: target.settingsCopy, mode: 0o600, existing: .replace)
        }
    }
}

extension UploadQueue {
    /// Makes a queue of a backup. Deliveries that were not completed then are asked for before they are sent.
    ///
    /// If it is killed, the same call goes on.
    ///
    /// - Throws: `state.refused` if the folder is not a backup; the errors of opening a queue.
    public static func restore(_ folder: QueueFolder) throws {
        try QueueStore.open(folder, createIfMissing: false, freesReserve: false).close()
        guard let mark = try BackupMark(in: folder) else {
            throw QueueError(.stateRefused, "is not a backup but a queue", of: folder.path)
        }
        let lock = try folder.take(folder.runLock, milliseconds: 0, orSay: "another process is using the backup")
        defer { lock.unlock() }
        // From here on the folder may have a log of its own.
        try BackupMark(queue: mark.queue, isRestoring: true).write(in: folder)
        try QueueStore.converting(folder) {
            let database = try QueueStore.connect(folder.database)
            // The backup from which this was copied stays that of the other queue.
            try database.write { try $0.run("DELETE FROM settings WHERE name = ?", [SettingsCopy.number]) }
            try database.close()
        }
        try onFile(folder.path) {
            let home = try FolderHandle(folder.path)
            _ = try home.removeFile(BackupMark.name)
            try home.synchronize()
        }
        // The database may be of an older version, whose migration needs the lock.
        lock.unlock()
        let queue = try UploadQueue(at: folder)
        defer { queue.close() }
        try queue.store.turn { _ in try SettingsCopy(queue: queue).refresh() }
    }
}
