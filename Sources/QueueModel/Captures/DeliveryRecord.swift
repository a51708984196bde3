public import CaptureBundle

/// The delivery of one capture to one destination.
public struct DeliveryRecord: Hashable, Sendable {
    public let number: Int
    /// The name of the destination; nil only if the queue had no destination at push.
    public package(set) var destination: String?
    public package(set) var state: DeliveryState
    /// The earliest time of the next try.
    public let dueAt: CaptureTime
    public package(set) var attempts: Int
    public package(set) var completedAt: CaptureTime?
    /// The proof that the destination has the bytes.
    public package(set) var receipt: String?
    /// The part of the bundle that was delivered; nil if the whole bundle was delivered.
    public package(set) var part: String?
    public package(set) var remoteID: String?
    public package(set) var remoteURL: String?
    public package(set) var errorCode: String?
    public package(set) var errorMessage: String?
    /// Whether an earlier try may have arrived, so that the server is asked before the next one.
    public let isInDoubt: Bool
    /// How often the server was asked for its decision.
    package let polls: Int
    package var idempotencyKey: String?
    package let capture: Int

    package init(
        number: Int, capture: Int, state: DeliveryState, dueAt: CaptureTime, attempts: Int, isInDoubt: Bool, polls: Int
    ) {
        self.number = number
        self.capture = capture
        self.state = state
        self.dueAt = dueAt
        self.attempts = attempts
        self.isInDoubt = isInDoubt
        self.polls = polls
    }
}

/// The state of a delivery (Spec/queue.md section 5).
public enum DeliveryState: String, Sendable, CaseIterable, Codable {
    /// The delivery waits for its first try, or for another try that does not count as an attempt.
    case pending
    /// A run has claimed the delivery.
    case uploading
    /// The server has the capture and has not decided yet.
    case processing
    /// The destination has the capture, and a receipt proves it.
    case completed
    /// The last try failed, and another one is due.
    case failed
    /// There is no further try until the user decides.
    case permanentlyFailed = "permanently_failed"
    /// The user stopped the delivery for now.
    case held
    /// The user does not want the capture sent.
    case cancelled
    /// The destination has other bytes under the same name.
    case conflict
    /// The bytes are damaged, missing, or not the bytes that were pushed.
    case quarantined

    /// All states in order of concern. The overall state of a capture is the first one that any of its deliveries has.
    package static let byConcern: [DeliveryState] = [
        .quarantined, .conflict, .permanentlyFailed, .failed, .held, .uploading, .processing, .pending, .completed,
        .cancelled,
    ]

    /// The states in which a capture will still be sent, or was sent and the server has not decided.
    public static let waiting: [DeliveryState] = [.pending, .failed, .uploading, .processing]

    /// The states that end without a receipt; only the user can continue from them.
    public static let failedForGood: [DeliveryState] = [.permanentlyFailed, .conflict, .quarantined]

    /// Returns the overall state of a capture.
    ///
    /// - Parameter states: the states of all its deliveries.
    public static func overall(_ states: some Collection<DeliveryState>) -> DeliveryState {
        byConcern.first(where: states.contains) ?? .pending
    }
}

/// An event that changes the state of a delivery (Spec/queue.md section 5).
public enum DeliveryEvent: String, Sendable, CaseIterable {
    case claim, accept, complete, fail, reject, conflict, park
    case hold, release, cancel, retry
    /// The user ran `mark-uploaded`.
    case record
    /// The same capture was pushed again.
    case push
    case damage, restore
    /// The server no longer has the capture.
    case lose
    /// The same capture was pushed again with `--resend`.
    case resend
}

/// Why the copy in a folder may be lost although a receipt speaks for it (Spec/queue.md section 8.1).
public enum CopyDoubt: String, Hashable, Sendable {
    /// The tool of release 1.0 wrote the receipt, and no run has looked at the copy since.
    case unseen
    /// There is no copy, on a file system that may have lost it in a power cut.
    case absent
    /// The copy has other bytes.
    case wrong
}

/// What a run found at the place of such a copy.
package enum CopyFinding: Hashable, Sendable {
    /// The copy is right, and synced under its name now. The receipt says so.
    case sound(receipt: String)
    /// Nobody can have lost it in a power cut, or it is not where the destination is now.
    case beyondDoubt
    case doubtful(CopyDoubt)
    /// It cannot be read at the moment.
    case unknown
}

/// A change of state, or an attempt to send.
public struct HistoryEvent: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case transition(from: DeliveryState?, to: DeliveryState, event: String, cause: String?)
        case attempt(
            number: Int, endedAt: CaptureTime?, outcome: String?, code: String?, message: String?, bytesSent: Int?)
    }

    /// When it happened.
    public let at: CaptureTime
    public let destination: String?
    public let kind: Kind

    package init(at: CaptureTime, _ destination: String?, _ kind: Kind) {
        (self.at, self.destination, self.kind) = (at, destination, kind)
    }
}
