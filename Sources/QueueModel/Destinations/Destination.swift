public import CaptureBundle

/// A place to which captures are sent.
public struct Destination: Hashable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        /// A folder on a mounted disk.
        case folder
        /// A server of the capture API, which takes a multipart POST.
        case http
        /// A presigned or plain URL, which takes a PUT.
        case put
        /// An S3-compatible store.
        case s3
    }

    public let name: String
    public let settings: DestinationSettings
    /// The kind, as the database has it.
    public var kind: String { settings.kind }
    public let isDefault: Bool
    public let addedAt: CaptureTime
    /// The reason for which nothing is sent there now; nil if nothing blocks it.
    public var block: Block? { saved.block }
    /// The state of the destination as the database has it.
    package let saved: CircuitBreaker.Saved
    public let isPaused: Bool
    /// Whether the user paused it and asked to stop the transfers under way.
    package let isPausedAtOnce: Bool
    package var digests = DigestTraits()
    /// Whether it takes no further captures.
    public package(set) var isRetired = false
    /// The names that it had before.
    public package(set) var formerNames: [String] = []
    /// How often the user has lifted its blocks.
    package let lifts: Int
    package let number: Int

    package init(
        name: String, settings: DestinationSettings, isDefault: Bool, addedAt: CaptureTime,
        saved: CircuitBreaker.Saved, isPaused: Bool, isPausedAtOnce: Bool, lifts: Int, number: Int
    ) {
        self.name = name
        self.settings = settings
        self.isDefault = isDefault
        self.addedAt = addedAt
        self.saved = saved
        self.isPaused = isPaused
        self.isPausedAtOnce = isPausedAtOnce
        self.lifts = lifts
        self.number = number
    }
}

/// What was found out about the digests that a store shows (Spec/upload.md section 4.3). `dest set` forgets it.
package struct DigestTraits: Hashable, Sendable {
    /// Whether the store refused an upload with a wrong checksum; nil if that was not tried.
    package var refusesWrong: Bool?
    /// Whether an ETag that looks like an MD5 counts. It does not once the right bytes had another one.
    package var hasMD5ETags = true

    package init() {}
}

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

    package init(destination: String, counts: [Count], latencies: [Latency]) {
        self.destination = destination
        self.counts = counts
        self.latencies = latencies
    }
}
