import Synchronization

/// A cache of the values that were used last, with a limit on their bytes.
final class BoundedCache<Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let bytes: Int
        /// The number of the last use.
        var used: Int
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var bytes = 0
        var uses = 0
    }

    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: The maximum number of bytes of all values.
    init(limit: Int) { self.limit = limit }

    subscript(name: String) -> Value? {
        state.withLock { state in
            guard let value = state.entries[name]?.value else { return nil }
            state.uses += 1
            state.entries[name]?.used = state.uses
            return value
        }
    }

    /// Adds a value, and removes those that were not used for the longest time if there are too many bytes.
    func keep(_ value: Value, bytes: Int, as name: String) {
        state.withLock { state in
            state.uses += 1
            let old = state.entries.updateValue(Entry(value: value, bytes: bytes, used: state.uses), forKey: name)
            state.bytes += bytes - (old?.bytes ?? 0)
            while state.bytes > limit, let oldest = state.entries.min(by: { $0.value.used < $1.value.used }) {
                state.entries[oldest.key] = nil
                state.bytes -= oldest.value.bytes
            }
        }
    }
}
