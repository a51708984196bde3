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

/// The result of a push.
public struct Pushed: Sendable {
    public enum Outcome: String, Sendable {
        case stored
        /// The queue knew this capture and kept the bytes that it has.
        case heldAlready = "held-already"
        /// The queue knew this capture. It was uploaded, its bytes were deleted, and with `evict-uploaded` they are not
        /// stored again.
        case uploadedAlready = "uploaded-already"
        /// The queue knew this capture. Its bytes were damaged or gone, and are now stored again.
        case restored
    }

    /// A sentence, and what would send the capture.
    public struct Note: Hashable, Sendable {
        public let words: String
        /// The change that sends it; nil if there is none.
        public internal(set) var change: UserChange?
        /// Whether a push that sends again would send it.
        public internal(set) var canBeResent = false
    }

    public let id: String
    public let outcome: Outcome
    public let sha256: Digest
    public let byteCount: Int
    public let verdict: Verdict
    /// Why the trust file does not accept the bundle: its key is revoked, expired or unknown. nil if it accepts the bundle,
    /// or if the device is unknown and the trust file names no device.
    public let trustFault: BundleError?
    /// Remarks for the user.
    public internal(set) var notes: [Note]
    /// Whether it is held, because the queue that had it before may have sent or cancelled it.
    public internal(set) var isHeld = false
    /// Whether the capture belongs to a session and has no recorded place in it, so that it is ordered by its push.
    public internal(set) var lacksOrder = false
    /// The warning that the spool is above its mark, if it is due.
    public internal(set) var quotaWarning: QuotaWarning?
}

/// A warning that the spool is larger than its mark.
public struct QuotaWarning: Hashable, Sendable {
    public let usedBytes: Int
    public let warnAt: Int
}
