/// What a verification says of a bundle; the raw value is the exit code of both tools.
public enum Verdict: Int, Sendable, CaseIterable {
    /// Sound, and from a trusted device.
    case verified = 0
    /// Contents or signature are wrong.
    case altered = 1
    /// Not a well-formed bundle, or a version that is not known.
    case malformed = 2
    /// Sound, under a key that nobody vouches for.
    case unknownDevice = 3
    /// Sound, from a device that the trust file names, but not acceptable.
    case unacceptable = 4

    /// The name in reports.
    public var word: String {
        switch self {
        case .verified: "verified"
        case .altered: "altered"
        case .malformed: "malformed"
        case .unknownDevice: "unknown-device"
        case .unacceptable: "unacceptable"
        }
    }

    /// The worst first: 2, 1, 3, 4, 0 (Spec/capture-bundle.md section 11).
    public static let bySeverity: [Verdict] = [.malformed, .altered, .unknownDevice, .unacceptable, .verified]

    /// The verdict of a finding's code; nil for codes that are no findings on a bundle.
    static func of(_ code: BundleError.Code) -> Verdict? {
        switch code {
        case .entrySHA256, .assertionSignature: return .altered
        case .trustUnknown: return .unknownDevice
        case .trustFile, .trustName, .trustExists, .trustOpenToOthers: return nil
        default: break
        }
        switch code.part {
        case "body", "container", "manifest", "assertion", "depth", "metadata", "location": return .malformed
        case "trust", "policy": return .unacceptable
        default: return nil
        }
    }
}

extension BundleError {
    /// The verdict that this finding gives; nil for a failure of an operation.
    public var verdict: Verdict? { Verdict.of(code) }
}
