import Synchronization

/// Hands bytes from a task to a thread, which reads them as they arrive. The task waits while many bytes are unread, so
/// the memory is bounded by `room` and the size of a piece.
package final class ByteHandover: Sendable {
    /// No more bytes arrive, although the task has not handed over all of them.
    package struct BrokenOff: Error {}

    private enum End { case whole, brokenOff }

    private struct State {
        var arrived: [UInt8] = []
        /// The bytes that the thread reads at the moment, and how many of them it has read.
        var taken: [UInt8] = []
        var position = 0
        var end: End?
        /// The task, while it waits for the thread.
        var task: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let changed = Signal()
    /// The task waits while at least this many bytes have arrived and the thread has not taken them.
    package static let room = 1 << 17

    /// Runs `body` on a new thread while `pieces` arrive.
    ///
    /// - Parameter body: Reads the bytes. If it ends early, no further pieces are asked for.
    /// - Throws: The error of `pieces`, or else of `body`; `CancellationError` instead of either if the task was
    ///   cancelled; `NativeError` if no thread can be started. `body` has ended when this function returns or throws.
    package static func run<Pieces: AsyncSequence & Sendable, Value: Sendable>(
        _ pieces: Pieces, _ body: @escaping @Sendable (ByteHandover) throws -> Value
    ) async throws -> Value where Pieces.Element == [UInt8] {
        let handover = ByteHandover()
        return try await withTaskCancellationHandler {
            async let value = handover.onThread(body)
            do {
                for try await piece in pieces {
                    try Task.checkCancellation()
                    guard await handover.put(piece) else { break }
                }
                handover.end(.whole)
                return try await value
            } catch {
                handover.end(.brokenOff)
                _ = try? await value
                try Task.checkCancellation()
                throw error
            }
        } onCancel: {
            handover.end(.brokenOff)
        }
    }

    private func onThread<Value: Sendable>(
        _ body: @escaping @Sendable (ByteHandover) throws -> Value
    ) async throws -> Value {
        // Nothing is read after `body`, so the task must not wait for the thread any more.
        defer { end(.brokenOff) }
        return try await Thread.run { try body(self) }
    }

    /// Hands over a piece, and waits while many bytes are unread; false if nobody reads any more.
    private func put(_ piece: [UInt8]) async -> Bool {
        state.withLock { if $0.end == nil { $0.arrived += piece } }
        changed.raise()
        await withCheckedContinuation { task in
            let waits = state.withLock { state in
                guard state.end == nil, state.arrived.count >= Self.room else { return false }
                state.task = task
                return true
            }
            if !waits { task.resume() }
        }
        return state.withLock { $0.end == nil }
    }

    /// Says that no more bytes arrive. Only the first call counts.
    private func end(_ end: End) {
        let task = state.withLock { state in
            state.end = state.end ?? end
            return state.task.take()
        }
        task?.resume()
        changed.raise()
    }

    /// Writes the next bytes to the start of `buffer`, waiting for them, and returns their number; 0 at the end.
    package func read(into buffer: inout [UInt8]) throws(BrokenOff) -> Int {
        let (count, task) = changed.wait {
            state.withLock { state -> (Int?, CheckedContinuation<Void, Never>?)? in
                if state.end == .brokenOff { return (nil, nil) }
                var task: CheckedContinuation<Void, Never>?
                if state.position == state.taken.count {
                    guard !state.arrived.isEmpty || state.end == .whole else { return nil }
                    swap(&state.taken, &state.arrived)
                    state.arrived.removeAll(keepingCapacity: true)
                    state.position = 0
                    task = state.task.take()
                }
                let next = state.position..<min(state.taken.count, state.position + buffer.count)
                buffer.overwrite(at: 0, with: state.taken.span.extracting(next))
                state.position = next.upperBound
                return (next.count, task)
            }
        }
        task?.resume()
        guard let count else { throw BrokenOff() }
        return count
    }
}
