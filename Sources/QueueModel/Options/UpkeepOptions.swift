/// The options of `check`.
public struct CheckOptions: Sendable {
    /// The share of stored bundles that are read and hashed: 0 to 1. If it is not 0, the indexes of the database are
    /// compared with its rows.
    public var readShare = 0.0
    /// Whether to adopt stray files, to write missing sidecars, and to remove sidecars without a bundle. A dry run does none
    /// of it.
    public var isRepairing = false
    /// Whether to change nothing, even if damage is found.
    public var isDryRun = false
    /// Chooses the bundles that are read.
    public var generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()

    public init() {}
}

/// The options of `prune`.
public struct PruneOptions: Sendable {
    /// The retention to use; nil for the setting of the queue.
    public var olderThan: Duration?
    /// Whether cancelled captures are deleted too, whatever their age.
    public var includesCancelled = false
    /// The ids of the cancelled captures to delete, and no others; nil for all captures that may be deleted.
    public var only: [String]?
    /// Whether a receipt for a part of a bundle, such as its photo, is enough.
    public var acceptsParts = false
    /// Whether a copy that is not in its folder was moved away by the folder's owner, so that its receipt is enough.
    public var acceptsAbsent = false
    public var isDryRun = false
    /// Whether references are left alone, because deleting them frees no space.
    package var sparesReferences = false

    public init() {}
}
