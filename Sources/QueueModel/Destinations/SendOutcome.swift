/// The result of an attempt to send (Spec/upload.md section 4). Inside a transport it is also thrown.
public enum SendOutcome: Error, Hashable, Sendable {
    case completed(receipt: String, remoteID: String?, remoteURL: String?)
    /// The server has the capture and has not decided yet.
    case accepted(remoteID: String?, remoteURL: String?)
    case failed(code: String, message: String)
    /// The try failed, but the bytes may have arrived.
    case unclear(code: String, message: String)
    /// The server refused the capture for good; another try would not help.
    case rejected(code: String, message: String)
    case conflict(message: String)
    /// The try was stopped before its end and does not count as an attempt.
    case parked(cause: String, isInDoubt: Bool)
    /// The destination is blocked for a while. The try does not count as an attempt, except for `wait` and `full` if
    /// other captures land there.
    case blocked(Block)
    /// Our own bytes have changed since the push.
    case damaged(message: String)
}

extension SendOutcome {
    /// The words for the table of attempts.
    package var words: (outcome: String, code: String?, message: String?) {
        switch self {
        case .completed: ("completed", nil, nil)
        case .accepted: ("accepted", nil, nil)
        case .failed(let code, let message): ("failed", code, message)
        case .unclear(let code, let message): ("unclear", code, message)
        case .rejected(let code, let message): ("rejected", code, message)
        case .conflict(let message): ("conflict", nil, message)
        case .parked(let cause, _): ("parked", nil, cause)
        case .blocked(let block): ("blocked", block.code ?? block.reason.rawValue, block.message)
        case .damaged(let message): ("damaged", nil, message)
        }
    }

    /// Whether it is now unknown if the bytes arrived; nil if this outcome changes nothing about that.
    package var leavesDoubt: Bool? {
        switch self {
        case .unclear: true
        case .parked(_, let isInDoubt): isInDoubt ? true : nil
        case .completed, .accepted, .rejected, .conflict: false
        // The server accepted the bytes, without a proof, or may have got them in an outage.
        case .blocked(let block): block.reason == .unproven || block.isInDoubt ? true : nil
        case .failed, .damaged: nil
        }
    }

    /// The same outcome, whose block names the capture if the server, or a command, may refuse only that.
    package func naming(_ id: String) -> SendOutcome {
        guard case .blocked(var block) = self, block.isPerhapsOfCapture else { return self }
        block.capture = id
        return .blocked(block)
    }

    /// The problem in words for people; nil if there is none.
    public var trouble: String? { words.message }

    public var code: String? { words.code }

    /// The first word of the code for an answer that did not come from the server itself.
    package static let edge = "edge"

    /// The code of a try that the server accepted, without showing that it has the bytes.
    package static let unproven = "put.unproven"

    package var isUnproven: Bool { code == Self.unproven }

    /// Whether the server itself answered, so that an outage is over.
    package var endsOutage: Bool {
        switch self {
        case .completed, .accepted, .rejected, .conflict: true
        case .failed, .unclear: !isBrokenLine
        case .blocked(let block): ![.failing, .offline, .tls, .local].contains(block.reason)
        case .parked, .damaged: false
        }
    }

    /// Whether the connection broke.
    package var isBrokenLine: Bool {
        switch self {
        case .failed(let code, _), .unclear(let code, _): code.hasPrefix("curl.")
        default: false
        }
    }

    /// The outage that was found; nil for any other outcome.
    package var outage: Block? {
        guard case .blocked(let block) = self, block.code != nil else { return nil }
        return block
    }
}
