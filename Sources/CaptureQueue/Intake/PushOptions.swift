public import CaptureBundle
import QueueModel
import QueueTransports

/// How bundles are pushed.
public struct PushOptions: Sendable {
    /// Names of destinations; none for the default one.
    public var destinations: [String] = []
    public var session: String?
    /// Whether a session that has ended is opened again.
    public var reopensSession = false
    public var priority = 0
    /// Not sent before, in Unix milliseconds.
    public var notBefore: Int?
    /// Whether what was delivered already is sent again.
    public var resends = false
    /// Whether the user's file goes once the queue holds its bytes.
    public var moves = false
    /// Whether only the hash and the path are kept, for a disk with no room.
    public var isByReference = false
    /// Whether a bundle that nobody vouches for, or that is not acceptable, is refused.
    public var requiresTrust = false
    public var trust = TrustFile()
    /// Bytes from which on a warning is due; nil for the queue's setting.
    public var warnAt: Int?

    public init() {}
}

/// The result of a push.
public struct Pushed: Sendable {
    public enum Outcome: String, Sendable {
        case stored
        /// The queue knew this capture, and kept what it has.
        case heldAlready = "held-already"
        /// The queue knew this capture, and its bytes were damaged or gone; they are back.
        case restored
    }

    public let id: String
    public let outcome: Outcome
    public let sha256: Digest
    public let byteCount: Int
    public let verdict: Verdict
    /// What a person may want to know, a sentence each.
    public let notes: [String]
    /// Bytes in the spool, when a warning is due.
    public let quotaWarning: QuotaWarning?
}

/// The spool is over its mark.
public struct QuotaWarning: Hashable, Sendable {
    public let usedBytes: Int
    public let warnAt: Int
}
