import CaptureNative

/// Something that stays as it is until a person does something about it (Spec/capqueue.md section 3).
public struct QueueConcern: Hashable, Sendable {
    /// In the order in which they are shown.
    public enum Code: String, Sendable, CaseIterable {
        /// Captures ended without a receipt.
        case failed = "captures.failed"
        /// Another capture like the last one would break `limit`, so push refuses it.
        case atLimit = "quota.limit"
        /// The disk or a quota has no room for another capture like the last one (`QueueStatus.isDiskLow`).
        case lowDisk = "quota.disk"
        /// The disk can have less than 1,000 further files.
        case lowInodes = "quota.inodes"
        /// The disk is mounted read-only, or this user may not write a folder of the queue.
        case readOnlyDisk = "disk.readonly"
        /// Push refuses everything, because nothing encrypts the disk.
        case unencryptedDisk = "disk.unencrypted"
        /// The queue is on FAT, or on an ext file system without a journal.
        case fat = "disk.fat", noJournal = "disk.journal"
        /// A folder of the queue is on a mount of its own, so push refuses new captures, or damage cannot be set aside.
        case apart = "disk.mounts"
        /// The spool is missing or empty, although bundles are stored in it.
        case spoolAbsent = "spool.absent"
        /// Captures wait for files of the user that are absent with their folder.
        case absent = "captures.absent"
        /// The spool is larger than `warn-at`.
        case overMark = "quota.mark"
        /// Captures wait, and have no destination.
        case unassigned = "captures.unassigned"
        /// The user stopped captures.
        case held = "captures.held"
        /// `salvage`, `check --repair` or `adopt` stopped captures, because it cannot know what was sent before.
        case salvaged = "captures.salvaged"
        /// Captures or ends of sessions wait for a destination that is blocked for a reason that only the user can end.
        case blocked = "destination.blocked"
        /// Captures or ends of sessions wait for a destination that is paused.
        case destinationPaused = "destination.paused"
        /// Captures or ends of sessions wait, and the queue is paused.
        case queuePaused = "queue.paused"
        /// A destination did not take the end of a session after several attempts.
        case untold = "session.untold"
        /// The end of a session is never reported to a destination, because a member was cancelled.
        case keptBack = "session.cancelled"
        /// Runs ended before they had sent a capture, three times in a row.
        case cutShort = "run.limit"
        /// A capture or the end of a session has waited for longer than the user allows.
        case old = "captures.old"
        /// The copies in a folder have other bytes than the receipts say.
        case copiesWrong = "copies.wrong"
        /// Copies are not in their folder, whose file system may have lost them in a power cut.
        case copiesAbsent = "copies.absent"
        /// A file has been in the inbox for more than 10 minutes, or the inbox cannot be read.
        case inbox = "inbox.left"
        /// The wall clock cannot be right, so nothing is deleted.
        case clock = "clock.doubted"
    }

    public let code: Code
    /// How many captures or sessions are affected; 1 where neither is counted.
    public let count: Int
    /// How many of them are sessions whose ends wait beside captures.
    public let ends: Int
    /// nil for the whole queue, and for captures without a destination.
    public let destination: String?

    package init(_ code: Code, _ count: Int, _ destination: String? = nil, ends: Int = 0) {
        self.code = code
        self.count = count
        self.ends = ends
        self.destination = destination
    }
}

extension QueueStatus {
    /// What a person has to look at. Something that only waits (for its turn, a retry, a network) is not in it, and neither is
    /// a state that keeps nothing from being sent, such as a paused queue in which nothing waits.
    ///
    /// - Parameters:
    ///   - destination: only what concerns this one; nil for the whole queue.
    ///   - maxAge: how long a capture may wait; nil for any time.
    public func concerns(of destination: String? = nil, maxAge: Duration? = nil) -> [QueueConcern] {
        let chosen = destination.map { name in work.filter { $0.destination?.name == name } } ?? work
        return QueueConcern.Code.allCases.flatMap { code in
            func each(_ count: (DestinationWork) -> Int) -> [QueueConcern] {
                chosen.map { QueueConcern(code, count($0), $0.destination?.name) }
            }
            func stopped(_ isStopped: (Destination) -> Bool) -> [QueueConcern] {
                chosen.filter { $0.destination.map(isStopped) ?? false }.map { work in
                    QueueConcern(code, work.stoppable, work.destination?.name, ends: work.dueSessions)
                }
            }
            func whole(_ count: Int, ends: Int = 0) -> [QueueConcern] { [QueueConcern(code, count, ends: ends)] }
            func isSo(_ condition: Bool) -> [QueueConcern] { whole(destination == nil && condition ? 1 : 0) }
            let found =
                switch code {
                case .failed: each { $0.count(DeliveryState.failedForGood) }
                case .unassigned: each { $0.destination == nil ? $0.backlog.captures : 0 }
                case .absent: each(\.absent)
                case .held: each { $0.count([.held]) - $0.heldBySalvage }
                case .salvaged: each(\.heldBySalvage)
                case .blocked: stopped { $0.block?.needsUser == true }
                case .destinationPaused: stopped(\.isPaused)
                case .untold: each(\.untoldSessions)
                case .keptBack: each(\.keptBackSessions.count)
                case .copiesWrong: each { $0.doubtfulCopies[.wrong] ?? 0 }
                case .copiesAbsent: each { $0.doubtfulCopies[.absent] ?? 0 }
                case .cutShort: each { $0.cutShort?.captures ?? 0 }
                case .old: each { $0.oldestAge.map { $0 > maxAge ?? $0 } ?? false ? 1 : 0 }
                case .queuePaused:
                    isPaused
                        ? whole(chosen.reduce(0) { $0 + $1.stoppable }, ends: chosen.reduce(0) { $0 + $1.dueSessions })
                        : []
                case .atLimit: isSo(isAtLimit)
                case .lowDisk: isSo(isDiskLow)
                case .lowInodes: isSo(isLowOnInodes)
                case .readOnlyDisk: isSo(isDiskReadOnly || unwritableFolder != nil)
                case .unencryptedDisk: isSo(isUnencrypted)
                case .fat: isSo(disk == .fat)
                case .noJournal: isSo(disk == .withoutJournal)
                case .apart: isSo(folderApart != nil)
                case .spoolAbsent: isSo(isSpoolAbsent)
                case .overMark: isSo(isOverMark)
                case .clock: isSo(clockDoubt != nil)
                case .inbox: whole(destination != nil ? 0 : inboxFault == nil ? leftInInbox : 1)
                }
            return found.filter { $0.count > 0 }
        }
    }
}
