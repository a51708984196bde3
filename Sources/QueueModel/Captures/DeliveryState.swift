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
