import CaptureNative
import Synchronization

/// Runs calls that block on a thread of their own, so that they keep none of the threads that Swift's tasks share.
enum OwnThread {
    /// Whether the task that waits was cancelled.
    final class Cancellation: Sendable {
        private let flag = Mutex(false)

        fileprivate func cancel() { flag.withLock { $0 = true } }

        /// - Throws: `CancellationError` once the task was cancelled.
        func check() throws { if flag.withLock(\.self) { throw CancellationError() } }
    }

    /// - Parameters:
    ///   - onCancel: called at once, on any thread, when the task is cancelled.
    ///   - body: blocks; looks at the cancellation from time to time.
    /// - Throws: what `body` throws; `CancellationError`, before anything is done, for a task that is cancelled already.
    static func run<Value: Sendable>(
        onCancel: @escaping @Sendable () -> Void = {}, _ body: @escaping @Sendable (Cancellation) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                let isStarted = Thread.start { continuation.resume(with: Result { try body(cancellation) }) }
                if !isStarted {
                    continuation.resume(
                        throwing: QueueError(
                            .inputOutput, "cannot start a thread: the system's limit may be reached", of: "threads"))
                }
            }
        } onCancel: {
            cancellation.cancel()
            onCancel()
        }
    }
}
