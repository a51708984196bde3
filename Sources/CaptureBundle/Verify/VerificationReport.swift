/// All findings of a verification, in the order of Spec/capture-bundle.md section 11. A file and a pipe with the same
/// bytes give equal reports, except that hints name the file.
public struct VerificationReport: Sendable {
    /// One step of the verification.
    public struct Check: Hashable, Sendable {
        public enum Outcome: String, Sendable {
            case passed, failed
            /// The bundle has no part that this check applies to.
            case notApplicable = "not-applicable"
            /// An earlier fault ended the verification or made this check meaningless.
            case notReached = "not-reached"
        }

        /// One of `container`, `manifest`, `assertion`, `signature`, `entries`, `depth`, `metadata`, `location`,
        /// `trust` and `policy`, with a time stamp also `stamp`, and with a `CounterState` also `counter`. `BundleReceiver`
        /// adds `body`.
        public let name: String
        public let outcome: Outcome
    }

    public enum EntryStatus: String, Sendable {
        case matched, altered, withheld
        /// Reading ended before this entry was checked.
        case unread
    }

    /// The line of the trust file that names the device. For a damaged bundle, only a line that accepts its manifest
    /// counts.
    public struct TrustedDevice: Hashable, Sendable {
        public let name: String
        public let level: TrustLevel
    }

    /// The number of bytes of the bundle; for a broken one, the number of bytes that were read.
    public package(set) var bytes = 0
    /// The manifest; nil if it is malformed.
    public package(set) var manifest: Manifest?
    public package(set) var manifestSHA256: Digest?
    /// What a time stamp stamps; nil if the headers before the payload are malformed.
    public internal(set) var assertionSHA256: Digest?
    /// The authenticator data; nil if the assertion is malformed.
    public package(set) var authenticatorData: AuthenticatorData?
    /// The status of each entry of the manifest, in its order.
    public package(set) var entries: [EntryStatus] = []
    /// The metadata; nil if metadata.json did not match its hash or is malformed.
    public package(set) var metadata: CaptureMetadata?
    /// nil unless it was asked for, and the depth map matched its hash.
    var depthSurvey: DepthSurvey?
    /// nil unless location.json matched its hash and is well-formed.
    var location: GeoPosition?
    /// The header of the photo; nil unless the photo matched its hash.
    var photo: PhotoHeader?
    public package(set) var trustedDevice: TrustedDevice?
    /// What the time stamp says; nil without one, and for one with a fault.
    public internal(set) var stamp: StampedTime?
    /// Whether the verifier's state already had this bundle; nil without a state, and for a bundle with faults of
    /// which the state was not asked or remembers another one.
    public package(set) var isSeenBefore: Bool?
    public package(set) var checks: [Check] = []
    public package(set) var faults: [BundleError] = []
    /// Findings that do not change the verdict.
    public package(set) var warnings: [BundleError] = []

    public var verdict: Verdict { .worst(of: faults) }

    public var withheld: [EntryPath] { paths(.withheld) }

    /// Whether the manifest is valid and signed by the key that it names, even if entries were changed afterwards.
    public var isManifestGenuine: Bool {
        ["assertion", "signature"].allSatisfy { checks.contains(Check(name: $0, outcome: .passed)) }
    }

    /// The entries of the manifest that have this status.
    public func paths(_ status: EntryStatus) -> [EntryPath] {
        zip(manifest?.entries ?? [], entries).filter { $0.1 == status }.map(\.0.path)
    }

    /// Facts that this version never checks, or that the verdict does not prove (Spec/threat-model.md).
    public var notChecked: [String] {
        guard let manifest else { return [] }
        guard isManifestGenuine else { return ["trust"] }
        let isCounterJudged = checks.contains { $0.name == "counter" && $0.outcome != .notReached }
        return (isCounterJudged ? [] : ["counter"]) + ["time", "scene"] + (manifest.chain == nil ? [] : ["chain"])
    }
}

extension VerificationReport {
    /// Whether the contents and the signature are right. It does not check trust.
    package var isSound: Bool { ![.malformed, .altered].contains(verdict) }

    /// Refuses a file whose contents or signature are wrong, or that is not a bundle. It does not check trust.
    ///
    /// - Throws: The worst fault.
    package func requireSound(_ file: String) throws(BundleError) {
        for verdict in [Verdict.malformed, .altered] {
            guard let fault = faults.first(where: { $0.verdict == verdict }) else { continue }
            let named = fault.about(file: file)
            if file == "-" { throw bytes == 0 ? named.with(.emptyPipe) : named }
            // "verify" says no more about a file that is not a bundle at all.
            throw fault.code == .containerMagic ? named : named.with(.unsound)
        }
    }
}

extension Verifier {
    /// A verifier for callers that need to know whether a bundle is sound, but not whose it is.
    package static let soundness = Verifier(trust: TrustFile(), policy: VerificationPolicy(allowsWithheld: true))
}

/// The result of verifying a bundle. The raw value is the exit code of both tools.
public enum Verdict: Int, Sendable, CaseIterable {
    /// The bundle is sound and from a trusted device.
    case verified = 0
    /// The contents or the signature are wrong.
    case altered = 1
    /// The file is not a well-formed bundle, or its version is not known.
    case malformed = 2
    /// The bundle is sound, but its key is not in the trust file.
    case unknownDevice = 3
    /// The bundle is sound and its device is in the trust file, but it is not acceptable.
    case unacceptable = 4

    /// The name of the verdict in reports.
    public var word: String { Self.words[rawValue] }
    private static let words = ["verified", "altered", "malformed", "unknown-device", "unacceptable"]

    /// The verdicts with the worst first: 2, 1, 3, 4, 0 (Spec/capture-bundle.md section 11).
    public static let bySeverity: [Verdict] = [.malformed, .altered, .unknownDevice, .unacceptable, .verified]

    /// The verdict on a bundle with these findings.
    package static func worst(of faults: [BundleError]) -> Verdict {
        let found = Set(faults.compactMap(\.verdict))
        return bySeverity.first(where: found.contains) ?? .verified
    }

    /// The verdict that a code leads to; nil for codes that are not findings about a bundle.
    static func of(_ code: BundleError.Code) -> Verdict? {
        switch code {
        case .entrySHA256, .assertionSignature: return .altered
        case .trustUnknown: return .unknownDevice
        case .trustFile, .trustName, .trustExists, .trustOpenToOthers: return nil
        default: break
        }
        switch code.part {
        case "body", "container", "manifest", "assertion", "depth", "metadata", "location": return .malformed
        case "trust", "policy", "chain", "counter", "exif", "stamp": return .unacceptable
        default: return nil
        }
    }
}

extension BundleError {
    /// The verdict that this finding leads to; nil for a failure of an operation.
    public var verdict: Verdict? { Verdict.of(code) }
}
