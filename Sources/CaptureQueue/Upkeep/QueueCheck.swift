import CaptureBundle
import CaptureNative
import GRDB
import QueueFiles
public import QueueModel
import Synchronization
import SystemPackage

extension UploadQueue.Upkeep {
    /// Compares rows, files and hashes (Spec/queue.md section 11). Damage is set aside, never deleted.
    ///
    /// - Throws: `queue.damaged` if the database is damaged.
    public func check(
        _ options: CheckOptions = CheckOptions(), deliver: (CheckFinding) throws -> Void
    ) throws -> CheckResult {
        try withoutActuallyEscaping(deliver) { deliver in
            var check = QueueCheck(queue, options, deliver)
            try check.examineDatabase()
            if let folder = queue.folder.folderApart { try check.report(.mount, folder, QueueFolder.apartWords) }
            try check.examineIncoming()
            if try check.isSpoolAbsent() { return check.result }
            try check.examineRows()
            try check.examineFiles()
            return check.result
        }
    }
}

extension UploadQueue.Upkeep {
    /// The version of SQLite that reads and writes the database.
    public func sqliteVersion() throws -> SQLiteVersion {
        SQLiteVersion(try queue.store.read { try String.fetchOne($0, sql: "SELECT sqlite_version()") } ?? "")
    }
}

extension Database {
    /// Whether SQLite finds the database sound.
    ///
    /// - Parameter comparesIndexes: whether each index is compared with its rows, which takes longer.
    func isSound(comparesIndexes: Bool) throws -> Bool {
        try String.fetchAll(self, sql: "PRAGMA \(comparesIndexes ? "integrity_check" : "quick_check")(1)") == ["ok"]
    }
}

struct QueueCheck {
    let queue: UploadQueue
    private(set) var options: CheckOptions
    private let deliver: (CheckFinding) throws -> Void
    private(set) var result = CheckResult()

    init(_ queue: UploadQueue, _ options: CheckOptions, _ deliver: @escaping (CheckFinding) throws -> Void) {
        self.queue = queue
        self.options = options
        self.deliver = deliver
        if queue.isReadOnly { self.options.isDryRun = true }
    }

    var isRepairing: Bool { options.isRepairing && !options.isDryRun }

    func examineDatabase() throws {
        func isSound(comparesIndexes: Bool) throws -> Bool {
            try queue.store.read { try $0.isSound(comparesIndexes: comparesIndexes) }
        }
        let comparesIndexes = options.readShare > 0
        guard try !isSound(comparesIndexes: comparesIndexes) else { return }
        let isOnlyIndex = try comparesIndexes && isSound(comparesIndexes: false)
        throw QueueError(
            .damaged, isOnlyIndex ? "an index of the database does not match its rows" : "the database is damaged",
            of: queue.folder.database)
    }

    mutating func examineIncoming() throws {
        for left in try queue.spool.sweepIncoming(isDryRun: options.isDryRun) {
            let path = queue.folder.incoming.appending(left.name)
            if let twin = left.twin {
                try report(.leftover, path, Self.shares(with: twin))
            } else {
                try report(.leftover, path, "left by a push that was killed", isRepaired: !options.isDryRun)
            }
        }
        if !options.isDryRun { try queue.store.turn { _ in try SettingsCopy(queue: queue).refresh() } }
        let leftover = SettingsCopy.leftover(in: queue.folder)
        guard FileStatus.exists(leftover) else { return }
        // With the turn to write, no other process can be using this file.
        let isGone = try queue.store.turnOrRead(isDryRun: options.isDryRun) {
            options.isDryRun || SettingsCopy.sweep(queue.folder)
        }
        guard isGone else { return try report(.leftover, leftover, Self.shares(with: queue.folder.settingsCopy)) }
        try report(
            .leftover, leftover, "left by a change of settings that was killed", isRepaired: !options.isDryRun)
    }

    private static func shares(with twin: FilePath) -> String {
        "may share its bytes with \(twin) after a power cut, so neither is removed; unmount the disk, run fsck, then remove this file"
    }

    // MARK: - Rows

