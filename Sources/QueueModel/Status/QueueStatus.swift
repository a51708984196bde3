public import CaptureBundle
package import CaptureNative
package import SystemPackage

/// The state of a queue. Computing it takes no longer with a million captures than with a thousand.
public struct QueueStatus: Hashable, Sendable {
    public struct Total: Hashable, Sendable {
        public let captures: Int
        public let bytes: Int

        package static let none = Total(captures: 0, bytes: 0)

        package init(captures: Int, bytes: Int) { (self.captures, self.bytes) = (captures, bytes) }

        static func + (one: Total, other: Total) -> Total {
            Total(captures: one.captures + other.captures, bytes: one.bytes + other.bytes)
        }
    }

    public struct Waiting: Hashable, Sendable {
        public let id: String
        public let pushedAt: CaptureTime
        /// Since the push, or since its `not_before`.
        public let age: Duration

        package init(id: String, pushedAt: CaptureTime, age: Duration) {
            (self.id, self.pushedAt, self.age) = (id, pushedAt, age)
        }
    }

    public struct CutShort: Hashable, Sendable {
        public let captures: Int
        public let message: String

        package init(captures: Int, message: String) { (self.captures, self.message) = (captures, message) }
    }

    public struct Sessions: Hashable, Sendable {
        public let open: Int
        public let ended: Int
        /// The number of ended sessions whose members have all landed.
        public let due: Int

        package init(open: Int, ended: Int, due: Int) { (self.open, self.ended, self.due) = (open, ended, due) }
    }

    /// The totals of all states that at least one capture has.
    public package(set) var totals: [DeliveryState: Total] = [:]
    /// The bytes in the spool, including the quarantine.
    public package(set) var usedBytes = 0
    public package(set) var settings: QueueSettings
    /// What encrypts the file system of the spool.
    public package(set) var encryption = StorageEncryption.unknown
    /// The room on the disk; nil if it is unknown.
    public package(set) var room: DiskRoom?
    /// How many files the disk can still have; nil where the file system has no table of them.
    public package(set) var freeInodes: Int?
    /// Whether a quota has no room for another capture like the last one.
    public package(set) var isQuotaFull = false
    /// The bytes that root has taken of those that the disk keeps for root, so that nothing that the user deletes helps.
    package var takenByRoot = 0
    /// Whether push refuses everything, because nothing encrypts the disk.
    public package(set) var isUnencrypted = false
    /// Whether the disk is mounted read-only.
    public package(set) var isDiskReadOnly = false
    /// A folder of the queue that this user may not write, on a disk that is not read-only.
    package var unwritableFolder: FilePath?
    /// The size of the capture that was pushed last, as a measure for the next one.
    package var nextBytes = 0
    /// Whether bundles are stored in the spool, but the folder is missing or empty.
    public package(set) var isSpoolAbsent = false
    /// The captures with bytes here of which only parts, such as the photo, were delivered.
    public package(set) var partsOnly = Total.none
    public package(set) var sessions = Sessions(open: 0, ended: 0, due: 0)
    /// The deliveries of each destination; the first are those without one, where there are any.
    public package(set) var work: [DestinationWork] = []
    public package(set) var traffic: [Traffic] = []
    public package(set) var isPaused = false
    /// The distance of the wall clock from the expected time, if it delays deletion; nil otherwise.
    public package(set) var clockDoubt: Duration?
    /// What can be deleted so that the spool is below its limits again, and the disk has room; nil if nothing was uploaded
    /// or room is not short.
    public package(set) var prunable: Prunable?
    /// The files that have lain in the inbox for too long.
    package var leftInInbox = 0
    /// Why the inbox cannot be read; nil if it can, or if there is none.
    public package(set) var inboxFault: String?
    /// The folder of the queue that is on a mount of its own; nil if there is none.
    package var folderApart: FilePath?
    /// How many of the used bytes are damaged files in quarantine.
    package var quarantinedBytes = 0
    package var quarantine: FilePath = ""
    package var disk = DiskKind.usual

    package init(_ settings: QueueSettings) { self.settings = settings }

    public var isOverMark: Bool { usedBytes > settings.warnAt }

    /// Whether another capture like the last one would break `limit`.
    public var isAtLimit: Bool { settings.limit.map { usedBytes + max(nextBytes, 1) - evictableBytes > $0 } ?? false }

    /// Whether the used bytes would be within `warn-at`, or else within `limit`, without the damaged files.
    package var isCrowdedByQuarantine: Bool {
        let rest = usedBytes - quarantinedBytes
        return quarantinedBytes > 0 && rest <= max(settings.warnAt, (settings.limit ?? 0) - max(nextBytes, 1))
    }

    /// What `push` may delete when it needs room.
    private var evictableBytes: Int { settings.evictsUploaded ? prunable?.bytes ?? 0 : 0 }

    public var isDiskLow: Bool { (room?.isLow ?? false) || isQuotaFull }

    /// Whether the disk can have less than 1,000 further files. A capture has two.
    public var isLowOnInodes: Bool { freeInodes.map { $0 < 1000 } ?? false }

    public var freeBytes: Int? { room?.free }

    /// The number of captures that ended without a receipt, so that only the user can continue.
    public var failedForGood: Int { DeliveryState.failedForGood.reduce(0) { $0 + (totals[$1]?.captures ?? 0) } }

    public var destinations: [Destination] { work.compactMap(\.destination) }

    public var oldestWaiting: Waiting? {
        work.compactMap(\.oldestWaiting).max { $0.age < $1.age }
    }

    /// What will be sent to all destinations together: a capture for two of them counts twice.
    public var backlog: Total { work.map(\.backlog).reduce(.none, +) }

    /// How long the backlog will take at the present rate: destinations work side by side.
    ///
    /// - Returns: nil without a backlog, and where it cannot be said of one destination.
    public var remaining: Duration? {
        let busy = work.filter { $0.backlog.captures > 0 }
        let times = busy.compactMap(\.remaining)
        return isPaused || times.count < busy.count ? nil : times.max()
    }

    public var waiting: Int { DeliveryState.waiting.reduce(0) { $0 + (totals[$1]?.captures ?? 0) } }
}

/// What encrypts the files of the spool, as far as Linux says (Spec/queue.md section 16).
public enum StorageEncryption: String, Hashable, Sendable {
    /// Every disk below the file system is a dm-crypt volume, such as LUKS.
    case dmCrypt = "dm-crypt"
    /// The folder has a policy of fscrypt.
    case fscrypt
    /// Nothing known encrypts them: neither says Linux so, nor can it say so of a disk that encrypts itself.
    case unknown
}
