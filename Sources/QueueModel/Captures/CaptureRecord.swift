public import CaptureBundle
import CaptureNative

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
    public package(set) var session: String?
    public let priority: Int
    public package(set) var notBefore: CaptureTime?
    public let holding: Holding
    /// The path of the user's own file; nil if the queue holds the bytes.
    public package(set) var reference: String?
    /// The overall state (`DeliveryState.overall`).
    public let state: DeliveryState
    public package(set) var finishedAt: CaptureTime?
    public package(set) var removedAt: CaptureTime?
    /// nil if it was pushed by 1.0, or its sidecar had none.
    package var order: PushOrder?
    /// The tag of the file in the spool; nil if there is none.
    package var tag: BytesTag?
    /// The hash of the upload body; nil if there is none, or if this version makes the body in another way.
    package var body: BodyHash?
    /// The deliveries, in the order in which they were made.
    public package(set) var deliveries: [DeliveryRecord] = []

    /// Completes the sentence "its bytes are …" in messages.
    package var holdingWords: String {
        holding == .missing && reference != nil ? "missing or changed" : holding.words
    }

    /// The bundle's own id: the first 36 characters.
    public var bundleID: String { id.cut(to: 36) }

    package init(
        sequence: Int, id: String, identity: Digest, sha256: Digest, manifestSHA256: Digest, byteCount: Int,
        capturedAt: CaptureTime, device: Digest, verdict: String, pushedAt: CaptureTime, priority: Int,
        holding: Holding, state: DeliveryState
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
        self.priority = priority
        self.holding = holding
        self.state = state
    }
}

/// The SHA-256 of the upload body of a bundle (Spec/upload.md section 2.1), which a signed request needs.
///
/// The hash is computed once, at push or at the first signed try. `form` records how the body was made, so that a
/// version that makes another body does not sign with this hash.
package struct BodyHash: Hashable, Sendable {
    package let sha256: Digest
    /// The index, from 0, of the boundary that the body uses, among those that the manifest gives.
    package let candidate: Int

    package init(sha256: Digest, candidate: Int) {
        self.sha256 = sha256
        self.candidate = candidate
    }

    /// Describes how the body is made: profile, version and boundary, such as `capture/1/0`.
    package var form: String { "\(Self.made)/\(candidate)" }

    /// Reads a stored hash. Returns nil if this version does not make a body of that form.
    package init?(sha256: Digest, form: String) {
        let parts = form.pieces(by: "/", keepsEmpty: true)
        guard parts.count == 3, "\(parts[0])/\(parts[1])" == Self.made, let candidate = WholeNumber.parse(parts[2])
        else { return nil }
        self.init(sha256: sha256, candidate: candidate)
    }

    private static let made = "\(BodyLayout.profile)/\(BodyLayout.version)"
}

/// The Poly1305 tag of a file in the spool, with the random key that made it (Spec/queue.md section 7.1).
///
/// Both are made at push, while the bytes are copied. When sending, the tag is much cheaper than another SHA-256.
package struct BytesTag: Hashable, Sendable {
    /// The key, then the tag: 48 bytes, as the database stores them.
    package let bytes: [UInt8]

    /// Returns nil unless there are exactly 48 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Poly1305.keyLength + Poly1305.tagLength else { return nil }
        self.bytes = bytes
    }

    package var key: [UInt8] { Array(bytes[..<Poly1305.keyLength]) }
    package var tag: [UInt8] { Array(bytes[Poly1305.keyLength...]) }
}

/// How to check the bytes of a file: by their SHA-256, or by the tag that was made when they were stored.
package enum ExpectedBytes: Hashable, Sendable {
    case sha256(Digest)
    case tag(BytesTag)
}

extension CaptureRecord {
    /// How to check the bytes before they are sent. A user can change the file of a reference, so its SHA-256 is
    /// compared.
    package var expectedBytes: ExpectedBytes {
        if holding == .spool, let tag { return .tag(tag) }
        return .sha256(sha256)
    }
}

/// The place of a capture in the order of all pushes, which its sidecar keeps (Spec/queue.md section 4).
package struct PushOrder: Hashable, Sendable {
    /// The highest row number when the push read the bundle.
    package let after: Int
    /// The place of the bundle in its push.
    package let position: Int

    /// Returns nil for a number that no queue reaches, so that a row number after it never overflows.
    package init?(after: Int, position: Int) {
        let possible = 0..<(1 << 40)
        guard possible.contains(after), possible.contains(position) else { return nil }
        (self.after, self.position) = (after, position)
    }
}

/// Selects captures.
public struct CaptureFilter: Hashable, Sendable {
    public var states: [DeliveryState] = []
    public var session: String?
    /// Selects captures with a delivery to this destination.
    public var destination: String?

    public init() {}

    public var isEmpty: Bool { states.isEmpty && session == nil && destination == nil }
}
