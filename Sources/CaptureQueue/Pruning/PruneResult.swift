public import QueueModel

/// What `prune` did, or in a dry run would do.
public struct PruneResult: Hashable, Sendable {
    public internal(set) var captures = 0
    public internal(set) var bytes = 0
    /// Files that could not be deleted, with the reason. The next prune tries again.
    public internal(set) var failures: [QueueError] = []
    /// How many captures stay until a run has looked at their copies in folders (Spec/queue.md section 8.1).
    public internal(set) var unseenCopies = 0
    /// A cancelled capture whose last try may have arrived.
    public struct InDoubt: Hashable, Sendable {
        public let id: String
        /// The destinations that may have it.
        public let destinations: [String]
    }

    /// The deleted captures that a destination may have, although they were cancelled.
    public internal(set) var inDoubt: [InDoubt] = []
    /// Errors for ids that name no capture or one that is not cancelled.
    public internal(set) var refused: [QueueError] = []
    /// The difference between the clock and the expected time, if it delays deletions; nil otherwise.
    public internal(set) var clockDoubt: Duration?
    /// The time until the next uploaded capture may be deleted; nil if there is none.
    public internal(set) var nextDue: Duration?
}
