import QueueModel

/// When a new delivery may be sent.
struct DeliveryStart {
    let due: Int
    /// The time that the user gave; for a span, when it ends by the time for stamps.
    let notBefore: Int?
    /// Where the user gave a span: its end, in `QueueClock.Reading.elapsed`.
    let spanUntil: Int?

    /// - Parameters:
    ///   - notBefore: the time that the user gave, in Unix milliseconds.
    ///   - delay: the span that the user gave, in milliseconds.
    init(_ now: QueueClock.Reading, notBefore: Int? = nil, delay: Int? = nil) {
        due = max(now.wall + (delay ?? 0), notBefore ?? now.wall)
        self.notBefore = delay.map { now.stamp + $0 } ?? notBefore
        spanUntil = delay.map { now.elapsed + $0 }
    }
}
