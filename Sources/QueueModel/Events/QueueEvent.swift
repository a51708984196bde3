public import CaptureBundle

/// An event of a run (Spec/capqueue.md section 4).
public struct QueueEvent: Hashable, Sendable {
    public enum Name: String, Sendable {
        case started, ended, attempt
        case completed, processing, failed
        case permanentlyFailed = "permanently_failed"
        case conflict, quarantined, pending
        case blocked, offline, ready
        case paused, resumed, session, quota, warning
    }

    public let name: Name
    /// When it happened.
    public package(set) var at: CaptureTime
    public var destination: String?
    public var id: String?
    public var sha256: Digest?
    public var bytes: Int?
    public var session: String?
    public var attempt: Int?
    public var state: DeliveryState?
    public var code: String?
    public var message: String?
    /// Why a destination is blocked.
    public var cause: Block.Cause?
    /// When the next try is due.
    public var until: CaptureTime?
    public var receipt: String?
    public var remoteID: String?
    public var remoteURL: String?
    /// How long the try took.
    public var time: Duration?
    public var bytesSent: Int?
    public var completedCount: Int?
    public var failedCount: Int?

    package init(_ name: Name, at: Int, destination: String? = nil, message: String? = nil) {
        self.name = name
        self.at = CaptureTime(clamping: at)
        self.destination = destination
        self.message = message
    }

    /// Whether the user's hook program gets this event.
    public var isForHooks: Bool {
        switch name {
        case .completed, .permanentlyFailed, .conflict, .quarantined, .session, .quota, .blocked: true
        default: false
        }
    }
}
