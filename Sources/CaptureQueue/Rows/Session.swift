public import CaptureBundle
public import QueueModel

/// A group of captures that belong together (Spec/queue.md section 9).
public struct Session: Hashable, Sendable {
    public let name: String
    public let openedAt: CaptureTime
    public let endedAt: CaptureTime?
    /// Whether members that failed or were cancelled count as landed.
    public let isIncomplete: Bool
    /// Whether the session has ended and every member has landed.
    public let isDue: Bool
    public let members: [DeliveryState: Int]
    /// Whether a destination was notified of the end of the session and accepted that.
    public let isTold: Bool

    /// The number of members that have not landed yet.
    public var unlanded: Int {
        let landed: Set<DeliveryState> =
            isIncomplete ? [.completed, .permanentlyFailed, .conflict, .quarantined, .cancelled] : [.completed]
        return members.reduce(0) { landed.contains($1.key) ? $0 : $0 + $1.value }
    }

    public var landed: Int { members[.completed] ?? 0 }

    public var count: Int { members.values.reduce(0, +) }
}
