/// What came of a try to send (Spec/upload.md section 4).
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
    /// Nothing is wrong with the capture: the destination has to wait. Burns no attempt.
    case held(DestinationHold)
    /// Our own bytes are not what they were.
    case damaged(message: String)
}

/// Why nothing is sent to a destination for a while.
public struct DestinationHold: Hashable, Sendable {
    /// A class of Spec/upload.md section 4: `wait`, `full`, `credentials`, `endpoint`, `tls`, `offline`, `local`; or `breaker`,
    /// `unproven`, `address`.
    public let code: String
    public let message: String
    /// How long, if the server said so; nil for the time that the class has.
    public let milliseconds: Int?

    public init(code: String, message: String, milliseconds: Int? = nil) {
        self.code = code
        self.message = message
        self.milliseconds = milliseconds
    }

    /// The server does not show what it said yes to.
    package static let unproven = "unproven"
    /// Captures could share a URL.
    package static let address = "address"

    /// Somebody has to do something about it.
    public var needsUser: Bool {
        ["credentials", "endpoint", "tls", "local", Self.unproven, Self.address].contains(code)
    }

    /// The server may have said so for the sake of this one capture.
    package var mayBeOfOne: Bool { ["credentials", "endpoint", "local", Self.unproven].contains(code) }
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
        case .held(let hold): ("held", hold.code, hold.message)
        case .damaged(let message): ("damaged", nil, message)
        }
    }

    /// Whether it leaves the delivery in doubt; nil where it changes nothing about that.
    package var leavesDoubt: Bool? {
        switch self {
        case .unclear: true
        case .parked(_, let isInDoubt): isInDoubt ? true : nil
        case .completed, .accepted, .rejected, .conflict: false
        // The server took it, and may have kept it.
        case .held(let hold) where hold.code == DestinationHold.unproven: true
        case .failed, .held, .damaged: nil
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
        case .held(let hold): hold.message
        }
    }

    /// The code of a failure.
    public var code: String? { words.code }
}
