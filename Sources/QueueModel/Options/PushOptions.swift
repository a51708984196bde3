public import CaptureBundle

/// The options of a push.
public struct PushOptions: Sendable {
    /// The names of destinations; empty for the default destination.
    public var destinations: [String] = []
    public var session: String?
    /// Whether to reopen a session that has ended.
    public var reopensSession = false
    public var priority = 0
    /// The earliest time to send.
    public var notBefore: CaptureTime?
    /// How long to wait after the push, instead of `notBefore`. A wrong clock does not change this.
    public var delay: Duration?
    /// Whether to send completed deliveries again.
    public var resends = false
    /// Whether to send them again if the queue did not have the bytes any more, or if the destination then compares its
    /// copy. A server needs this: whoever sends a capture again may know that it was lost.
    public var resendsLost = false
    /// Whether to delete the user's file once the queue holds its bytes.
    public var moves = false
    /// Whether to keep only the hash and the path, for a disk without room.
    public var isByReference = false
    /// Whether others can change the folder of the bundles. Then a file must have one name, and links are not followed.
    package var isFromInbox = false
    /// The state of captures whose sidecars say that a queue had them before; nil to ignore sidecars.
    package var adopts: DeliveryState?
    /// Whether to refuse a bundle whose device is not trusted, or that is not acceptable.
    public var requiresTrust = false
    public var trust = TrustFile()
    /// The size of the spool in bytes above which to warn; nil for the queue's setting.
    public var warnAt: Int?

    public init() {}
}

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
        public let change: UserChange?
        /// Whether a push that sends again would send it.
        public let canBeResent: Bool

        package init(words: String, change: UserChange? = nil, canBeResent: Bool = false) {
            self.words = words
            self.change = change
            self.canBeResent = canBeResent
        }
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
    public package(set) var notes: [Note]
    /// Whether it is held, because the queue that had it before may have sent or cancelled it.
    public package(set) var isHeld = false
    /// Whether it is a member of a session whose place there is known only by the time of its push.
    public package(set) var lacksOrder = false
    /// The warning that the spool is above its mark, if it is due.
    public package(set) var quotaWarning: QuotaWarning?

    package init(
        id: String, outcome: Outcome, sha256: Digest, byteCount: Int, verdict: Verdict, trustFault: BundleError?,
        notes: [Note], quotaWarning: QuotaWarning? = nil
    ) {
        (self.id, self.outcome, self.sha256, self.byteCount) = (id, outcome, sha256, byteCount)
        (self.verdict, self.trustFault, self.notes, self.quotaWarning) = (verdict, trustFault, notes, quotaWarning)
    }
}

/// A warning that the spool is larger than its mark.
public struct QuotaWarning: Hashable, Sendable {
    public let usedBytes: Int
    public let warnAt: Int

    package init(usedBytes: Int, warnAt: Int) { (self.usedBytes, self.warnAt) = (usedBytes, warnAt) }
}
