public import CaptureBundle
public import QueueFiles
public import QueueModel

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
    /// - Throws: `queue.missing`, `queue.open`, `queue.newer`, `queue.older`, `queue.damaged`, `queue.busy`,
    ///   `queue.unusable`, `io.failed`.
    public init(
        at folder: QueueFolder, createIfMissing: Bool = false, freesReserve: Bool = false,
        signers: RequestSigners = .none, clock: QueueClock = .system
    ) throws(QueueError) {
        self.folder = folder
        self.clock = clock
        self.signers = signers
        spool = Spool(folder: folder)
        do {
            store = try QueueStore.open(folder, createIfMissing: createIfMissing, freesReserve: freesReserve)
        } catch {
            throw createIfMissing ? QueueError.withRoom(error, in: folder) : error
        }
        if createIfMissing && store.readOnly == nil { Reserve(folder: folder).createIfMissing() }
    }

    /// Whether the folder cannot be written or its disk is full. Then reading works, and all changes throw `io.failed`.
    public var isReadOnly: Bool { store.readOnly != nil }

    /// Closes the database, so that all its data is in one file. No call may follow.
    public func close() { store.close() }

    // MARK: - Parts

    /// The captures: what is known of each, its bytes, and the changes of users.
    public var captures: Captures { Captures(queue: self) }
    /// The places to which captures are sent.
    public var destinations: Destinations { Destinations(queue: self) }
    /// Captures that belong together.
    public var sessions: Sessions { Sessions(queue: self) }
    /// Deleting what was sent, looking for damage, and the disk.
    public var upkeep: Upkeep { Upkeep(queue: self) }

    public struct Captures: Sendable { let queue: UploadQueue }
    public struct Destinations: Sendable { let queue: UploadQueue }
    public struct Sessions: Sendable { let queue: UploadQueue }
    public struct Upkeep: Sendable { let queue: UploadQueue }
}
