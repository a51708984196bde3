public import QueueModel

/// The long calls of the upkeep, for Swift concurrency (as in `UploadQueue+Async.swift`).
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
        try await OwnThread.run { cancellation in
            try self.prune(options) { id, bytes in
                try cancellation.check()
                try deliver(id, bytes)
            }
        }
    }

    /// Compares rows, files and hashes. Cancelling the task stops the check at its next finding.
    ///
    /// - Throws: as the call without `async`; `CancellationError`.
    public func check(
        _ options: CheckOptions = CheckOptions(), deliver: @escaping @Sendable (CheckFinding) throws -> Void
    ) async throws -> CheckResult {
        try await OwnThread.run { cancellation in
            try self.check(options) { finding in
                try cancellation.check()
                try deliver(finding)
            }
        }
    }
}