    mutating func examineRows() throws {
        try queue.store.eachPage { records in
            let chosen = records.map { _ in Double.random(in: 0..<1, using: &options.generator) < options.readShare }
            let work = Mutex(zip(records, chosen).makeIterator())
            let check = StoredBytesCheck(spool: queue.spool)
            try OrderedWork.run(
                threads: options.readShare > 0 ? Thread.processors : 1, next: { work.withLock { $0.next() } },
                work: { pair in (pair.0, check.check(pair.0, reads: pair.1 || Self.awaitsFile(pair.0))) },
                deliver: { (item: (CaptureRecord, StoredBytesCheck.Verdict)) throws(any Error) -> Bool in
                    try take(item.0, item.1)
                    return true
                })
        }
    }

    private mutating func take(_ record: CaptureRecord, _ verdict: StoredBytesCheck.Verdict) throws {
        result.captures += 1
        result.bytesRead += verdict.bytesRead
        switch verdict.fault {
        case nil: try lookAgain(record)
        case .absent(let root):
            if !options.isDryRun {
                try queue.store.write {
                    try $0.postpone(below: root, until: queue.clock.observe($0).wall + Absence.pause)
                }
            }
            guard record.state != .completed, record.state != .cancelled else { break }
            try report(.absent, record, Absence.message(root))
        case .unreadable(let error): try report(.unreadable, record, error.message)
        case .wrong(let kind, let message): try settle(record, kind, message)
        }
        if try !restore(record), let kind = Self.openDamage(record) {
            try report(kind, record, "the damage was found earlier; push the bundle again")
        }
        if record.holding == .removing {
            try report(
                .interrupted, record, "its deletion was interrupted", at: queue.folder.bundlePath(record.sha256))
        }
        if verdict.lacksSidecar && verdict.fault == nil {
            if isRepairing { try queue.writeSidecar(of: record) }
            try report(
                .sidecar, record, "its sidecar is missing; salvage would need it",
                at: queue.folder.sidecarPath(record.sha256), isRepaired: isRepairing)
        }
    }

    /// Returns damage that was found earlier. It is reported until the bytes are back or no longer needed.
    private static func openDamage(_ record: CaptureRecord) -> CheckFinding.Kind? {
        guard record.state != .completed, record.state != .cancelled else { return nil }
        return switch record.holding {
        case .quarantined: .damaged
        case .missing: record.reference == nil ? .missing : .source
        case .spool, .reference, .removing, .removed: nil
        }
    }

    /// Sets a capture aside. It is checked again with the turn to write, because a push or a prune may have changed it.
    private mutating func settle(_ record: CaptureRecord, _ kind: CheckFinding.Kind, _ message: String) throws {
        func isStill(_ now: CaptureRecord?) -> Bool { now?.holding == record.holding && now?.sha256 == record.sha256 }
        if options.isDryRun {
            guard isStill(try queue.captures.read(record)) else { return }
            return try report(kind, record, message)
        }
        let aside = try queue.store.turn { turn -> FilePath?? in
            guard let now = try queue.captures.read(record), isStill(now) else { return nil }
            // A push may have stored the bytes again while we waited for the turn.
            let reads = options.readShare > 0 || Self.awaitsFile(now)
            let fault = StoredBytesCheck(spool: queue.spool).check(now, reads: reads).fault
            guard case .wrong(let kind, let message) = fault else { return nil }
            return .some(try queue.setAside(now, kind, because: message, in: turn))
        }
        guard let aside else { return }
        try report(kind, record, message + (aside.map { "; set aside as \($0)" } ?? ""))
    }

    // MARK: - Files

    mutating func examineFiles() throws {
        for shard in try queue.spool.shards() {
            for name in try queue.spool.names(inShard: shard) { try examine(name, in: shard) }
        }
    }

    private mutating func examine(_ name: FilePath.Component, in shard: FilePath.Component) throws {
        result.files += 1
        let path = queue.folder.spool.appending(shard).appending(name)
        guard let sha256 = Digest(hex: name.stem), QueueFolder.shard(sha256) == shard,
            name == QueueFolder.bundleName(sha256) || name == QueueFolder.sidecarName(sha256)
        else { return try report(.stray, path, "the queue does not use this name") }
        let isBundle = name == QueueFolder.bundleName(sha256)
        if try isNamed(sha256, isBundle: isBundle) { return }
        let stray = StrayFile(queue: queue, sha256: sha256)
        guard isBundle else {
            guard !FileStatus.exists(queue.folder.bundlePath(sha256)) else { return }
            return try report(
                .stray, path, "a sidecar without a bundle", isRepaired: isRepairing && stray.removeSidecar())
        }
        let isStray = try queue.store.turnOrRead(isDryRun: options.isDryRun) { try !isNamed(sha256, isBundle: true) }
        guard isStray else { return }
        var message = "the database does not know this bundle; a push may have been killed, or the database is a backup"
        var isRepaired = isRepairing
        switch isRepairing ? try stray.adopt() : nil {
        case .held(let remark)?:
            result.held += 1
            if let remark { message += "; \(remark)" }
        case .damaged?: (message, isRepaired) = ("damaged, or not a bundle; moved to quarantine/", false)
        case .restored?, .copy?, nil: break
        }
        try report(.stray, path, message, isRepaired: isRepaired)
    }

