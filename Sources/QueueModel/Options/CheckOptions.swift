/// The options of `check`.
public struct CheckOptions: Sendable {
    /// The share of stored bundles that are read and hashed: 0 to 1. If it is not 0, the indexes of the database are
    /// compared with its rows.
    public var readShare = 0.0
    /// Whether to adopt stray files and to write missing sidecars.
    public var isRepairing = false
    /// Whether to change nothing, even if damage is found.
    public var isDryRun = false
    /// Chooses the bundles that are read.
    public var generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()

    public init() {}
}
