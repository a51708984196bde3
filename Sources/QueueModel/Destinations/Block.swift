/// Why nothing is sent to a destination for a while (Spec/queue.md section 6, Spec/upload.md section 4).
public struct Block: Hashable, Sendable {
    public enum Reason: String, Sendable, CaseIterable {
        /// The server asked to be left alone for a time.
        case wait
        /// The server has no room.
        case full
        /// Token, key, signature or rights are refused.
        case credentials
        /// The URL is not that of such a server.
        case endpoint
        /// No trustworthy connection.
        case tls
        /// No network, or nobody there.
        case offline
        /// Settings or files of our own.
        case local
        /// The last tries failed, whatever was sent.
        case failing
        /// The last answers refused for good whatever was sent.
        case refusing
        /// What the server took cannot be shown to be there.
        case unproven
        /// The URL would give several captures the same place.
        case address
    }

    public let reason: Reason
    /// What was found, for people.
    public let message: String
    /// How long the server asked for; once the block is in force, how long it lasts.
    public let milliseconds: Int?
    /// When the destination is tried again, in Unix milliseconds; nil before the block is in force.
    public let until: Int?

    public init(_ reason: Reason, _ message: String, milliseconds: Int? = nil) {
        self.init(reason, message, milliseconds: milliseconds, until: nil)
    }

    package init(_ reason: Reason, _ message: String, milliseconds: Int?, until: Int?) {
        self.reason = reason
        self.message = message
        self.milliseconds = milliseconds
        self.until = until
    }

    /// Somebody has to do something about it.
    public var needsUser: Bool {
        switch reason {
        case .credentials, .endpoint, .tls, .local, .refusing, .unproven, .address: true
        case .wait, .full, .offline, .failing: false
        }
    }
}

extension Block.Reason {
    /// Milliseconds of the first block for this reason, and of the longest: each in a row lasts twice as long.
    var pauses: (first: Int, longest: Int) {
        switch self {
        case .offline: (1000, 60_000)
        case .failing: (15_000, 300_000)
        case .wait: (300_000, RetryAfter.longest)
        case .full, .credentials, .endpoint, .tls, .local, .refusing, .unproven, .address: (300_000, 300_000)
        }
    }

    /// Whether a new run keeps to the time of a block that an earlier run wrote down. It tries the others at once.
    var outlivesRun: Bool { self == .wait || self == .failing || self == .refusing }
}

extension Block {
    /// In force from now on.
    ///
    /// - Parameter before: the block that was in force until now.
    func begun(after before: Block?, at now: Int) -> Block {
        var pause = milliseconds ?? reason.pauses.first
        if milliseconds == nil, let before, before.reason == reason, let last = before.milliseconds {
            pause = max(pause, min(2 * last, reason.pauses.longest))
        }
        return Block(reason, message, milliseconds: pause, until: now + pause)
    }

    /// The same block, over at another time.
    func lasting(until: Int) -> Block { Block(reason, message, milliseconds: milliseconds, until: until) }
}
