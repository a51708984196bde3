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

/// What `prune` did, or in a dry run would do.
public struct PruneResult: Hashable, Sendable {
    public package(set) var captures = 0
    public package(set) var bytes = 0
    /// Files that could not be deleted, with the reason. The next prune tries again.
    public package(set) var failures: [QueueError] = []
    /// How many captures stay until a run has looked at their copies in folders (Spec/queue.md section 8.1).
    public package(set) var unseenCopies = 0
    /// A cancelled capture whose last try may have arrived.
    public struct InDoubt: Hashable, Sendable {
        public let id: String
        /// The destinations that may have it.
        public let destinations: [String]

        package init(id: String, destinations: [String]) { (self.id, self.destinations) = (id, destinations) }
    }

    /// The deleted captures that a destination may have, although they were cancelled.
    public package(set) var inDoubt: [InDoubt] = []
    /// Errors for ids that name no capture or one that is not cancelled.
    public package(set) var refused: [QueueError] = []
    /// The difference between the clock and the expected time, if it delays deletions; nil otherwise.
    public package(set) var clockDoubt: Duration?
    /// The time until the next uploaded capture may be deleted; nil if there is none.
    public package(set) var nextDue: Duration?

    package init() {}
}
