/// When a failed delivery is tried again (Spec/queue.md section 6). Pure: it has no clock.
public struct RetryPolicy: Hashable, Sendable {
    /// Seconds to wait before each attempt, the first included. Their number is the number of attempts.
    public let delays: [Int]

    /// Five attempts within 15 seconds, then five in five-minute steps.
    public static let standard = RetryPolicy(delays: [0, 1, 2, 4, 8, 300, 300, 300, 300, 300])

    public init(delays: [Int]) { self.delays = delays }

    /// - Parameter attempts: how many were made; 0 before the first.
    /// - Returns: seconds until the next attempt, or nil when there is none.
    public func delay(afterAttempt attempts: Int) -> Int? {
        delays.indices.contains(attempts) ? delays[attempts] : nil
    }
}
