public import CaptureBundle

/// The reason why nothing is sent to a destination for a while (Spec/queue.md section 6, Spec/upload.md section 4).
public struct Block: Hashable, Sendable {
    public enum Reason: String, Sendable, CaseIterable {
        /// The server asked us to wait.
        case wait
        /// The server has no room.
        case full
        /// The server refuses the token, the key, the signature or the access rights.
        case credentials
        /// The URL does not belong to a server of this kind.
        case endpoint
        /// No trustworthy connection could be made.
        case tls
        /// There is no network, or the server cannot be reached.
        case offline
        /// Our own settings or files are wrong.
        case local
        /// The last tries failed, with several captures, or something on the way answers in the server's place.
        case failing
        /// The last answers were final refusals, with several captures.
        case refusing
        /// The server accepted captures, but does not show that it has them.
        case unproven
        /// The URL would store several captures in the same place.
        case address
    }

    /// What was found, where a change of settings can end the block. The message contains these words, also in a block
    /// that an earlier run stored.
    public enum Cause: String, Sendable, CaseIterable {
        case unusable = "its settings cannot be used"
        case noTLS = "does not speak TLS, so its URL begins with http://"
        case onlyTLS = "the port speaks TLS, so its URL begins with https://"
        case otherName = "the server's certificate is for another name"
        case expired = "the server's certificate has expired"
        case notYetValid = "the server's certificate is not yet valid, or the clock of this computer is in the past"
        case foreign = "the server's certificate is signed by an authority that is not trusted here"
        case selfSigned = "the server's certificate is self-signed"
        case ofClient = "the client certificate"
        case noChecksum = "the store does not support x-amz-checksum-sha256"
        case noCondition = "the store does not support If-None-Match"
        case sharedPlaces = "the path of the URL has no {sha256}"
        case refusedByProxy = "the proxy answered 407"
        case unwritable = "cannot be written"
        case mayNotRead = "HEAD and GET need s3:GetObject"
    }

    public let reason: Reason
    /// What was found, in words for people.
    public let message: String
    /// The time that the server asked for; once the block is in force, its duration.
    public let pause: Duration?
    /// When the destination is tried again; nil before the block is in force.
    public let until: CaptureTime?
    /// Whether the server may refuse only this capture. Before the block is in force, another one is tried.
    package var isPerhapsOfCapture = false
    /// Whether the server asked for fewer requests (`SlowDown`). Such a try never counts.
    package var isOfRate = false
    /// The id of that capture.
    package var capture: String?
    /// The code of an outage, such as `edge.502`; nil for any other block.
    package var code: String?
    /// Whether the bytes may have arrived.
    package var isInDoubt = false

    public init(_ reason: Reason, _ message: String, pause: Duration? = nil, until: CaptureTime? = nil) {
        self.reason = reason
        self.message = message
        self.pause = pause
        self.until = until
    }

    /// nil where the reason says enough.
    public var cause: Cause? { Cause.allCases.first { message.contains($0.rawValue) } }

    /// What a message says before the place of a bucket.
    package static let (otherRegion, otherHost) = ("the bucket is in the region", "the bucket is at the host")

    /// The word after these words in the message, such as the region of the bucket.
    package func word(after words: String) -> String? {
        let rest = message.pieces(around: "\(words) ")
        return rest.count == 2 ? rest[1].pieces(by: ",")[0].pieces(by: " ").first : nil
    }

    /// Whether the user must do something to end the block.
    public var needsUser: Bool {
        switch reason {
        case .credentials, .endpoint, .tls, .local, .refusing, .unproven, .address: true
        // An outage of more than an hour does not end by itself.
        case .failing: pause.map { $0 >= Outage.long } ?? false
        case .wait, .full, .offline: false
        }
    }
}

extension Block.Reason {
    /// The first and the longest pause for this reason. Each block in a row lasts twice as long.
    var pauses: (first: Duration, longest: Duration) {
        switch self {
        case .offline: (.seconds(1), .seconds(60))
        case .failing: (.seconds(15), .seconds(300))
        case .wait: (.seconds(300), .milliseconds(RetryAfter.longest))
        case .full, .credentials, .endpoint, .tls, .local, .refusing, .unproven, .address:
            (.seconds(300), .seconds(300))
        }
    }

    /// Whether a new run obeys a block that an earlier run stored. For other reasons it tries the destination at once.
    package var outlivesRun: Bool { self == .wait || self == .failing || self == .refusing }
}

extension Block {
    /// Puts the block in force from now on.
    ///
    /// - Parameter before: the block that was in force until now.
    func begun(after before: Block?, at now: Int) -> Block {
        let (first, longest): (Duration, Duration) = isOfRate ? (.seconds(1), .seconds(300)) : reason.pauses
        var pause = self.pause ?? first
        if self.pause == nil, let before, before.reason == reason, let last = before.pause, last <= longest {
            pause = max(pause, min(last * 2, longest))
        }
        let words = capture.map { "\(message) (found with \($0))" } ?? message
        return Block(reason, words, pause: pause, until: CaptureTime(clamping: now + pause.milliseconds))
    }

    /// How long the block lasts at most.
    package var longest: Duration { pause ?? reason.pauses.longest }

    /// Returns the same block with another end.
    func lasting(until: CaptureTime?) -> Block { Block(reason, message, pause: pause, until: until) }
}
