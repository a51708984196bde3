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

    /// What was found, where a change of settings can end the block: an open set of words.
    public struct Cause: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let unusable = Self(rawValue: "settings")
        public static let noTLS = Self(rawValue: "no-tls")
        public static let onlyTLS = Self(rawValue: "only-tls")
        public static let otherName = Self(rawValue: "certificate-of-other-name")
        public static let expired = Self(rawValue: "certificate-expired")
        public static let notYetValid = Self(rawValue: "certificate-not-yet-valid")
        public static let foreign = Self(rawValue: "certificate-of-foreign-authority")
        public static let selfSigned = Self(rawValue: "certificate-self-signed")
        public static let ofClient = Self(rawValue: "client-certificate")
        public static let noChecksum = Self(rawValue: "no-checksum-sha256")
        public static let noCondition = Self(rawValue: "no-if-none-match")
        public static let sharedPlaces = Self(rawValue: "shared-places")
        public static let refusedByProxy = Self(rawValue: "proxy-407")
        public static let unwritable = Self(rawValue: "unwritable")
        public static let failedDisk = Self(rawValue: "failed-disk")
        public static let mayNotRead = Self(rawValue: "may-not-read")

        /// A refusal with a code of the server. A server must not be able to choose one of our own causes.
        package static func refusal(_ code: String) -> Self { Self(rawValue: "code \(code)") }

        /// The server's code, if that is the cause.
        package var code: String? { rawValue.rest(after: "code ") }

        /// A bucket that is elsewhere.
        package static func bucket(region: String?, host: String?) -> Self {
            Self(rawValue: "bucket \(region ?? "-") \(host ?? "-")")
        }

        /// Where the bucket is, if that is the cause.
        package var bucket: (region: String?, host: String?) {
            let words = rawValue.pieces(by: " ")
            guard words.count == 3, words[0] == "bucket" else { return (nil, nil) }
            return (words[1] == "-" ? nil : words[1], words[2] == "-" ? nil : words[2])
        }
    }

    public let reason: Reason
    /// What was found, in words for people.
    public let message: String
    /// nil where the reason says enough, and in a block that 1.0 stored.
    public let cause: Cause?
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

    public init(
        _ reason: Reason, _ message: String, cause: Cause? = nil, pause: Duration? = nil, until: CaptureTime? = nil
    ) {
        self.reason = reason
        self.message = message
        self.cause = cause
        self.pause = pause
        self.until = until
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
        return Block(
            reason, words, cause: cause, pause: pause, until: CaptureTime(clamping: now + pause.milliseconds))
    }

    /// How long the block lasts at most.
    package var longest: Duration { pause ?? reason.pauses.longest }

    /// Returns the same block with another end.
    func lasting(until: CaptureTime?) -> Block {
        Block(reason, message, cause: cause, pause: pause, until: until)
    }
}

/// What a run remembers of an outage: something on the way to the server answers, or ends connections, in its place
/// (Spec/upload.md section 4). All times are Unix milliseconds.
package struct Outage: Hashable, Sendable {
    /// After this time the outage does not end by itself. From then on, this is also the pause between trials.
    static let long = Duration.seconds(3600)
    private static let mostBodies = 5

    /// The code of the last answer, such as `edge.502`.
    package var code: String
    private var since: Int
    /// When bodies were sent into it, within the last hour.
    private var bodies: [Int] = []

    init(_ code: String, at now: Int) { (self.code, since) = (code, now) }

    /// Reads what `text` wrote; nil if it is something else.
    package init?(text: String) {
        let parts = text.pieces(by: " ")
        let times = parts.dropFirst().compactMap { Int($0) }
        guard let code = parts.first, let since = times.first, times.count == parts.count - 1 else { return nil }
        (self.code, self.since, bodies) = (code, since, Array(times.dropFirst()))
    }

    /// The form in the database: the code, the beginning, and the times of the bodies.
    package var text: String { ([code] + ([since] + bodies).map(String.init)).joined(separator: " ") }

    /// Records one more answer, and perhaps a body that was sent before it.
    mutating func goesOn(_ code: String, hasBody: Bool, at now: Int) {
        self.code = code
        // A clock that was set back does not make an outage last longer.
        since = min(since, now)
        bodies = bodies.filter { now - Self.long.milliseconds < $0 && $0 <= now } + (hasBody ? [now] : [])
    }

    /// The pause that is needed before the next trial; nil for that of the reason.
    func pause(at now: Int) -> Duration? {
        if now - since >= Self.long.milliseconds { return Self.long }
        // It is a little less, because it does not say that the outage is long.
        let left = nextBody - now
        return left > 0 ? min(.milliseconds(left), Self.long - .seconds(1)) : nil
    }

    /// When the next body may be sent; 0 for at once.
    var nextBody: Int {
        bodies.count < Self.mostBodies ? 0 : bodies[bodies.count - Self.mostBodies] + Self.long.milliseconds
    }
}
