/// The uploaded bundles that `prune` could delete, and the age to give it for that (Spec/queue.md section 10).
public struct Prunable: Hashable, Sendable {
    /// The age that makes `prune` delete them; nil if the retention has passed, so that it needs no age.
    public let age: Duration?
    public let captures: Int
    public let bytes: Int
    /// Whether these are all; if not, only the oldest were counted.
    public let isAll: Bool
    /// Whether deleting them frees enough.
    public let isEnough: Bool

    package init(age: Duration?, captures: Int, bytes: Int, isAll: Bool, isEnough: Bool) {
        self.age = age
        self.captures = captures
        self.bytes = bytes
        self.isAll = isAll
        self.isEnough = isEnough
    }
}
