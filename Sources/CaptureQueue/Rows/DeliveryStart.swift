import CaptureBundle
import QueueModel

/// When a new delivery may be sent.
struct DeliveryStart {
    let due: Int
    /// The time that the user gave; for a span, when it ends by the time for stamps.
    let notBefore: Int?
    /// Where the user gave a span: its end, in `QueueClock.Reading.elapsed`.
    let spanUntil: Int?

    init(_ now: QueueClock.Reading, notBefore: CaptureTime? = nil, delay: Duration? = nil) {
        due = max(now.wall + (delay?.milliseconds ?? 0), notBefore?.milliseconds ?? now.wall)
        self.notBefore = delay.map { now.stamp + $0.milliseconds } ?? notBefore?.milliseconds
        spanUntil = delay.map { now.elapsed + $0.milliseconds }
    }
}
