import QueueModel
import QueueTransports

/// How a queue is run.
public struct RunOptions: Sendable {
    public enum Mode: Sendable {
        /// What is due at the start is tried, once.
        case once
        /// Until nothing waits any more but for the user.
        case untilEmpty
        /// Until it is stopped.
        case watch
    }

    public var mode = Mode.once
    /// Only to this destination; nil for all.
    public var destination: String?
    /// Bytes a second, in all; nil for no limit.
    public var bytesPerSecond: Int?
    /// After so many milliseconds nothing new is begun.
    public var longest: Int?
    /// How many milliseconds a transfer has to end once the run is stopped.
    public var grace = 10_000

    public init() {}
}

/// What a run did.
public struct RunResult: Hashable, Sendable {
    public internal(set) var completed = 0
    /// For good.
    public internal(set) var failed = 0

    public init() {}
}
