import QueueModel

/// The outcome of a try that ended before a request was made.
struct RefusedSend: Error {
    let outcome: SendOutcome

    init(outcome: SendOutcome) { self.outcome = outcome }

    init(local message: String, _ control: SendControl) {
        outcome =
            control.stopped.map { .parked(cause: $0, isInDoubt: false) }
            ?? .blocked(Block(.local, message))
    }
}
