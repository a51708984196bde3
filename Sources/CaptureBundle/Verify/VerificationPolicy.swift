/// The user's requirements for a sound bundle.
public struct VerificationPolicy: Sendable {
    /// A part that can be required.
    public enum Part: String, Sendable, CaseIterable {
        case photo, depth, metadata, location, confidence, source, chain
    }

    public var required: [Part]
    /// Whether a bundle without its withholdable entries is acceptable.
    public var allowsWithheld: Bool

    public init(required: [Part] = [], allowsWithheld: Bool = false) {
        self.required = required
        self.allowsWithheld = allowsWithheld
    }
}
