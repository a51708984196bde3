import CaptureBundle
import CaptureNative
import GRDB

/// What a run did.
public struct RunResult: Hashable, Sendable {
    public internal(set) var completed = 0
    public internal(set) var failed = 0
    /// Destinations that were not there, and why.
    public internal(set) var offline: [String] = []
}

extension UploadQueue {
    /// Sends what is due now, one delivery after the other, and ends.
    ///
    /// - Parameter onOutcome: told of each, once it is on disk.
    /// - Throws: `queue.busy` when another run owns the queue.
    public func runOnce(_ onOutcome: (CaptureRecord, DeliveryState, SendOutcome) throws -> Void) throws -> RunResult {
        if let readOnly = store.readOnly { throw readOnly }
        let taken = try onFile(folder.runLock) { () throws(NativeError) in
            try FileLock.take(folder.runLock, milliseconds: 0)
        }
        guard let lock = taken else { throw QueueError(.busy, "another run owns the queue", of: folder.path) }
        defer { lock.release() }
        try recoverClaims()
        var result = RunResult()
        // What fails now is due later, and later is another run's.
        let start = try store.write { try clock.stamp($0) }
        for destination in try destinations() {
            try send(to: destination, dueBefore: start, &result, onOutcome)
        }
        return result
    }

    private func send(
        to destination: Destination, dueBefore start: Int, _ result: inout RunResult,
        _ onOutcome: (CaptureRecord, DeliveryState, SendOutcome) throws -> Void
    ) throws {
        guard destination.kind == Destination.Kind.folder.rawValue else {
            result.offline.append("\(destination.name): this version does not know its kind, \(destination.kind)")
            return
        }
        let transport = try FolderTransport(destination)
        guard transport.isThere else {
            result.offline.append("\(destination.name): the folder is not there, or not the one that was named")
            return
        }
        while let claim = try claim(for: destination, dueBefore: start) {
            let outcome = try deliver(claim, transport)
            let state: DeliveryState
            do {
                state = try settle(claim, outcome)
            } catch let error as QueueError where error.code == .claimLost {
                continue
            }
            if state == .completed { result.completed += 1 } else { result.failed += 1 }
            try onOutcome(claim.capture, state, outcome)
            if case .parked = outcome { return }
        }
    }

    private func deliver(_ claim: Claim, _ transport: FolderTransport) throws -> SendOutcome {
        let source: FileHandle?
        do throws(NativeError) {
            switch claim.capture.reference {
            case let path? where claim.capture.holding == .reference: source = try FileHandle.readingPlainFile(path)
            default: source = try FileHandle.reading(folder.bundlePath(claim.capture.sha256), followsLinks: false)
            }
        } catch  where error.isMissing {
            source = nil
        } catch {
            return .failed(code: "spool.io", message: "the bytes cannot be read: \(error.text)")
        }
        guard let source else { return .damaged(message: "the bytes are gone") }
        return transport.send(claim, from: source, try store.read { try clock.read($0) })
    }
}
