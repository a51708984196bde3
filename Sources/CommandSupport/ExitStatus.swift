package import CaptureBundle

/// The exit codes of both tools (Spec/command-line.md section 2). The code has no other table of them.
package enum ExitStatus: Int32, Error, Sendable, CaseIterable {
    case success = 0
    case altered = 1
    case malformed = 2
    case unknownDevice = 3
    case unacceptable = 4
    case queueBusy = 10
    case queueNewer = 11
    case limit = 12
    case overMark = 13
    case failedForGood = 14
    case workLeft = 15
    case usage = 64
    case rawCapture = 65
    case noInput = 66
    case internalFailure = 70
    case cannotCreate = 73
    case inputOutput = 74
    case noPermission = 77
    case configuration = 78

    /// Several files give one exit code: the first one in this order that any of them has.
    private static let bySeverity: [ExitStatus] = [
        .internalFailure, .inputOutput, .cannotCreate, .noPermission, .configuration, .queueNewer, .queueBusy,
        .limit, .noInput, .rawCapture, .usage, .malformed, .altered, .unknownDevice, .unacceptable, .failedForGood,
        .overMark,
        .workLeft,
    ]

    package init(_ verdict: Verdict) {
        switch verdict {
        case .verified: self = .success
        case .altered: self = .altered
        case .malformed: self = .malformed
        case .unknownDevice: self = .unknownDevice
        case .unacceptable: self = .unacceptable
        }
    }

    /// The worst of the error and of those that were found with it.
    package init(_ error: BundleError) {
        self = Self.worst(error.each.map { $0.verdict.map { Self($0) } ?? Self($0.code) })
    }

    private init(_ code: BundleError.Code) {
        switch code {
        case .rawCapture, .rawLayout, .rawArchive, .rawFrames, .rawDepth, .rawUnit, .rawTime, .rawPosition,
            .redactPosition, .restoreUnknown:
            self = .rawCapture
        case .inputUnreadable, .entryAbsent: self = .noInput
        case .outputExists, .outputUnusable, .trustExists: self = .cannotCreate
        case .inputOutput: self = .inputOutput
        case .keyOpenToOthers, .keyPassphrase, .trustOpenToOthers, .stateOpenToOthers: self = .noPermission
        case .keyMissing, .keyDamaged, .keyState, .keyCounterUsedUp, .trustFile, .decoderMissing, .stateDamaged:
            self = .configuration
        case .redactEntry, .trustName, .rawClash, .noNames, .requestHeader, .requestSignature: self = .usage
        default: self = .internalFailure
        }
    }

    /// Ends the command with this status, unless it is `success`.
    package func require() throws {
        if self != .success { throw self }
    }

    package static func worst(_ statuses: some Collection<ExitStatus>) -> ExitStatus {
        bySeverity.first(where: statuses.contains) ?? .success
    }
}
