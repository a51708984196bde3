import CaptureBundle
import CaptureNative
import GRDB
public import QueueFiles
public import QueueModel
import Synchronization
public import SystemPackage

/// The result of a salvage.
public struct SalvageResult: Hashable, Sendable {
    public internal(set) var captures = 0
    /// Files that are not a sound bundle or do not match their hash. They were set aside.
    public internal(set) var damaged: [FilePath] = []
    /// Files that the disk cannot read. They stay in place.
    public internal(set) var unreadable: [FilePath] = []
    /// Ids of captures that have a sidecar but no bytes.
    public internal(set) var missing: [String] = []
    /// Members of sessions whose sidecars have no order: they go by the times of their pushes.
    public internal(set) var withoutOrder = 0
    /// Whether only indexes were damaged. Then all rows are kept, and nothing was added from the spool.
    public internal(set) var isMended = false
    /// The new path of the old database; nil if there was none.
    public internal(set) var oldDatabase: FilePath?
}

extension UploadQueue {
    /// Mends the database of a queue, or builds another one from its spool. The old one is kept under another name.
    ///
    /// If only indexes are damaged, and rows and spool agree, the indexes are built again and all states are kept.
    ///
    /// - Parameters:
    ///   - releases: whether the captures wait to be sent. Otherwise they are held, because some may have been
    ///     cancelled.
    ///   - isForced: whether to replace even a sound database, and to mend none.
    ///   - deliver: gets the id of each capture.
    /// - Throws: `state.refused` if the database is sound; `queue.newer`, `queue.missing`, `queue.open`, `queue.busy`,
    ///   `io.failed`.
    public static func salvage(
        _ folder: QueueFolder, releases: Bool, isForced: Bool = false, clock: QueueClock = .system,
        deliver: (String) throws -> Void
    ) throws -> SalvageResult {
        try folder.examine()
        try requireNeed(folder, isForced: isForced)
        guard try folder.exists || Spool(folder: folder).hasBundles() else { throw folder.missing }
        let locks = try [folder.runLock, folder.lock].map {
            try folder.take($0, milliseconds: 60_000, orSay: "another process is using the queue")
        }
        defer { locks.forEach { $0.unlock() } }
        return try QueueStore.converting(folder) {
            let salvage = Salvage(folder: folder, releases: releases, clock: clock)
            if !isForced, folder.exists, let result = try salvage.repair() { return result }
            return try salvage.run(deliver)
        }
    }

    /// Refuses to replace a readable database, because only the database has receipts and states.
    private static func requireNeed(_ folder: QueueFolder, isForced: Bool) throws {
        guard folder.exists else { return }
        do throws(QueueError) {
            let store = try QueueStore.open(folder, createIfMissing: false, freesReserve: false)
            defer { store.close() }
            guard (try? store.read { try $0.isSound(comparesIndexes: true) }) == true else { return }
            guard !isForced else {
                if try BackupMark(in: folder) != nil { throw BackupMark.refusal(of: folder) }
                return refreshSettingsCopy(folder)
            }
        } catch {
            if error.code == .newer || error.code == .stateRefused { throw error }
            return
        }
        throw QueueError(
            .stateRefused,
            "the database is sound; salvage would forget what was uploaded and cancelled",
            of: folder.database, cause: .sound)
    }

    /// A command that was killed after its commit may not have written the copy yet.
    private static func refreshSettingsCopy(_ folder: QueueFolder) {
        guard let queue = try? UploadQueue(at: folder) else { return }
        defer { queue.close() }
        try? queue.store.turn { _ in try SettingsCopy(queue: queue).refresh() }
    }
}

struct Salvage {
    let folder: QueueFolder
    let releases: Bool
    let clock: QueueClock

    var spool: Spool { Spool(folder: folder) }
    var newDatabase: FilePath { folder.database.adding(".new") }

    /// A capture that was found in the spool.
    private struct Found: Sendable {
        let sha256: Digest
        let sidecar: Sidecar?
        let hasBundle: Bool
        /// The state of the bytes; nil if they were not read, or the disk cannot read them.
        var holding: Holding?
        /// Whether the user's file could not be read, as on a disk that is not mounted.
        var isAbsent = false
        /// nil for a damaged bundle without a sidecar, which gets no row.
        var facts: CaptureFacts?

        var turn: (Int, Int, Int, String) { sidecar?.turn ?? (.max, 0, 0, sha256.description) }
    }

    func run(_ deliver: (String) throws -> Void) throws -> SalvageResult {
        try removeLeftovers()
        var result = SalvageResult()
        let everything = try everything(&result)
        let database = try QueueStore.connect(newDatabase)
        try Schema.migrator.migrate(database)
        try database.write { try SettingsCopy.restore(from: folder, into: $0) }
        var batch: [Found] = []
        let work = Mutex(everything.makeIterator())
        let spool = spool
        try OrderedWork.run(
            threads: Thread.processors, next: { work.withLock { $0.next() } },
            work: { Self.inspect(at: $0, spool) },
            deliver: { (found: Found) throws(any Error) -> Bool in
                switch found.holding {
                case .quarantined?:
                    if let aside = try spool.quarantine(found.sha256) { result.damaged.append(aside) }
                case nil: result.unreadable.append(folder.bundlePath(found.sha256))
                default: break
                }
                batch.append(found)
                if batch.count == 500 { try write(&batch, to: database, counting: &result, deliver) }
                return true
            })
        try write(&batch, to: database, counting: &result, deliver)
        let missing = "SELECT id FROM captures WHERE holding = 'missing' ORDER BY seq"
        result.missing = try database.read { try String.fetchAll($0, sql: missing) }
        try finish(database)
        result.oldDatabase = try replaceDatabase()
        return result
    }

