/// How fast captures landed at a destination lately.
public struct SendingRate: Hashable, Sendable {
    public let bytesPerSecond: Int

    /// One attempt that ended, in Unix milliseconds, with the bytes of the capture.
    package typealias Attempt = (delivery: Int, bytes: Int, start: Int, end: Int)

    package init?(bytesPerSecond: Int) {
        guard bytesPerSecond > 0 else { return nil }
        self.bytesPerSecond = bytesPerSecond
    }

    /// Counts the time in which at least one of these attempts was under way: breaks between runs are left out, and transfers
    /// side by side are faster than one after the other.
    ///
    /// - Parameter attempts: all those of deliveries that landed.
    /// - Returns: nil without attempts.
    package init?(_ attempts: [Attempt]) {
        var bytes: [Int: Int] = [:]
        var busy = 0
        var end = Int.min
        for attempt in attempts.sorted(by: { $0.start < $1.start }) {
            bytes[attempt.delivery] = attempt.bytes
            busy += max(0, attempt.end - max(attempt.start, end))
            end = max(end, attempt.end)
        }
        let sent = Double(bytes.values.reduce(0, +))
        self.init(bytesPerSecond: Int(min(sent * 1000 / Double(max(1, busy)), 1e15)))
    }

    /// How long these bytes take at this rate.
    package func time(for bytes: Int) -> Duration {
        .milliseconds(Int(min(Double(bytes) * 1000 / Double(bytesPerSecond), 1e15)))
    }
}
