public import QueueModel
public import SystemPackage

/// The calls that take long, for Swift concurrency.
///
/// Each call blocks a thread of its own and none that tasks share. The guarantees are the same as without `async`.
extension UploadQueue {
    /// Pushes one bundle. A push that has begun is finished, so it is always known whether the bundle was stored.
    ///
    /// - Throws: as the call without `async`; `CancellationError` before the push begins.
    @discardableResult
    public func push(_ path: FilePath, _ options: PushOptions = PushOptions()) async throws -> Pushed {
        try await OwnThread.run { _ in try self.push(path, options) }
    }

    /// Sends the waiting deliveries. Cancelling the task stops the run as `QueueRun.stop()` does: nothing new is
    /// begun, and transfers under way get a grace period.
    ///
    /// - Returns: what was done, even after a cancellation.
    /// - Throws: as `QueueRun.perform`; `CancellationError` before the run begins.
    @discardableResult
    public func run(
        _ options: RunOptions = RunOptions(), onEvent: @escaping @Sendable (QueueEvent) -> Void = { _ in }
    ) async throws -> RunResult {
        let run = QueueRun(self, options, onEvent: onEvent)
        return try await OwnThread.run(onCancel: { run.stop() }) { _ in try run.perform() }
    }

    /// Begins a run and returns its events, up to `ended`. Leaving the loop or cancelling the task stops the run.
    ///
    /// ```swift
    /// for try await event in queue.events(of: options) { print(event.name) }
    /// ```
    public func events(of options: RunOptions = RunOptions()) -> AsyncThrowingStream<QueueEvent, any Error> {
        AsyncThrowingStream { events in
            let task = Task {
                do {
                    try await self.run(options) { events.yield($0) }
                    events.finish()
                } catch {
                    events.finish(throwing: error)
                }
            }
            events.onTermination = { _ in task.cancel() }
        }
    }
}
