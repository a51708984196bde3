import Synchronization

/// A cache of the values that were added last, with a limit on their bytes.
final class BoundedCache<Value: Sendable>: Sendable {
    private struct State {
        var entries: [String: (value: Value, bytes: Int)] = [:]
        /// The names of the entries, the oldest first.
        var names: [String] = []
        var bytes = 0
    }

    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: The maximum number of bytes of all values.
    init(limit: Int) { self.limit = limit }

    subscript(name: String) -> Value? { state.withLock { $0.entries[name]?.value } }

    /// Adds a value, and removes the oldest ones if there are too many bytes.
    func keep(_ value: Value, bytes: Int, as name: String) {
        state.withLock { state in
            guard state.entries.updateValue((value, bytes), forKey: name) == nil else { return }
            state.names.append(name)
            state.bytes += bytes
            while state.bytes > limit {
                state.bytes -= state.entries.removeValue(forKey: state.names.removeFirst())?.bytes ?? 0
            }
        }
    }
}
