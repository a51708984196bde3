import QueueModel

extension QueueError {
    /// Adds hints to an error that a full disk has caused.
    static func withHint(_ error: QueueError) -> QueueError {
        guard error.isDiskFull else { return error }
        var hinted = QueueError(error.code, error.message, of: error.subject, hints: error.hints + fullHints)
        hinted.isDiskFull = true
        return hinted
    }

    static let fullHints = [
        "free some space, with capqueue prune for example, and push again",
        "or push with --reference: the queue then keeps only the path and the hash",
    ]
}
