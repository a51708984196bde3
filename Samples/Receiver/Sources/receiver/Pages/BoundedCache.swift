import Synchronization

/// A cache of the values that were added last, with a limit on their bytes.
final class BoundedCache<Value: Sendable>: Sendable {
    /// The oldest entry is the first.
    private let entries = Mutex<[(name: String, value: Value, bytes: Int)]>([])
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    subscript(name: String) -> Value? { entries.withLock { $0.first { $0.name == name }?.value } }

    /// Adds a value, and removes the oldest ones if there are too many bytes.
    func keep(_ value: Value, bytes: Int, as name: String) {
        entries.withLock { entries in
            entries.removeAll { $0.name == name }
            entries.append((name, value, bytes))
            while entries.reduce(0, { $0 + $1.bytes }) > limit { entries.removeFirst() }
        }
    }
}