    /// Finds all captures in the spool, in the order in which they were pushed.
    private func everything(_ result: inout SalvageResult) throws -> [Found] {
        var found: [Found] = []
        for shard in try spool.shards() {
            let names = Set(try spool.names(inShard: shard))
            for sha256 in Set(names.compactMap { Digest(hex: $0.stem) }) where QueueFolder.shard(sha256) == shard {
                let hasSidecar = names.contains(QueueFolder.sidecarName(sha256))
                let sidecar = hasSidecar ? StoredBundle.sidecar(sha256, folder) : nil
                let hasBundle = names.contains(QueueFolder.bundleName(sha256))
                if hasSidecar && sidecar == nil { result.unreadable.append(folder.sidecarPath(sha256)) }
                if hasBundle || sidecar != nil {
                    found.append(Found(sha256: sha256, sidecar: sidecar, hasBundle: hasBundle))
                }
            }
        }
        result.withoutOrder = found.count { $0.sidecar?.lacksOrder ?? false }
        return found.sorted { $0.turn < $1.turn }
    }

    private static func inspect(at found: Found, _ spool: Spool) -> Found {
        var (seen, bytesRead) = (found, 0)
        seen.facts = found.sidecar?.facts
        do {
            if found.hasBundle {
                let facts = try StoredBundle.facts(found.sha256, spool)
                (seen.facts, seen.holding) = (facts ?? seen.facts, facts == nil ? .quarantined : .spool)
            } else if let facts = seen.facts, let path = found.sidecar?.reference.map({ FilePath($0) }) {
                (seen.holding, seen.isAbsent) = (.reference, true)
                let fault = try StoredBytesCheck.sourceFault(
                    path, facts.byteCount, found.sha256, reads: true, &bytesRead)
                if case .wrong? = fault { seen.holding = .missing }
                seen.isAbsent = fault != nil
            } else {
                seen.holding = .missing
            }
        } catch {}  // A reference stays one. A bundle that the disk cannot read gets no holding.
        return seen
    }

    private func write(
        _ batch: inout [Found], to database: DatabaseQueue, counting result: inout SalvageResult,
        _ deliver: (String) throws -> Void
    ) throws {
        let ids = try database.write { db in try batch.compactMap { try insert($0, db) } }
        batch = []
        for id in ids { try deliver(id) }
        result.captures += ids.count
    }

    private func insert(_ found: Found, _ db: Database) throws -> String? {
        guard let facts = found.facts, let holding = found.holding else { return nil }
        let reference = found.hasBundle ? nil : found.sidecar?.reference
        if let known = try CaptureRecord.one(db, identity: facts.identity) {
            // The same capture under another signature. Whole bytes count, those in the spool before a reference.
            let isBetter = holding == .spool || known.holding != .reference || !found.isAbsent
            if holding.hasBytes && known.holding != .spool && isBetter {
                let now = try clock.observe(db)
                try db.setBytes(facts, reference: reference, ofCapture: known.sequence, at: now.recordTime)
                try db.restore(known.deliveries, at: now, cause: "found in the spool")
            }
            return nil
        }
        let id = try db.freeID(facts.bundleID, like: found.sidecar?.id)
        try db.insertFound(
            facts, found.sidecar, id: id, holding: holding, reference: reference,
            state: !releases ? .held : holding.hasBytes ? .pending : .quarantined, at: clock.observe(db))
        return id
    }

    // MARK: - The database's files

    func removeLeftovers() throws {
        try onFile(newDatabase) {
            let home = try FolderHandle(folder.path)
            for end in ["", "-wal", "-shm", "-journal"] {
                _ = try home.removeFile(FilePath.Component("queue.sqlite.new").adding(end))
            }
        }
    }

    /// Closes the new database with all its data in one file. SQLite's close alone would ignore that the disk is full, and
    /// leave a part in the log.
    func finish(_ database: DatabaseQueue) throws {
        _ = try database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try database.close()
    }

    /// Gives the old database another name, and its own to the new one.
    ///
    /// If other processes have the database open, it is missing for a moment. After a kill then, the queue reports that,
    /// and salvage can run again.
    func replaceDatabase() throws -> FilePath? {
        try onFile(folder.database) {
            let home = try FolderHandle(folder.path)
            let name: FilePath.Component = "queue.sqlite"
            var number = 1
            var old: FilePath.Component { FilePath.Component("queue.sqlite.damaged").adding("-\(number)") }
            while try home.status(of: old) != nil { number += 1 }
            let isThere = try home.status(of: name) != nil
            let others = try ["-wal", "-shm"].filter { try home.status(of: name.adding($0)) != nil }
            // Some file systems give no second name to the database.
            if !isThere || !others.isEmpty || (try? home.link(DatabaseFile.reading(folder.database), as: old)) == nil {
                // The database goes first: without it, SQLite cannot apply the old log to another database.
                for end in (isThere ? [""] : []) + others {
                    try home.move(name.adding(end), to: home, as: old.adding(end))
                }
            }
            try home.rename("queue.sqlite.new", to: home, as: name)
            try home.synchronize(renamed: name)
            return isThere ? folder.path.appending(old) : nil
        }
    }
}
