/// How an attempt to send ended (Spec/upload.md section 4).
public enum SendOutcome: Hashable, Sendable {
    case completed(receipt: String, remoteID: String?, remoteURL: String?)
    /// The server has it and has not decided.
    case accepted(remoteID: String?, remoteURL: String?)
    case failed(code: String, message: String)
    /// Failed, but it may have landed.
    case unclear(code: String, message: String)
    /// No further try would help.
    case rejected(code: String, message: String)
    case conflict(message: String)
    /// Stopped before it came to an end; burns no attempt.
    case parked(cause: String, isInDoubt: Bool)
    /// The destination is blocked for a while. Burns no attempt, except `wait` and `full` while others land
    /// there.
    case blocked(Block)
    /// Our own bytes are not what they were.
    case damaged(message: String)
}

extension SendOutcome {
    /// For the record of attempts.
    package var words: (outcome: String, code: String?, message: String?) {
        switch self {
        case .completed: ("completed", nil, nil)
        case .accepted: ("accepted", nil, nil)
        case .failed(let code, let message): ("failed", code, message)
        case .unclear(let code, let message): ("unclear", code, message)
        case .rejected(let code, let message): ("rejected", code, message)
        case .conflict(let message): ("conflict", nil, message)
        case .parked(let cause, _): ("parked", nil, cause)
        case .blocked(let block): ("blocked", block.reason.rawValue, block.message)
        case .damaged(let message): ("damaged", nil, message)
        }
    }

    /// Whether it leaves the delivery in doubt; nil where it changes nothing about that.
    package var leavesDoubt: Bool? {
        switch self {
        case .unclear: true
        case .parked(_, let isInDoubt): isInDoubt ? true : nil
        case .completed, .accepted, .rejected, .conflict: false
        case .failed, .blocked, .damaged: nil
        }
    }

    /// In words for people; nil where all is well.
    public var trouble: String? {
        switch self {
        case .completed, .accepted: nil
        case .failed(_, let message), .unclear(_, let message), .rejected(_, let message), .conflict(let message),
            .damaged(let message):
            message
        case .parked(let cause, _): cause
        case .blocked(let block): block.message
        }
    }

    /// The server refused it for good.
    package var isRefusal: Bool { if case .rejected = self { true } else { false } }

    /// The code of a failure.
    public var code: String? { words.code }

    /// The first word of a code that says: not the server answered, but something before it.
    package static let edge = "edge"

    /// The code of a try that the server took, and does not show.
    package static let unproven = "put.unproven"

    package var isUnproven: Bool { code == Self.unproven }

    /// Whether the server itself did not answer: the connection failed, or a proxy or gateway answered in its place.
    package var isOutage: Bool {
        switch self {
        case .failed(let code, _), .unclear(let code, _):
            code.hasPrefix("curl.") || code.hasPrefix("\(Self.edge).")
        default: false
        }
    }
}
