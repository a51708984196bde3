/// The deliveries of one destination: how many are in each state, and how long those that wait will take.
public struct DestinationWork: Hashable, Sendable {
    /// nil for captures that have no destination.
    public let destination: Destination?
    /// For each state that a delivery is in.
    public package(set) var totals: [DeliveryState: QueueStatus.Total] = [:]
    /// How many of the held ones a salvage held, and the user did not hold again.
    public package(set) var heldBySalvage = 0
    /// How many wait for a file of the user that is absent with its folder.
    public package(set) var absent = 0
    /// How many copies in the folder may be lost although there are receipts for them, by the reason.
    public package(set) var doubtfulCopies: [CopyDoubt: Int] = [:]
    /// Sessions that ended, and whose end the destination did not take after several attempts.
    public package(set) var untoldSessions = 0
    /// Sessions whose end waits to be reported, and nothing but the report.
    public package(set) var dueSessions = 0
    /// The names of sessions whose end is never reported, because a member was cancelled.
    public package(set) var keptBackSessions: [String] = []
    /// How many captures were not sent because their last runs ended before, and the words of one; nil for none.
    public package(set) var cutShort: QueueStatus.CutShort?
    /// nil where nothing waits, or only captures whose `--not-before` has not come.
    public package(set) var oldestWaiting: QueueStatus.Waiting?
    /// The end of a session that waits to be reported for longest; its `id` is the name of the session.
    public package(set) var oldestEnd: QueueStatus.Waiting?
    /// nil where nothing landed in the last hours, or nothing waits.
    public package(set) var rate: SendingRate?

    package init(_ destination: Destination?) { self.destination = destination }

    /// What will be sent, or was sent and is not decided yet.
    public var backlog: QueueStatus.Total {
        DeliveryState.waiting.compactMap { totals[$0] }.reduce(.none, +)
    }

    /// What a pause or a block stops: captures and ends of sessions.
    var stoppable: Int { backlog.captures + dueSessions }

    /// How long the oldest capture or end of a session has waited.
    public var oldestAge: Duration? { [oldestWaiting, oldestEnd].compactMap { $0?.age }.max() }

    public func count(_ states: [DeliveryState]) -> Int { states.reduce(0) { $0 + (totals[$1]?.captures ?? 0) } }

    /// Whether the user held some captures and a salvage held others.
    public var isHeldTwice: Bool { heldBySalvage > 0 && heldBySalvage < count([.held]) }

    /// Whether nothing is sent there now: it is paused or blocked, or there is no destination.
    public var isStopped: Bool { destination.map { $0.isPaused || $0.block != nil } ?? true }

    /// How long the backlog will take at the present rate.
    ///
    /// - Returns: nil without a backlog, without a rate, and while nothing is sent there.
    public var remaining: Duration? {
        guard backlog.captures > 0, !isStopped else { return nil }
        return rate?.time(for: backlog.bytes)
    }
}
