public import CaptureBundle
public import QueueModel

/// The result of a push.
public struct Pushed: Sendable {
    public enum Outcome: String, Sendable {
        case stored
        /// The queue knew this capture and kept the bytes that it has.
        case heldAlready = "held-already"
        /// The queue knew this capture. It was uploaded, its bytes were deleted, and with `evict-uploaded` they are not
        /// stored again.
        case uploadedAlready = "uploaded-already"
        /// The queue knew this capture. Its bytes were damaged or gone, and are now stored again.
        case restored
    }

    /// A sentence, and what would send the capture.
    public struct Note: Hashable, Sendable {
        public let words: String
        /// The change that sends it; nil if there is none.
        public internal(set) var change: UserChange?
        /// Whether a push that sends again would send it.
        public internal(set) var canBeResent = false
    }

    public let id: String
    public let outcome: Outcome
    public let sha256: Digest
    public let byteCount: Int
    public let verdict: Verdict
    /// Why the trust file does not accept the bundle: its key is revoked, expired or unknown. nil if it accepts the bundle,
    /// or if the device is unknown and the trust file names no device.
    public let trustFault: BundleError?
    /// Remarks for the user.
    public internal(set) var notes: [Note]
    /// Whether it is held, because the queue that had it before may have sent or cancelled it.
    public internal(set) var isHeld = false
    /// Whether it is a member of a session whose place there is known only by the time of its push.
    public internal(set) var lacksOrder = false
    /// The warning that the spool is above its mark, if it is due.
    public internal(set) var quotaWarning: QuotaWarning?
}

/// A warning that the spool is larger than its mark.
public struct QuotaWarning: Hashable, Sendable {
    public let usedBytes: Int
    public let warnAt: Int
}
