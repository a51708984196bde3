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
    public var word: String {
        switch self {
        case .verified: "verified"
        case .altered: "altered"
        case .malformed: "malformed"
        case .unknownDevice: "unknown-device"
        case .unacceptable: "unacceptable"
        }
    }

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
