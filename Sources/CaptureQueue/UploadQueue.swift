import CaptureBundle
import CaptureNative
import GRDB
// Who imports CaptureQueue gets the values and errors of its calls with it.
@_exported public import QueueModel
@_exported public import QueueTransports
public import SystemPackage

/// A queue of bundles on disk (Spec/queue.md): what it took stays until a destination has it and the retention has passed.
///
/// ```swift
/// let queue = try UploadQueue(at: QueueFolder.usual, createIfMissing: true)
/// let pushed = try queue.push("cap.bundle")
/// print(pushed.id)
/// ```
///
/// Calls block until the disk has what they promise. They can be made from several threads and several processes at once;
/// writers take turns. All of them throw `QueueError`, and `BundleError` for what is wrong with a bundle or a file of the user's.
public final class UploadQueue: Sendable {
    public let folder: QueueFolder
    let store: QueueStore
    let spool: Spool
    let clock: QueueClock

    /// Opens a queue.
    ///
    /// - Parameters:
    ///   - createIfMissing: whether it is made where there is none.
    ///   - freesReserve: whether what `push` keeps free is given up when the disk is full. For changes that free room or need
    ///     little of it.
    ///   - clock: for tests; the machine's clocks otherwise.
    /// - Throws: `queue.missing`, `queue.open`, `queue.newer`, `queue.damaged`, `queue.busy`, `queue.unusable`, `io.failed`.
    public init(
        at folder: QueueFolder, createIfMissing: Bool = false, freesReserve: Bool = false, clock: QueueClock = .system
    ) throws(QueueError) {
        self.folder = folder
        self.clock = clock
        spool = Spool(folder: folder)
        do {
            store = try QueueStore.open(folder, createIfMissing: createIfMissing, freesReserve: freesReserve)
        } catch {
            throw createIfMissing ? QueueError.withHint(error) : error
        }
        if createIfMissing && store.readOnly == nil { Reserve(folder: folder).makeIfMissing() }
    }

    /// Whether the folder cannot be written, or its disk is full: reading works, all else throws `io.failed`.
    public var isReadOnly: Bool { store.readOnly != nil }

    /// Closes the database, so that all of it is in one file. No call may follow.
    public func close() { store.close() }

    // MARK: - What is there

    /// The capture that an id, the beginning of one, or the beginning of a bundle's SHA-256 names.
    ///
    /// - Throws: `id.malformed`, `id.unknown`, `id.ambiguous`.
    public func capture(_ id: String) throws -> CaptureRecord {
        try store.read { try $0.capture(named: id) }
    }

    public func settings() throws -> QueueSettings {
        try store.read { try QueueSettings($0) }
    }

    /// Where the bytes of a capture lie; nil where there are none.
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
