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

    public let name: String
    public let kind: String
    /// Flat: the settings of its kind (Spec/queue.md section 12).
    public let settings: [String: String]
    public let isDefault: Bool
    /// Unix milliseconds.
    public let addedAt: Int
    /// Why nothing is sent there for now; nil when nothing is in the way.
    public var block: Block? { saved.block }
    /// How it stood when that was last written down.
    package let saved: DestinationState.Saved
    /// The user stopped it.
    public let isPaused: Bool
    /// The user stopped it, and transfers under way are given back.
    package let isPausedAtOnce: Bool
    /// It takes no further captures.
    public let isRetired: Bool
    /// Names that it had before.
    public let formerNames: [String]
    /// How often the user has lifted what blocked it.
    package let lifts: Int
    package let number: Int

    package init(
        name: String, kind: String, settings: [String: String], isDefault: Bool, addedAt: Int,
        saved: DestinationState.Saved, isPaused: Bool, isPausedAtOnce: Bool, isRetired: Bool = false,
        formerNames: [String] = [], lifts: Int, number: Int
    ) {
        self.name = name
        self.kind = kind
        self.settings = settings
        self.isDefault = isDefault
        self.addedAt = addedAt
        self.saved = saved
        self.isPaused = isPaused
        self.isPausedAtOnce = isPausedAtOnce
        self.isRetired = isRetired
        self.formerNames = formerNames
        self.lifts = lifts
        self.number = number
    }
}
