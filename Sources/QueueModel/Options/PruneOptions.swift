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
