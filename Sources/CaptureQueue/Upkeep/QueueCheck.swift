import CaptureBundle
import CaptureNative
import GRDB
import QueueModel
import Synchronization
import SystemPackage

/// The options of `check`.
public struct CheckOptions: Sendable {
    /// The share of stored bundles that are read and hashed: 0 to 1.
    public var readShare = 0.0
    /// Whether to adopt stray files and to write missing sidecars.
    public var isRepairing = false
    /// Whether to change nothing, even if damage is found.
    public var isDryRun = false
    /// Chooses the bundles that are read.
    public var generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()

    public init() {}
}

/// A fault that `check` found.
public struct CheckFinding: Hashable, Sendable {
    public enum Kind: String, Sendable {
        /// The stored bytes are not the bytes that were pushed.
        case damaged
        /// The file is gone, but the queue did not delete it.
        case missing
        /// The user's file of a reference is gone or has changed.
        case source
        /// The user's file of a reference is absent with its folder, or the whole spool is: a disk may not be mounted.
        case absent
        /// The disk cannot read the bytes, so their state is unknown.
        case unreadable
        /// No row names this file in the spool.
        case stray
        /// A bundle has no sidecar.
        case sidecar
        /// A deletion was interrupted; the next `prune` finishes it.
        case interrupted
        /// A killed push has left a temporary file.
        case leftover
        /// A destination no longer has a capture for which it gave a receipt.
        case lost
        /// A destination could not be asked.
        case unconfirmed
    }

    public let kind: Kind
    public let id: String?
    public let path: String
    public let message: String
    /// Whether the fault was repaired.
    public let isRepaired: Bool
}

/// The counts of a check.
public struct CheckResult: Hashable, Sendable {
    public internal(set) var captures = 0
    public internal(set) var files = 0
    public internal(set) var bytesRead = 0
    /// The number of captures that were added from stray files, and are held.
    public internal(set) var held = 0
    /// The number of findings that were not repaired, by kind.
    public internal(set) var open: [CheckFinding.Kind: Int] = [:]
}

extension UploadQueue.Upkeep {
    /// Compares rows, files and hashes (Spec/queue.md section 11). Damage is set aside, never deleted.
    ///
    /// - Throws: `queue.damaged` if the database is damaged.
    public func check(
        _ options: CheckOptions = CheckOptions(), deliver: (CheckFinding) throws -> Void
    ) throws -> CheckResult {
        var check = QueueCheck(queue, options)
        try check.examineDatabase()
        try check.examineIncoming(deliver)
        if try check.isSpoolAbsent(deliver) { return check.result }
        try check.examineRows(deliver)
        try check.examineFiles(deliver)
        return check.result
    }
}

struct QueueCheck {
    let queue: UploadQueue
    private(set) var options: CheckOptions
    private(set) var result = CheckResult()

    init(_ queue: UploadQueue, _ options: CheckOptions) {
        self.queue = queue
        self.options = options
        if queue.isReadOnly { self.options.isDryRun = true }
    }

    var isRepairing: Bool { options.isRepairing && !options.isDryRun }

    func examineDatabase() throws {
        let found = try queue.store.read { try String.fetchAll($0, sql: "PRAGMA quick_check(3)") }
        guard found == ["ok"] else {
            throw QueueError(
                .damaged, "the database is damaged", of: queue.folder.database, hints: [QueueError.salvageHint])
        }
    }

    mutating func examineIncoming(_ deliver: (CheckFinding) throws -> Void) throws {
        for name in try queue.spool.sweepIncoming(isDryRun: options.isDryRun) {
            try tell(
                .leftover, nil, queue.folder.incoming.appending(name), "left by a push that was killed",
                isRepaired: !options.isDryRun, deliver)
        }
        if !options.isDryRun { try queue.store.turn { _ in try SettingsCopy(queue: queue).refresh() } }
        let leftover = SettingsCopy.leftover(in: queue.folder)
        guard FileStatus.exists(leftover) else { return }
        // With the turn to write, no other process can be using this file.
        let isGone = try queue.store.turnOrRead(isDryRun: options.isDryRun) {
            options.isDryRun || SettingsCopy.sweep(queue.folder)
        }
        if isGone {
            try tell(
                .leftover, nil, leftover, "left by a change of settings that was killed", isRepaired: !options.isDryRun,
                deliver)
        }
    }

    // MARK: - Rows

    mutating func examineRows(_ deliver: (CheckFinding) throws -> Void) throws {
        try queue.store.eachPage { records in
            let chosen = records.map { _ in Double.random(in: 0..<1, using: &options.generator) < options.readShare }
            let work = Mutex(zip(records, chosen).makeIterator())
            let folder = queue.folder
            let spool = queue.spool
            try OrderedWork.run(
                threads: options.readShare > 0 ? Thread.processors : 1, next: { work.withLock { $0.next() } },
                work: { pair in
                    let reads = pair.1 || Self.awaitsFile(pair.0)
                    return (pair.0, StoredBytesCheck(folder, spool).judge(pair.0, reads: reads))
                },
                deliver: { (item: (CaptureRecord, StoredBytesCheck.Verdict)) throws(any Error) -> Bool in
                    try take(item.0, item.1, deliver)
                    return true
                })
        }
    }

