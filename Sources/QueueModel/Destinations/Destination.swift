/// Where captures go.
public struct Destination: Hashable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        /// A folder on a mounted disk.
        case folder
        /// A server of the capture API: multipart POST.
        case http
        /// PUT to a presigned or plain URL.
        case put
        /// An S3-compatible store.
        case s3
    }

    /// Why nothing is sent there for now.
    public struct Hold: Hashable, Sendable {
        /// As `DestinationHold.code`.
        public let code: String
        public let reason: String
        /// When it is tried again; Unix milliseconds.
        public let until: Int

        package init(code: String, reason: String, until: Int) {
            self.code = code
            self.reason = reason
            self.until = until
        }
    }

    public let name: String
    public let kind: String
    /// Flat: the settings of its kind (Spec/queue.md section 12).
    public let settings: [String: String]
    public let isDefault: Bool
    /// Unix milliseconds.
    public let addedAt: Int
    /// nil when nothing is in the way.
    public let hold: Hold?
    /// The user stopped it.
    public let isPaused: Bool
    /// And what was under way is given back.
    package let isPausedAtOnce: Bool
    /// It takes no further captures.
    public let isRetired: Bool
    /// Names that it had before.
    public let formerNames: [String]
    /// The user lifted what held it, and the run has not seen that yet.
    package let isLifted: Bool
    package let number: Int

    package init(
        name: String, kind: String, settings: [String: String], isDefault: Bool, addedAt: Int, hold: Hold?,
        isPaused: Bool, isPausedAtOnce: Bool, isRetired: Bool = false, formerNames: [String] = [], isLifted: Bool,
        number: Int
    ) {
        self.name = name
        self.kind = kind
        self.settings = settings
        self.isDefault = isDefault
        self.addedAt = addedAt
        self.hold = hold
        self.isPaused = isPaused
        self.isPausedAtOnce = isPausedAtOnce
        self.isRetired = isRetired
        self.formerNames = formerNames
        self.isLifted = isLifted
        self.number = number
    }
}
