public import CaptureBundle

/// Where the bytes of a capture are (Spec/queue.md section 3).
public enum Holding: String, Sendable, CaseIterable {
    case spool, reference, removing, removed, quarantined, missing

    /// Whether there are bytes to send.
    public var hasBytes: Bool { self == .spool || self == .reference }

    /// The word for messages, after "its bytes are".
    package var words: String {
        switch self {
        case .spool: "stored"
        case .reference: "referenced"
        case .removing: "being deleted"
        case .removed: "deleted"
        case .quarantined: "quarantined"
        case .missing: "missing"
        }
    }
}

/// A capture in the queue.
public struct CaptureRecord: Hashable, Sendable {
    /// The order of arrival, from 1. A number is never used again.
    public let sequence: Int
    /// The bundle's id, with `.2`, `.3` and so on added for later captures of the same bundle id.
    public let id: String
    public let identity: Digest
    /// The SHA-256 of the bundle's bytes.
    public package(set) var sha256: Digest
    public let manifestSHA256: Digest
    public package(set) var byteCount: Int
    public let capturedAt: CaptureTime
    /// The key id of the device that signed the bundle.
    public let device: Digest
    /// The verdict at push: `verified`, `unknown-device` or `unacceptable`.
    public let verdict: String
    public let pushedAt: CaptureTime
    public let session: String?
    public let priority: Int
    public let notBefore: CaptureTime?
    public let holding: Holding
    /// The path of the user's own file; nil if the queue holds the bytes.
    public let reference: String?
    /// The overall state (`DeliveryState.overall`).
    public let state: DeliveryState
    public let finishedAt: CaptureTime?
    public let removedAt: CaptureTime?
    /// nil if it was pushed by 1.0, or its sidecar had none.
    package var order: PushOrder?
    /// The tag of the file in the spool; nil if there is none.
    package var tag: BytesTag?
    /// The hash of the upload body; nil if there is none, or if this version makes the body in another way.
    package var body: BodyHash?
    /// The deliveries, in the order in which they were made.
    public package(set) var deliveries: [DeliveryRecord]

    /// Completes the sentence "its bytes are …" in messages.
    package var holdingWords: String {
        holding == .missing && reference != nil ? "missing or changed" : holding.words
    }

    /// The bundle's own id: the first 36 characters.
    public var bundleID: String { id.cut(to: 36) }

    package init(
        sequence: Int, id: String, identity: Digest, sha256: Digest, manifestSHA256: Digest, byteCount: Int,
        capturedAt: CaptureTime, device: Digest, verdict: String, pushedAt: CaptureTime, session: String?,
        priority: Int, notBefore: CaptureTime?, holding: Holding, reference: String?, state: DeliveryState,
        finishedAt: CaptureTime?, removedAt: CaptureTime?, deliveries: [DeliveryRecord] = []
    ) {
        self.sequence = sequence
        self.id = id
        self.identity = identity
        self.sha256 = sha256
        self.manifestSHA256 = manifestSHA256
        self.byteCount = byteCount
        self.capturedAt = capturedAt
        self.device = device
        self.verdict = verdict
        self.pushedAt = pushedAt
        self.session = session
        self.priority = priority
        self.notBefore = notBefore
        self.holding = holding
        self.reference = reference
        self.state = state
        self.finishedAt = finishedAt
        self.removedAt = removedAt
        self.deliveries = deliveries
    }
}
