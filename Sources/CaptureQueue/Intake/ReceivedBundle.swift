public import CaptureBundle
import CaptureNative
import GRDB
import QueueModel
import QueueTransports
public import SystemPackage

/// A bundle that was restored from an upload body and verified. It is on the disk, but not in the queue yet. Its bytes
/// are deleted when the last copy of this value is released, unless it was kept.
public struct ReceivedBundle: Sendable {
    /// The report of the bundle, with the faults of the body.
    public let report: VerificationReport
    /// nil if the bundle is not sound.
    let arrival: Arrival?

    /// Whether the bundle is sound, so that it can be kept. The verdict says whether its device is trusted.
    public var isSound: Bool { arrival != nil }
}

/// The two steps of a receiving server, which looks at the report between them.
///
/// ```swift
/// let received = try queue.captures.receive("body", BundleReceiver(trust: trust))
/// guard received.report.verdict == .verified else { … }
/// let pushed = try queue.captures.keep([received])[0].get()
/// ```
extension UploadQueue.Captures {
    /// Restores a bundle from an upload body (Spec/upload.md section 1.3) into the queue's folder, and verifies it in
    /// the same pass. Several threads may call this at the same time.
    ///
    /// - Returns: the report. A body with faults is a result.
    /// - Throws: `input.unreadable`, `limit.quota`, `limit.disk`, `io.failed`.
    public func receive(
        _ body: FilePath, _ receiver: BundleReceiver, destinations: [String] = []
    ) throws -> ReceivedBundle {
        try Intake(Push(queue, Self.options(destinations))).receive(body, receiver)
    }

    /// Adds received bundles to the queue, in one transaction. A capture that the queue knows and whose bytes it does not
    /// have any more is stored and sent again, since a destination may have lost it too. If the queue has its bytes, it
    /// is sent again to folders and S3 stores, which compares the copy there, and repairs it if it is damaged.
    ///
    /// - Returns: the result for each bundle, in order, once bytes, folders and row are on the disk. A bundle that is
    ///   not sound gives its verdict as an error.
    /// - Throws: an error that prevents reading the queue.
    public func keep(
        _ bundles: [ReceivedBundle], destinations: [String] = []
    ) throws -> [Result<Pushed, any Error>] {
        let push = try Push(queue, Self.options(destinations))
        return PushGroup(push: push).commit(
            bundles.map { bundle in
                if push.options.requiresTrust, let fault = bundle.report.faults.first { return .failure(fault) }
                if let arrival = bundle.arrival { return .success(arrival) }
                return .failure(
                    bundle.report.faults.first ?? QueueError(.corruptRecord, "a bundle without a report"))
            })
    }

    /// Tries what keeping a bundle needs, and leaves nothing behind: room for a bundle like the last one, a synced file
    /// in the spool, and a write to the database.
    ///
    /// - Throws: `limit.quota`, `limit.disk`, `io.failed`, or why the database cannot be used.
    public func tryKeeping() throws {
        let push = try Push(queue, PushOptions())
        let trial = [UInt8](repeating: 0, count: 65_536)
        let size = max(trial.count, try queue.store.read { try $0.lastBytes() })
        push.limits.giveBack(try push.limits.reserve(size, of: "a bundle") { false })
        let file = try push.openIncoming()
        try push.write(trial.span, to: file)
        try push.synchronize(file)
        try queue.store.write { try $0.execute(sql: "PRAGMA user_version = 0") }
    }

    private static func options(_ destinations: [String]) -> PushOptions {
        var options = PushOptions()
        options.destinations = destinations
        options.resendsLost = true
        return options
    }
}

extension Intake {
    fileprivate func receive(_ body: FilePath, _ receiver: BundleReceiver) throws -> ReceivedBundle {
        let name = body.string
        let source = try BundleSource(file: body)
        let size = try onFile(named: name) { () throws(NativeError) in try FileStatus.of(body).size }
        let reserved = try push.limits.reserve(size, of: name) { false }
        defer { push.limits.giveBack(reserved) }
        let file = try push.openIncoming()
        let hasher = try DigestStream()
        let tagger = try onFile(named: name) { () throws(NativeError) in try BytesTagger() }
        let received = try receiver.restore(source) { piece throws(BundleError) in
            try hasher.update(piece)
            do throws(NativeError) { try tagger.update(piece) } catch { throw .unexpected(error) }
            try push.write(piece, to: file)
        }
        guard received.isKept else { return ReceivedBundle(report: received.report, arrival: nil) }
        file.handle.startWriting(from: 0, count: 0)
        let tag = try onFile(named: name) { () throws(NativeError) in try tagger.finish() }
        var arrival = try arrival(name, received.report, hasher.finish(), tag, file)
        try settle(&arrival)
        return ReceivedBundle(report: received.report, arrival: arrival)
    }
}
