/// All that a verification found, in the order of Spec/capture-bundle.md section 11. A file and a pipe with the same bytes
/// give equal reports.
public struct VerificationReport: Sendable {
    /// One step of the verification.
    public struct Check: Hashable, Sendable {
        public enum Outcome: String, Sendable {
            case passed, failed
            /// The bundle has nothing of the kind.
            case notApplicable = "not-applicable"
            /// An earlier fault ended the verification, or made this check meaningless.
            case notReached = "not-reached"
        }

        /// `container`, `manifest`, `assertion`, `signature`, `entries`, `depth`, `metadata`, `location`, `trust`, `policy`.
        public let name: String
        public let outcome: Outcome
    }

    public enum EntryStatus: String, Sendable {
        case matched, altered, withheld
        /// Reading ended before this entry was judged.
        case unread
    }

    /// The line of the trust file that names the device; of a bundle that is not sound, only a line that accepts its manifest.
    public struct TrustedDevice: Hashable, Sendable {
        public let name: String
        public let level: TrustLevel
    }

    /// Bytes of the bundle; of a broken one, those that were read.
    public internal(set) var bytes = 0
    /// nil when it is malformed.
    public internal(set) var manifest: Manifest?
    public internal(set) var manifestSHA256: Digest?
    /// nil when the assertion is malformed.
    public internal(set) var authenticatorData: AuthenticatorData?
    /// The state of each entry of the manifest, in its order.
    public internal(set) var entries: [EntryStatus] = []
    /// nil when metadata.json did not match its hash or is malformed.
    public internal(set) var metadata: CaptureMetadata?
    public internal(set) var trustedDevice: TrustedDevice?
    public internal(set) var checks: [Check] = []
    public internal(set) var faults: [BundleError] = []
    /// Findings that change no verdict.
    public internal(set) var warnings: [BundleError] = []

    public var verdict: Verdict {
        let found = Set(faults.compactMap(\.verdict))
        return Verdict.bySeverity.first(where: found.contains) ?? .verified
    }

    public var withheld: [EntryPath] { paths(.withheld) }

    /// Whether the manifest is valid and signed by the key that it names, even if entries were changed since.
    public var isManifestGenuine: Bool {
        ["assertion", "signature"].allSatisfy { checks.contains(Check(name: $0, outcome: .passed)) }
    }

    /// The entries of the manifest that were found so.
    public func paths(_ status: EntryStatus) -> [EntryPath] {
        zip(manifest?.entries ?? [], entries).filter { $0.1 == status }.map(\.0.path)
    }

    /// What no verification of this version looks at, or what a verdict does not prove (Spec/threat-model.md).
    public var notChecked: [String] {
        guard let manifest else { return [] }
        guard isManifestGenuine else { return ["trust"] }
        var list = ["counter", "time", "scene"]
        if manifest.chain != nil { list.append("chain") }
        return list
    }
}