    private func isNamed(_ sha256: Digest, isBundle: Bool) throws -> Bool {
        // A sidecar is needed if the bytes are pushed again. After a kill, damage may not have been renamed yet.
        let places = "'spool', 'removing', 'quarantined'" + (isBundle ? "" : ", 'reference', 'missing'")
        return try queue.store.read { try $0.captures(of: sha256, where: "holding IN (\(places))") > 0 }
    }

    // MARK: - Findings

    /// - Parameter path: nil for the bytes of the capture.
    mutating func report(
        _ kind: CheckFinding.Kind, _ record: CaptureRecord, _ message: String, at path: FilePath? = nil,
        isRepaired: Bool = false
    ) throws {
        let bytes = record.reference.map { FilePath($0) } ?? queue.folder.bundlePath(record.sha256)
        try report(kind, path ?? bytes, message, of: record.id, isRepaired: isRepaired)
    }

    mutating func report(
        _ kind: CheckFinding.Kind, _ path: FilePath, _ message: String, of id: String? = nil, isRepaired: Bool = false
    ) throws {
        if !isRepaired { result.open[kind, default: 0] += 1 }
        try deliver(CheckFinding(kind: kind, id: id, path: path.string, message: message, isRepaired: isRepaired))
    }
}

/// Looks again for files that were absent or missing (Spec/queue.md section 11).
extension QueueCheck {
    /// Whether the whole spool is absent. Then nothing is compared; with `--repair` its bundles are lost.
    mutating func isSpoolAbsent() throws -> Bool {
        do {
            try queue.store.requireSpool()
            return false
        } catch let error as QueueError where error.code == .spoolMissing {
            if isRepairing { return false }
            try report(.absent, queue.folder.spool, error.message)
            return true
        }
    }

    /// Whether a capture waits for a file that was absent. Once it is there, its bytes are compared, because another
    /// disk may be in that place.
    static func awaitsFile(_ record: CaptureRecord) -> Bool {
        record.deliveries.contains { $0.errorCode == Absence.code }
    }

    /// Makes deliveries due that waited for a file which is there again.
    mutating func lookAgain(_ record: CaptureRecord) throws {
        guard !options.isDryRun, Self.awaitsFile(record) else { return }
        try queue.store.write { db in
            let now = try queue.clock.observe(db)
            for delivery in record.deliveries where [.pending, .failed].contains(delivery.state) {
                try db.comeBack(delivery.number, due: db.due(of: delivery, now))
            }
        }
        try report(.absent, record, "the file is there again", isRepaired: true)
    }

    /// Takes a file back that is there again; returns whether it did. It sets aside what a killed check left in place.
    mutating func restore(_ record: CaptureRecord) throws -> Bool {
        guard [.missing, .quarantined].contains(record.holding), !options.isDryRun else { return false }
        let path = record.reference.map { FilePath($0) } ?? queue.folder.bundlePath(record.sha256)
        guard let handle = try? FileHandle.readingPlainFile(path, followsLinks: record.reference != nil),
            let isWhole = try? Spool.hash(handle, path) == record.sha256
        else { return false }
        let isBack = try queue.store.turn { turn in
            guard try queue.captures.read(record) == record else { return false }
            if !isWhole && record.holding == .quarantined { _ = try? queue.spool.quarantine(record.sha256) }
            guard isWhole else { return false }
            if record.reference == nil { try queue.spool.settle([record.sha256]) }
            try turn.write { db in
                let now = try queue.clock.observe(db)
                try db.setHolding(record.reference == nil ? .spool : .reference, ofCapture: record.sequence)
                try db.restore(record.deliveries, at: now, cause: "the file is there again")
            }
            return true
        }
        let kind: CheckFinding.Kind = record.reference == nil ? .missing : .source
        if isBack { try report(kind, record, "the file is there again", isRepaired: true) }
        return isBack
    }
}
