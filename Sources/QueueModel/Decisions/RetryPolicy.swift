/// Decides when a failed delivery is tried again (Spec/queue.md section 6), without a clock or randomness of its own.
public struct RetryPolicy: Hashable, Sendable {
    /// How long to wait before each attempt, including the first one. There are as many attempts as delays.
    public let delays: [Duration]
    /// The largest random addition to a delay, in percent of the delay: 0 to 100.
    public let jitter: Int
    /// The age limit; nil for no limit. A try that fails when more time has elapsed since the push, or
    /// since the user's last `retry` or `--resend`, is the last one.
    public let lifetime: Duration?

    /// The default: five attempts within 15 seconds, then five at intervals of five minutes.
    public static let standard = RetryPolicy(
        delays: ([0, 1, 2, 4, 8] + Array(repeating: 300, count: 5)).map { .seconds($0) })

    /// One week in seconds.
    package static let longestDelay = 604_800
    private static let mostAttempts = 100

    /// Clamps values that are out of range, such as a delay of more than a week, and rounds delays down to whole seconds.
    public init(delays: [Duration], jitter: Int = 0, lifetime: Duration? = nil) {
        self.delays = delays.map { .seconds(min(max($0.components.seconds, 0), Int64(Self.longestDelay))) }
        self.jitter = min(max(jitter, 0), 100)
        self.lifetime = lifetime.map { max($0, .zero) }
    }

    /// Parses the delays as `--retry` takes them: seconds separated by commas, where `300x5` means five times 300.
    ///
    /// Returns nil unless the text gives 1 to 100 attempts, each after 0 to 604800 seconds.
    public init?(text: String, jitter: Int = 0, lifetime: Duration? = nil) {
        var delays: [Duration] = []
        for item in text.pieces(by: ",", keepsEmpty: true) {
            let factors = item.pieces(by: "x", limit: 2, keepsEmpty: true)
            guard let delay = WholeNumber.parse(factors[0]), delay <= Self.longestDelay,
                let times = factors.count == 1 ? 1 : WholeNumber.parse(factors[1]),
                times >= 1, times <= Self.mostAttempts - delays.count
            else { return nil }
            delays.append(contentsOf: repeatElement(.seconds(delay), count: times))
        }
        self.init(delays: delays, jitter: jitter, lifetime: lifetime)
    }

    /// The delays in the shortest form that `init(text:)` parses, such as `0,1,2,4,8,300x5`.
    public var text: String {
        var runs: [(delay: Int64, times: Int)] = []
        for delay in delays.map(\.components.seconds) {
            if let last = runs.last, last.delay == delay {
                runs[runs.count - 1].times += 1
            } else {
                runs.append((delay, 1))
            }
        }
        return runs.map { $0.times == 1 ? "\($0.delay)" : "\($0.delay)x\($0.times)" }.joined(separator: ",")
    }

    /// - Parameter attempts: the number of attempts so far; 0 before the first.
    /// - Returns: the wait before the next attempt, without jitter; nil after the last attempt.
    public func delay(afterAttempt attempts: Int) -> Duration? {
        delays.indices.contains(attempts) ? delays[attempts] : nil
    }

    /// - Parameter attempts: the number of attempts so far; 0 before the first.
    /// - Parameter generator: the source of the jitter, used only if there is jitter.
    /// - Returns: the time until the next attempt: at least the delay of the table, and at most `jitter` percent
    ///   more; nil if there is no further attempt.
    public func delay(afterAttempt attempts: Int, using generator: inout some RandomNumberGenerator) -> Duration? {
        guard let delay = delay(afterAttempt: attempts) else { return nil }
        let most = delay.milliseconds * jitter / 100
        return delay + .milliseconds(most == 0 ? 0 : Int.random(in: 0...most, using: &generator))
    }

    /// Whether no attempt follows this one, which is 1 or more.
    package func isLast(_ attempt: Int) -> Bool { delay(afterAttempt: attempt) == nil }

    /// Whether a failed try was the last one because of the age limit.
    ///
    /// - Parameter elapsed: the time since the capture was pushed, or since the user last asked to send it again.
    public func isOver(after elapsed: Duration) -> Bool { lifetime.map { elapsed > $0 } ?? false }

    /// The longest wait before a further attempt, in milliseconds.
    package var longestWait: Int { (delays.max() ?? .zero).milliseconds * (100 + jitter) / 100 }
}
