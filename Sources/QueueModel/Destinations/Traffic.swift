/// Counts of the tries to send to one destination (Spec/queue.md section 3).
public struct Traffic: Hashable, Sendable {
    public struct Count: Hashable, Sendable {
        public let outcome: String
        public let attempts: Int
        public let bytes: Int
        public let milliseconds: Int

        package init(outcome: String, attempts: Int, bytes: Int, milliseconds: Int) {
            self.outcome = outcome
            self.attempts = attempts
            self.bytes = bytes
            self.milliseconds = milliseconds
        }
    }

    /// The name of the destination; empty for tries whose destination is not known.
    public let destination: String
    public let counts: [Count]
    /// Upper bounds in milliseconds, ascending, each with the number of tries that took at most that long.
    public let latencies: [(atMost: Int, attempts: Int)]

    public static func == (one: Traffic, other: Traffic) -> Bool {
        one.destination == other.destination && one.counts == other.counts
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(destination)
        hasher.combine(counts)
    }

    package init(
        destination: String, counts: [Count], latencies: [(atMost: Int, attempts: Int)]
    ) {
        self.destination = destination
        self.counts = counts
        self.latencies = latencies
    }
}
