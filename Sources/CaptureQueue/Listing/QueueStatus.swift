import GRDB
public import QueueModel
import SystemPackage

/// The state of a queue. Computing it takes no longer with a million captures than with a thousand.
public struct QueueStatus: Hashable, Sendable {
    public struct Total: Hashable, Sendable {
        public let captures: Int
        public let bytes: Int

        static let none = Total(captures: 0, bytes: 0)

        static func + (one: Total, other: Total) -> Total {
            Total(captures: one.captures + other.captures, bytes: one.bytes + other.bytes)
        }
    }

    public struct Waiting: Hashable, Sendable {
        public let id: String
        /// When it was pushed, in Unix milliseconds.
        public let pushedAt: Int
        /// Since the push, or since its `not_before`.
        public let ageMilliseconds: Int
    }

    public struct CutShort: Hashable, Sendable {
        public let captures: Int
        public let message: String
    }

    public struct Sessions: Hashable, Sendable {
        public let open: Int
        public let ended: Int
        /// The number of ended sessions whose members have all landed.
        public let due: Int
    }

    /// The totals of all states that at least one capture has.
    public let totals: [DeliveryState: Total]
    /// The bytes in the spool, including the quarantine.
    public let usedBytes: Int
    public let settings: QueueSettings
    /// The room on the disk; nil if it is unknown.
    public let room: DiskRoom?
    /// The size of the capture that was pushed last, as a measure for the next one.
    let nextBytes: Int
    /// Whether bundles are stored in the spool, but the folder is missing or empty.
    public let isSpoolAbsent: Bool
    /// The captures with bytes here of which only parts, such as the photo, were delivered.
    public let partsOnly: Total
    public let sessions: Sessions
    /// The deliveries of each destination; the first are those without one, where there are any.
    public let work: [DestinationWork]
    public let traffic: [Traffic]
    public let isPaused: Bool
    /// The distance of the wall clock from the expected time in milliseconds, if it delays deletion; nil otherwise.
    public let clockDoubt: Int?
    /// What can be deleted so that the spool is below its limits again, and the disk has room; nil if nothing was uploaded
    /// or room is not short.
    public let releasable: Releasable?
    var inbox: Inbox.Standing?

    /// Why the inbox cannot be read; nil if it can, or if there is none.
    public var inboxFault: String? { inbox?.fault }

    public var isOverMark: Bool { usedBytes > settings.warnAt }

    /// Whether another capture like the last one would break `limit`.
    public var isAtLimit: Bool { settings.limit.map { usedBytes + max(nextBytes, 1) - evictableBytes > $0 } ?? false }

    /// What `push` may delete when it needs room.
    private var evictableBytes: Int { settings.evictsUploaded ? releasable?.bytes ?? 0 : 0 }

    public var isDiskLow: Bool { room?.isLow ?? false }

    public var freeBytes: Int? { room?.free }

    /// The number of captures that ended without a receipt, so that only the user can continue.
    public var failedForGood: Int { DeliveryState.failedForGood.reduce(0) { $0 + (totals[$1]?.captures ?? 0) } }

    public var destinations: [Destination] { work.compactMap(\.destination) }

    public var oldestWaiting: Waiting? {
        work.compactMap(\.oldestWaiting).max { $0.ageMilliseconds < $1.ageMilliseconds }
    }

    /// What will be sent to all destinations together: a capture for two of them counts twice.
    public var backlog: Total { work.map(\.backlog).reduce(.none, +) }

    /// How long the backlog will take at the present rate, in milliseconds: destinations work side by side.
    ///
    /// - Returns: nil without a backlog, and where it cannot be said of one destination.
    public var remaining: Int? {
        let busy = work.filter { $0.backlog.captures > 0 }
        let times = busy.compactMap(\.remaining)
        return isPaused || times.count < busy.count ? nil : times.max()
    }

    public var waiting: Int { DeliveryState.waiting.reduce(0) { $0 + (totals[$1]?.captures ?? 0) } }
}

extension QueueStatus.Total {
    /// Reads the columns `captures` and `bytes`.
    init(row: Row) throws {
        self.init(captures: try row.needInteger("captures"), bytes: try row.needInteger("bytes"))
    }
}

extension UploadQueue {
    public func status() throws -> QueueStatus {
        try store.read { db in
            let reading = try clock.read(db)
            var totals: [DeliveryState: QueueStatus.Total] = [:]
            for row in try db.rows("SELECT * FROM totals WHERE captures > 0") {
                totals[try row.state("state")] = try .init(row: row)
            }
            let settings = try QueueSettings(db)
            let (used, next) = (try db.usedBytes(spool), try db.lastBytes())
            let releasable = try releasable(used: used, next: next, settings, db)
            return QueueStatus(
                totals: totals, usedBytes: used, settings: settings,
                room: try? settings.room(
                    at: folder, next: next, evictable: settings.evictsUploaded ? releasable?.bytes ?? 0 : 0),
                nextBytes: next,
                isSpoolAbsent: try (db.integer("SELECT files FROM usage") ?? 0) > 0 && spool.shards().isEmpty,
                partsOnly: try Self.partsOnly(db), sessions: try Self.sessionCounts(db),
                // Ages go by the wall clock: the time for stamps can be far ahead after a clock was wrong.
                work: try DestinationWork.all(db, at: reading.wall),
                traffic: try Traffic.all(db), isPaused: try db.text("SELECT paused FROM control") != nil,
                clockDoubt: reading.doubt, releasable: releasable,
                inbox: settings.inbox.map { Inbox.Standing(FilePath($0), at: reading.wall) })
        }
    }

    /// What can be deleted if room is short, after another capture of `next` bytes. Of many captures only the oldest are
    /// looked at, so that a long-used queue takes no longer.
    private func releasable(used: Int, next: Int, _ settings: QueueSettings, _ db: Database) throws -> Releasable? {
        let room = try? settings.room(at: folder, next: next)
        let isLow = room?.isLow ?? false
        let short = max(
            used - settings.warnAt, settings.limit.map { used + max(next, 1) - $0 } ?? 0,
            isLow ? max(1, (room?.floor ?? 0) + next - (room?.free ?? 0)) : 0)
        return short > 0 ? try Eviction(queue: self).releasable(bytes: short, looks: 100, db) : nil
    }

    private static func partsOnly(_ db: Database) throws -> QueueStatus.Total {
        let row = try db.row(
            """
            SELECT count(*) AS captures, coalesce(sum(bytes), 0) AS bytes FROM captures INDEXED BY captures_parts
            WHERE parts_only = 1 AND holding IN ('spool', 'reference')
            """)
        return try row.map { try .init(row: $0) } ?? .none
    }

    private static func sessionCounts(_ db: Database) throws -> QueueStatus.Sessions {
        // A filter leaves out the rest of a condition once it is known.
        let row = try db.row(
            """
            SELECT count(*) AS every, count(ended_at) AS ended, count(*) FILTER (WHERE \(Session.due)) AS due FROM sessions
            """)
        let (every, ended) = (try row?.needInteger("every") ?? 0, try row?.needInteger("ended") ?? 0)
        return .init(open: every - ended, ended: ended, due: try row?.needInteger("due") ?? 0)
    }
}
