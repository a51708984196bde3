/// When a failed delivery is tried again (Spec/queue.md section 6). Pure: it has no clock, and chance is handed in.
public struct RetryPolicy: Hashable, Sendable {
    /// Seconds to wait before each attempt, the first included. Their number is the number of attempts.
    public let delays: [Int]
    /// Up to so many percent of a delay are added to it by chance: 0 to 100.
    public let jitter: Int
    /// A failed try that ends later than so many milliseconds after the push, or after the user's last `retry`, is the last;
    /// nil for no end.
    public let lifetime: Int?

    /// Five attempts within 15 seconds, then five in five-minute steps.
    public static let standard = RetryPolicy(delays: [0, 1, 2, 4, 8, 300, 300, 300, 300, 300])

    /// A week, in seconds.
    package static let longestDelay = 604_800
    private static let mostAttempts = 100

    /// What lies outside of the ranges (a delay of more than a week, say) is taken to their nearer end.
    public init(delays: [Int], jitter: Int = 0, lifetime: Int? = nil) {
        self.delays = delays.map { min(max($0, 0), Self.longestDelay) }
        self.jitter = min(max(jitter, 0), 100)
        self.lifetime = lifetime.map { max($0, 0) }
    }

    /// The delays as `--retry` has them: seconds with commas between, where `300x5` stands for five times 300.
    ///
    /// nil unless these are 1 to 100 attempts, each after 0 to 604800 seconds.
    public init?(text: String, jitter: Int = 0, lifetime: Int? = nil) {
        var delays: [Int] = []
        for item in text.pieces(by: ",", keepsEmpty: true) {
            let factors = item.pieces(by: "x", limit: 2, keepsEmpty: true)
            guard let delay = WholeNumber.parse(factors[0]), delay <= Self.longestDelay,
                let times = factors.count == 1 ? 1 : WholeNumber.parse(factors[1]),
                times >= 1, times <= Self.mostAttempts - delays.count
            else { return nil }
            delays.append(contentsOf: repeatElement(delay, count: times))
        }
        self.init(delays: delays, jitter: jitter, lifetime: lifetime)
    }

    /// The delays in the shortest form that `init(text:)` reads: `0,1,2,4,8,300x5`.
    public var text: String {
        var runs: [(delay: Int, times: Int)] = []
        for delay in delays {
            if let last = runs.last, last.delay == delay {
                runs[runs.count - 1].times += 1
            } else {
                runs.append((delay, 1))
            }
        }
        return runs.map { $0.times == 1 ? "\($0.delay)" : "\($0.delay)x\($0.times)" }.joined(separator: ",")
    }

    /// - Parameter attempts: how many were made; 0 before the first.
    /// - Returns: seconds until the next attempt, without jitter, or nil when there is none.
    public func delay(afterAttempt attempts: Int) -> Int? {
        delays.indices.contains(attempts) ? delays[attempts] : nil
    }

    /// - Parameter attempts: how many were made; 0 before the first.
    /// - Parameter generator: asked only where there is jitter.
    /// - Returns: milliseconds until the next attempt: never less than the table says, and at most `jitter` percent
    ///   more; nil when there is none.
    public func delayMilliseconds(
        afterAttempt attempts: Int, using generator: inout some RandomNumberGenerator
    ) -> Int? {
        guard let seconds = delay(afterAttempt: attempts) else { return nil }
        let most = seconds * 10 * jitter
        return seconds * 1000 + (most == 0 ? 0 : Int.random(in: 0...most, using: &generator))
    }

    /// Whether a try that failed was the last for its age.
    ///
    /// - Parameters:
    ///   - start: when the capture was pushed, or the user last asked for it to be sent again; Unix milliseconds.
    ///   - end: when the try ended.
    public func isOver(since start: Int, endedAt end: Int) -> Bool {
        guard let lifetime else { return false }
        return end - start > lifetime
    }
}
