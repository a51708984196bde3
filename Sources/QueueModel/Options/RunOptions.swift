public import CaptureBundle

/// The options of a run.
public struct RunOptions: Sendable {
    public enum Mode: Sendable {
        /// Tries each delivery that is due at the start once.
        case once
        /// Runs until every remaining delivery needs the user.
        case untilEmpty
        /// Runs until it is stopped.
        case watch
    }

    public var mode = Mode.once
    /// The only destination to send to; nil for all.
    public var destination: String?
    /// The rate limit of the whole run in bytes per second; nil for no limit.
    public var bytesPerSecond: Int?
    /// After this time the run begins nothing new; nil for no limit.
    public var longest: Duration?
    /// How long transfers may continue after the run was stopped.
    public var grace = Duration.seconds(10)
    /// The devices that the user trusts, for what is taken from the inbox.
    public var trust = TrustFile()

    public init() {}

    /// Why there are fewer threads than were asked for, or none.
    package static let noThread = "no more threads can be started (ulimit -u, TasksMax)"

    /// Why a transfer was stopped that was still under way at the end of `longest`.
    package var cutShort: (words: String, code: String?) {
        ("the time limit of the run (\((longest ?? .zero).age)) was over before it was sent", Self.cutShortCode)
    }

    /// The code of a try that was stopped by that, and of a delivery whose last three tries were.
    package static let cutShortCode = "run.limit"
}

/// The counts of a run.
public struct RunResult: Hashable, Sendable {
    public package(set) var completed = 0
    /// The number of deliveries that failed for good.
    public package(set) var failed = 0

    public init() {}
}
