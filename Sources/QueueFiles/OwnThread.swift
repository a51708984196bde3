import CaptureNative
import QueueModel
import Synchronization

/// Runs blocking calls on a thread of their own, so that they do not occupy the threads that Swift's tasks share.
package enum OwnThread {
    /// Whether the waiting task was cancelled.
    package final class Cancellation: Sendable {
        private let flag = Mutex(false)

        fileprivate func cancel() { flag.withLock { $0 = true } }

        /// - Throws: `CancellationError` if the task was cancelled.
        package func check() throws { if flag.withLock(\.self) { throw CancellationError() } }
    }

    /// Runs `body` on a new thread.
    ///
    /// - Parameters:
    ///   - onCancel: called at once, on any thread, when the task is cancelled.
    ///   - body: the blocking call, which checks the cancellation from time to time.
    /// - Throws: any error of `body`; `CancellationError` if the task was cancelled before the thread starts.
    package static func run<Value: Sendable>(
        onCancel: @escaping @Sendable () -> Void = {}, _ body: @escaping @Sendable (Cancellation) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            do {
                return try await Thread.run { try body(cancellation) }
            } catch let error as NativeError where error.call == Thread.startCall {
                throw QueueError(.inputOutput, "cannot start a thread: \(error.text)", of: "threads")
            }
        } onCancel: {
            cancellation.cancel()
            onCancel()
        }
    }
}
