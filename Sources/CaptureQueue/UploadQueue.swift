public import CaptureBundle
import CaptureNative
import GRDB
// Whoever imports CaptureQueue also gets the values and errors of its calls.
@_exported public import QueueModel
@_exported public import QueueTransports
public import SystemPackage

/// A queue on disk (Spec/queue.md), which keeps each bundle until it is delivered and the retention has passed.
///
/// ```swift
/// let queue = try UploadQueue(at: QueueFolder.usual, createIfMissing: true)
/// let pushed = try queue.push("cap.bundle")
/// print(pushed.id)
/// ```
///
/// Each call blocks until the disk has what it promises. Several threads and processes may call at the same time;
/// writers take turns. All calls throw `QueueError`, or `BundleError` for a fault in a bundle or in a file of the user.
public final class UploadQueue: Sendable {
    public let folder: QueueFolder
    let store: QueueStore
    let spool: Spool
    let clock: QueueClock
    let signers: RequestSigners

    /// Opens a queue.
    ///
    /// - Parameters:
    ///   - createIfMissing: whether to make the queue if there is none.
    ///   - freesReserve: whether to delete the reserve file when the disk is full. Set it for changes that free space
    ///     or use little.
    ///   - signers: the keys for destinations whose requests are signed.
    ///   - clock: the machine's clocks, or others in tests.
    /// - Throws: `queue.missing`, `queue.open`, `queue.newer`, `queue.damaged`, `queue.busy`, `queue.unusable`, `io.failed`.
    public init(
        at folder: QueueFolder, createIfMissing: Bool = false, freesReserve: Bool = false,
        signers: RequestSigners = .none,
        clock: QueueClock = .system
    ) throws(QueueError) {
        self.folder = folder
        self.clock = clock
        self.signers = signers
        spool = Spool(folder: folder)
        do {
            store = try QueueStore.open(folder, createIfMissing: createIfMissing, freesReserve: freesReserve)
        } catch {
            throw createIfMissing ? QueueError.withHint(error) : error
        }
        if createIfMissing && store.readOnly == nil { Reserve(folder: folder).makeIfMissing() }
    }

    /// Whether the folder cannot be written or its disk is full. Then reading works, and all changes throw `io.failed`.
    public var isReadOnly: Bool { store.readOnly != nil }

    /// Closes the database, so that all its data is in one file. No call may follow.
    public func close() { store.close() }

    // MARK: - What is there

    /// Finds the capture for an id, the beginning of an id, or the beginning of a bundle's SHA-256.
    ///
    /// - Throws: `id.malformed`, `id.unknown`, `id.ambiguous`.
    public func capture(_ id: String) throws -> CaptureRecord {
        try store.read { try $0.capture(named: id) }
    }

    public func settings() throws -> QueueSettings {
        try store.read { try QueueSettings($0) }
    }

    /// The path of a capture's bytes; nil if there are none.
    public func path(of record: CaptureRecord) -> FilePath? {
        switch record.holding {
        case .spool: folder.bundlePath(record.sha256)
        case .reference: record.reference.map { FilePath($0) }
        case .removing, .removed, .quarantined, .missing: nil
        }
    }
}

extension QueueSettings {
    init(_ db: Database) throws {
        self.init()
        for row in try db.rows("SELECT name, value FROM settings") {
            guard let name = Name(rawValue: try row.needText("name")) else { continue }
            let value = try row.needText("value")
            do throws(QueueError) { try set(name, value) } catch {
                throw QueueError.corruptRecord("a setting is not valid: \(error)")
            }
        }
    }
}
