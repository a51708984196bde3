import CaptureBundle
import CommandSupport
import QueueModel

extension CommandFailure {
    /// Returns nil for errors that are not from our libraries.
    init?(of error: any Error) {
        if let error = error as? QueueError {
            self.init(
                code: error.code.rawValue, message: error.description, hints: error.advice,
                status: ExitStatus(error))
        } else if let error = error as? BundleError {
            self.init(error, advice: \.adviceWithoutPackOptions)
        } else {
            return nil
        }
    }
}

extension ExitStatus {
    /// Maps an error to its exit code (Spec/capqueue.md section 1).
    init(_ error: QueueError) {
        switch error.code {
        case .busy: self = .queueBusy
        case .newer, .older: self = .queueNewer
        case .quota, .freeDisk, .encryption: self = .limit
        case .missing, .inputUnreadable, .idUnknown, .sessionUnknown, .bytesAbsent: self = .noInput
        case .unusable: self = .cannotCreate
        case .openToOthers: self = .noPermission
        case .inputOutput, .damaged, .spoolMissing, .corruptRecord: self = .inputOutput
        case .idAmbiguous, .idMalformed, .stateRefused, .sessionEnded, .nameInvalid, .valueInvalid, .receiptMismatch,
            .destinationExists, .destinationUsed:
            self = .usage
        case .spoolDamaged, .sourceChanged: self = .altered
        case .spoolStray: self = .workLeft
        case .destinationUnknown, .destinationRetired, .destinationSettings: self = .configuration
        default: self = .internalFailure
        }
    }
}

/// Prints the error for one of several items, so that the command can continue with the others.
///
/// - Parameter isWanted: whether to print a hint.
func reportFailure(_ error: any Error, isWanted: (String) -> Bool = { _ in true }) throws -> ExitStatus {
    guard var failure = CommandFailure(of: error) else { throw error }
    failure.hints = failure.hints.filter(isWanted)
    diagnostic.error(failure)
    return failure.status
}
