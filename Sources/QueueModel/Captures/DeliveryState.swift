/// Where a delivery of a capture to one destination stands (Spec/queue.md section 5).
public enum DeliveryState: String, Sendable, CaseIterable, Codable {
    /// Waits for its first try, or for one that burns no attempt.
    case pending
    /// Claimed by a run, under a lease.
    case uploading
    /// The server has it and has not decided yet.
    case processing
    /// The destination has it, and a receipt says so.
    case completed
    /// The last try failed; another is due.
    case failed
    /// No further try; it stays until the user decides.
    case permanentlyFailed = "permanently_failed"
    /// The user stopped it.
    case held
    /// The user does not want it sent.
    case cancelled
    /// The destination has other bytes under our name.
    case conflict
    /// The bytes are damaged, gone, or not those that were pushed.
    case quarantined

    /// The overall state of a capture is the first of these that one of its deliveries has.
    package static let byConcern: [DeliveryState] = [
        .quarantined, .conflict, .permanentlyFailed, .failed, .held, .uploading, .processing, .pending, .completed,
        .cancelled,
    ]

    /// Something will still be sent, or was and is not decided.
    public static let waiting: [DeliveryState] = [.pending, .failed, .uploading, .processing]

    /// It ended without a receipt, and only the user can go on.
    public static let failedForGood: [DeliveryState] = [.permanentlyFailed, .conflict, .quarantined]

    /// - Parameter states: of all deliveries of one capture.
    public static func overall(_ states: some Collection<DeliveryState>) -> DeliveryState {
        byConcern.first(where: states.contains) ?? .pending
    }
}

/// What happens to a delivery (Spec/queue.md section 5).
public enum DeliveryEvent: String, Sendable, CaseIterable {
    case claim, accept, complete, fail, reject, conflict, park
    case hold, release, cancel, retry
    /// `mark-uploaded`
    case record
    /// The same capture was pushed again.
    case push
    case damage, restore
    /// The server no longer has it.
    case lose
    /// Pushed again, to be sent again.
    case resend
}
