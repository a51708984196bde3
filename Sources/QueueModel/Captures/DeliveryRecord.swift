public import CaptureBundle

/// The delivery of one capture to one destination.
public struct DeliveryRecord: Hashable, Sendable {
    public let number: Int
    /// The name of the destination; nil only if the queue had no destination at push.
    public let destination: String?
    public package(set) var state: DeliveryState
    public let priority: Int
    /// The earliest time of the next try.
    public let dueAt: CaptureTime
    public package(set) var attempts: Int
    public package(set) var completedAt: CaptureTime?
    /// The proof that the destination has the bytes.
    public let receipt: String?
    /// The part of the bundle that was delivered; nil if the whole bundle was delivered.
    public let part: String?
    public let remoteID: String?
    public let remoteURL: String?
    public package(set) var errorCode: String?
    public package(set) var errorMessage: String?
    /// Whether an earlier try may have arrived, so that the server is asked before the next one.
    public let isInDoubt: Bool
    /// How often the server was asked for its decision.
    package let polls: Int
    package var idempotencyKey: String?
    package let capture: Int

    package init(
        number: Int, destination: String?, state: DeliveryState, priority: Int, dueAt: CaptureTime,
        attempts: Int, completedAt: CaptureTime?, receipt: String?, part: String? = nil,
        remoteID: String?, remoteURL: String?, errorCode: String?, errorMessage: String?, isInDoubt: Bool,
        polls: Int, idempotencyKey: String?, capture: Int
    ) {
        self.number = number
        self.destination = destination
        self.state = state
        self.priority = priority
        self.dueAt = dueAt
        self.attempts = attempts
        self.completedAt = completedAt
        self.receipt = receipt
        self.part = part
        self.remoteID = remoteID
        self.remoteURL = remoteURL
        self.errorCode = errorCode
        self.errorMessage = errorMessage
        self.isInDoubt = isInDoubt
        self.polls = polls
        self.idempotencyKey = idempotencyKey
        self.capture = capture
    }
}
