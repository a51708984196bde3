import CaptureBundle
import QueueModel

extension QueueError {
    /// Adds hints to an error that a full disk has caused.
    static func withHint(_ error: QueueError) -> QueueError {
        guard error.isDiskFull else { return error }
        var hinted = QueueError(error.code, error.message, of: error.subject, hints: error.hints + fullHints)
        hinted.isDiskFull = true
        return hinted
    }

    /// The error of a push that names the bundle for which there was no room; any other error as it is.
    static func push(of name: String, _ error: any Error) -> any Error {
        let cause: String
        switch error {
        case let error as QueueError where error.isDiskFull: cause = error.description
        case let error as BundleError where error.isDiskFull: cause = error.description
        default: return error
        }
        var named = QueueError(.inputOutput, "cannot be stored: \(cause)", of: name, hints: fullHints)
        named.isDiskFull = true
        return named
    }

    private static let fullHints: [QueueHint] = [.freeSpace, .pushByReference]
}
