import CaptureNative
import QueueFiles
public import QueueModel
import Synchronization
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
        try await OwnThread.run { try self.push(path, options) }
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
        return try await OwnThread.run(onCancel: { run.stop() }) { try run.perform() }
    }
}

extension UploadQueue.Upkeep {
    /// Deletes bytes that were uploaded long enough ago. Cancelling the task stops it between two captures, and the
    /// next call continues there.
    ///
    /// - Throws: as the call without `async`; `CancellationError`.
    @discardableResult
    public func prune(
        _ options: PruneOptions = PruneOptions(),
        deliver: @escaping @Sendable (_ id: String, _ bytes: Int) throws -> Void = { _, _ in }
    ) async throws -> PruneResult {
        let isCancelled = Mutex(false)
        return try await OwnThread.run(onCancel: { isCancelled.withLock { $0 = true } }) {
            try self.prune(options) { id, bytes in
                if isCancelled.withLock(\.self) { throw CancellationError() }
                try deliver(id, bytes)
            }
        }
    }
}

/// The number of files and connections that this process may have open.
public enum OpenFiles {
    /// Raises the limit of open files as far as the system allows, at most to 65,536, and returns it: one a connection.
    @discardableResult
    public static func raiseLimit() -> Int { ProcessLimits.raiseOpenFiles() }
}
