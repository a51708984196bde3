import CaptureNative
import QueueModel

/// Runs blocking calls on a thread of their own, so that they do not occupy the threads that Swift's tasks share.
package enum OwnThread {
    /// Runs `body` on a new thread.
    ///
    /// - Parameters:
    ///   - onCancel: called at once, on any thread, when the task is cancelled.
    ///   - body: the blocking call.
    /// - Throws: any error of `body`; `CancellationError` if the task was cancelled before the thread starts.
    package static func run<Value: Sendable>(
        onCancel: @escaping @Sendable () -> Void = {}, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        return try await withTaskCancellationHandler {
            do {
                return try await Thread.run(body)
            } catch let error as NativeError where error.call == Thread.startCall {
                throw QueueError(.inputOutput, "cannot start a thread: \(error.text)", of: "threads")
            }
        } onCancel: {
            onCancel()
        }
    }
}