    private mutating func take(
        _ record: CaptureRecord, _ verdict: StoredBytesCheck.Verdict, _ deliver: (CheckFinding) throws -> Void
    ) throws {
        result.captures += 1
        result.bytesRead += verdict.bytesRead
        switch verdict.fault {
        case nil: try lookAgain(record, deliver)
        case .absent(let root):
            if !options.isDryRun {
                try queue.store.write { try $0.postpone(below: root, until: queue.clock.look($0).wall + Absence.pause) }
            }
            guard record.state != .completed, record.state != .cancelled else { break }
            let path = record.reference.map { FilePath($0) } ?? root
            try tell(.absent, record.id, path, Absence.message(root), isRepaired: false, deliver)
        case .unreadable(let error):
            let path = queue.captures.path(of: record) ?? queue.folder.bundlePath(record.sha256)
            try tell(.unreadable, record.id, path, error.message, isRepaired: false, deliver)
        case .wrong(let kind, let message): try settle(record, kind, message, deliver)
        }
        if let kind = Self.openDamage(record), try !restore(record, kind, deliver) {
            let path = record.reference.map { FilePath($0) } ?? queue.folder.bundlePath(record.sha256)
            try tell(
                kind, record.id, path, "the damage was found earlier; push the bundle again", isRepaired: false, deliver
            )
        }
        if record.holding == .removing {
            let path = queue.folder.bundlePath(record.sha256)
            try tell(
                .interrupted, record.id, path, "its deletion was interrupted; complete it with: capqueue prune",
                isRepaired: false, deliver)
        }
        if verdict.lacksSidecar && verdict.fault == nil {
            if isRepairing { try SidecarRepair(queue: queue).write(record) }
            let path = queue.folder.sidecarPath(record.sha256)
            try tell(
                .sidecar, record.id, path, "its sidecar is missing; salvage would need it", isRepaired: isRepairing,
                deliver)
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
    private mutating func settle(
        _ record: CaptureRecord, _ kind: CheckFinding.Kind, _ message: String, _ deliver: (CheckFinding) throws -> Void
    ) throws {
        let path = queue.captures.path(of: record) ?? queue.folder.bundlePath(record.sha256)
        if options.isDryRun {
            guard
                try queue.store.read({ try CaptureRecord.one($0, sequence: record.sequence) })?.holding
                    == record.holding
            else { return }
            return try tell(kind, record.id, path, message, isRepaired: false, deliver)
        }
        let aside = try queue.store.turn { turn -> FilePath?? in
            let now = try queue.store.read { try CaptureRecord.one($0, sequence: record.sequence) }
            guard let now, now.holding == record.holding, now.sha256 == record.sha256 else { return nil }
            // A push may have stored the bytes again while we waited for the turn.
            let reads = options.readShare > 0 || Self.awaitsFile(now)
            let fault = StoredBytesCheck(queue.folder, queue.spool).judge(now, reads: reads).fault
            guard case .wrong(let kind, let message) = fault else { return nil }
            return .some(try QuarantineRoom(queue: queue).setAside(now, kind, message, turn))
        }
        guard let aside else { return }
        let place = aside.map { "; set aside as \($0)" } ?? ""
        try tell(kind, record.id, path, message + place, isRepaired: false, deliver)
    }

    // MARK: - Files

    mutating func examineFiles(_ deliver: (CheckFinding) throws -> Void) throws {
        for shard in try queue.spool.shards() {
            for name in try queue.spool.names(inShard: shard) { try examine(name, in: shard, deliver) }
        }
    }

    private mutating func examine(
        _ name: FilePath.Component, in shard: FilePath.Component, _ deliver: (CheckFinding) throws -> Void
    ) throws {
        result.files += 1
        let path = queue.folder.spool.appending(shard).appending(name)
        guard let sha256 = Digest(hex: name.stem), QueueFolder.shard(sha256) == shard,
            name == QueueFolder.bundleName(sha256) || name == QueueFolder.sidecarName(sha256)
        else {
            return try tell(.stray, nil, path, "the queue does not use this name", isRepaired: false, deliver)
        }
        if try isNamed(sha256, isBundle: name == QueueFolder.bundleName(sha256)) { return }
        let stray = StrayFile(queue, sha256)
        var isRepaired = false
        var message = "a sidecar without a bundle"
        if name == QueueFolder.sidecarName(sha256) {
            guard !FileStatus.exists(queue.folder.bundlePath(sha256)) else { return }
            isRepaired = try isRepairing && stray.removeSidecar()
        } else {
            guard try queue.store.turnOrRead(isDryRun: options.isDryRun, { try !isNamed(sha256, isBundle: true) })
            else {
                return
            }
            message = "the database does not know this bundle; a push may have been killed, or the database is a backup"
            let adoption = isRepairing ? try stray.adopt() : nil
            isRepaired = adoption.map { $0 != .damaged } ?? false
            if adoption == .held { result.held += 1 }
            if adoption == .damaged { message = "damaged, or not a bundle; moved to quarantine/" }
        }
        try tell(.stray, nil, path, message, isRepaired: isRepaired, deliver)
    }

    private func isNamed(_ sha256: Digest, isBundle: Bool) throws -> Bool {
        // The sidecar of missing or quarantined bytes stays, because the bytes may be pushed again.
        let places =
            isBundle ? "('spool', 'removing')" : "('spool', 'removing', 'reference', 'missing', 'quarantined')"
        return try queue.store.read {
            try $0.integer("SELECT 1 FROM captures WHERE sha256 = ? AND holding IN \(places)", [sha256.data]) != nil
        }
    }

    mutating func tell(
        _ kind: CheckFinding.Kind, _ id: String?, _ path: FilePath, _ message: String, isRepaired: Bool,
        _ deliver: (CheckFinding) throws -> Void
    ) throws {
        if !isRepaired { result.open[kind, default: 0] += 1 }
        try deliver(CheckFinding(kind: kind, id: id, path: path.string, message: message, isRepaired: isRepaired))
    }
}
