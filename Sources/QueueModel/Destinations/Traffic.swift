/// Counts of the tries to send to one destination (Spec/queue.md section 3).
public struct Traffic: Hashable, Sendable {
    public struct Count: Hashable, Sendable {
        public let outcome: String
        public let attempts: Int
        public let bytes: Int
        public let time: Duration

        package init(outcome: String, attempts: Int, bytes: Int, time: Duration) {
            self.outcome = outcome
            self.attempts = attempts
            self.bytes = bytes
            self.time = time
        }
    }

    public struct Latency: Hashable, Sendable {
        public let atMost: Duration
        public let attempts: Int

        package init(atMost: Duration, attempts: Int) { (self.atMost, self.attempts) = (atMost, attempts) }
    }

    /// The name of the destination; empty for tries whose destination is not known.
    public let destination: String
    public let counts: [Count]
    /// Upper bounds, ascending, each with the number of tries that took at most that long.
    public let latencies: [Latency]

    package init(
        destination: String, counts: [Count], latencies: [Latency]
    ) {
        self.destination = destination
        self.counts = counts
        self.latencies = latencies
    }
}
