public import CaptureBundle

/// A place to which captures are sent.
public struct Destination: Hashable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        /// A folder on a mounted disk.
        case folder
        /// A server of the capture API, which takes a multipart POST.
        case http
        /// A presigned or plain URL, which takes a PUT.
        case put
        /// An S3-compatible store.
        case s3
    }

    public let name: String
    public let settings: DestinationSettings
    /// The kind, as the database has it.
    public var kind: String { settings.kind }
    public let isDefault: Bool
    public let addedAt: CaptureTime
    /// The reason for which nothing is sent there now; nil if nothing blocks it.
    public var block: Block? { saved.block }
    /// The state of the destination as the database has it.
    package let saved: DestinationState.Saved
    public let isPaused: Bool
    /// Whether the user paused it and asked to stop the transfers under way.
    package let isPausedAtOnce: Bool
    package let digests: DigestTraits
    /// Whether it takes no further captures.
    public let isRetired: Bool
    /// The names that it had before.
    public let formerNames: [String]
    /// How often the user has lifted its blocks.
    package let lifts: Int
    package let number: Int

    package init(
        name: String, settings: DestinationSettings, isDefault: Bool, addedAt: CaptureTime,
        saved: DestinationState.Saved, isPaused: Bool, isPausedAtOnce: Bool, digests: DigestTraits = DigestTraits(),
        isRetired: Bool = false,
        formerNames: [String] = [], lifts: Int, number: Int
    ) {
        self.name = name
        self.settings = settings
        self.isDefault = isDefault
        self.addedAt = addedAt
        self.saved = saved
        self.isPaused = isPaused
        self.isPausedAtOnce = isPausedAtOnce
        self.digests = digests
        self.isRetired = isRetired
        self.formerNames = formerNames
        self.lifts = lifts
        self.number = number
    }
}
