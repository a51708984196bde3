/// The user's requirements for a sound bundle.
public struct VerificationPolicy: Sendable {
    /// A part that can be required.
    public enum Part: String, Sendable, CaseIterable {
        case photo, depth, metadata, location, confidence, source, chain
        /// A depth map whose values can be metres (Spec/capture-bundle.md section 5.2).
        case plausible
        /// A bundle that was not verified before, as far as the verifier's state tells (section 11.2).
        case fresh
        /// A photo whose EXIF agrees with the metadata (Spec/capture-bundle.md section 11.1).
        case exif
        /// A good time stamp (Spec/time-stamps.md).
        case time
    }

    public var required: [Part]
    /// Entries that have to be in the bundle, of which a role says too little: files below `source/`.
    public var requiredEntries: [EntryPath] = []
    /// Whether a bundle without its withholdable entries is acceptable.
    public var allowsWithheld: Bool

    public init(required: [Part] = [], allowsWithheld: Bool = false) {
        self.required = required
        self.allowsWithheld = allowsWithheld
    }

    /// Demands what a word names: a part, or an entry of the payload.
    ///
    /// - Returns: false for a word that names neither.
    public mutating func require(_ word: String) -> Bool {
        if let part = Part(rawValue: word) {
            required.append(part)
        } else if let path = EntryPath(asTyped: word) {
            requiredEntries.append(path)
        } else {
            return false
        }
        return true
    }
}

extension Role {
    /// Said where such an entry was asked for and is missing; nil for what this version writes.
    package var whyMissing: String? {
        switch self {
        case .confidence: "\"capbundle pack\" writes it if the raw capture has a confidence map"
        case .source: "\"capbundle pack\" writes such entries with --keep-source and --convert-photo"
        case .depth, .location, .metadata, .photo: nil
        }
    }
}
