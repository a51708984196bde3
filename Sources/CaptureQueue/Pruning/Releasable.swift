public import QueueModel

/// The uploaded bundles that `prune` could delete, and the age to give it for that (Spec/queue.md section 10).
public struct Releasable: Hashable, Sendable {
    /// What to give to `prune --older-than`; nil if the retention has passed, so that `prune` needs no age.
    public let age: QueueAge?
    public internal(set) var captures: Int
    public internal(set) var bytes: Int
    /// Whether there are no others. Only the oldest were looked at.
    public internal(set) var isAll = true
    /// Whether deleting them frees enough.
    public internal(set) var isEnough = true

    public var command: String { "capqueue prune" + (age.map { " --older-than \($0.text)" } ?? "") }
}
