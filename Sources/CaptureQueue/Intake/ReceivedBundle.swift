public import CaptureBundle
import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import QueueTransports

/// A bundle that was restored from an upload body and verified. It is on the disk, but not in the queue yet. Its bytes
/// are deleted when the last copy of this value is released, unless it was kept.
public struct ReceivedBundle: Sendable {
    /// The report of the bundle, with the faults of the body.
    public let report: VerificationReport
    public let bodySHA256: Digest
    /// nil if the bundle is not sound.
    let arrival: Arrival?
    let destinations: [String]

    /// Whether the bundle is sound, so that it can be kept. The verdict says whether its device is trusted.
    public var isSound: Bool { arrival != nil }
}

/// The two steps of a receiving server, which looks at the report between them.
///
/// ```swift
/// let received = try await queue.captures.receive(pieces, byteCount: length, BundleReceiver(trust: trust)) { sha256 in
///     try signature.verify(body: sha256, device: device)
/// }
/// guard received.report.verdict == .verified else { … }
/// let pushed = try queue.captures.keep([received])[0].get()
/// ```
extension UploadQueue.Captures {
    /// Receives an upload body while it arrives: restores its bundle (Spec/upload.md section 1.3) into the queue's folder,
    /// and verifies it in the same pass, on a thread of its own. The pieces are asked for as fast as they are verified and
    /// written, so memory stays bounded.
    ///
    /// - Parameters:
    ///   - pieces: The bytes of the body. Nothing is left of them if they end with an error.
    ///   - byteCount: The announced length of the body, for which there must be room; nil if it is not known.
    ///   - destinations: the destinations of the capture, which its sidecar names; the default one if there are none.
    ///   - accept: Gets the hash of the whole body, which the headers of a request sign. Nothing is left if it throws.
    /// - Returns: the report. A body with faults is a result.
    /// - Throws: the errors of `pieces`; of `accept`; `destination.unknown`, `input.unreadable`, `limit.quota`,
    ///   `limit.disk`, `io.failed`; `CancellationError`.
    public func receive<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces, byteCount: Int?, _ receiver: BundleReceiver, destinations: [String] = [],
        accept: @escaping @Sendable (Digest) throws -> Void
    ) async throws -> ReceivedBundle where Pieces.Element == [UInt8] {
        try await ArrivingBody.read(pieces) { body in
            let copy = Result {
                let intake = try Intake(Push(queue, Self.options(destinations)))
                return (intake, try intake.copy(body.source, byteCount: byteCount, to: receiver))
            }
            let sha256 = try body.finish()
            try accept(sha256)
            let (intake, (received, arrival)) = try copy.get()
            guard var arrival else {
                return ReceivedBundle(
                    report: received.report, bodySHA256: sha256, arrival: nil, destinations: destinations)
            }
            // The bundle determines every byte of its body, so this one has the hash of the body that will be sent.
            if intake.push.signs { arrival.body = BodyHash(sha256: sha256, candidate: received.candidate) }
            try intake.settle(&arrival)
            return ReceivedBundle(
                report: received.report, bodySHA256: sha256, arrival: arrival, destinations: destinations)
        }
    }

    /// Adds received bundles to the queue, those for the same destinations in one transaction. A capture that the queue knows and whose bytes it does not
    /// have any more is stored and sent again, since a destination may have lost it too. If the queue has its bytes, it
    /// is sent again to folders and S3 stores: the copy there is compared, and repaired if it is damaged.
    ///
    /// - Returns: the result for each bundle, in order, once bytes, folders and row are on the disk. A bundle that is
    ///   not sound gives its verdict as an error.
    /// - Throws: an error that prevents reading the queue.
    public func keep(_ bundles: [ReceivedBundle]) throws -> [Result<Pushed, any Error>] {
        var results: [Int: Result<Pushed, any Error>] = [:]
        for (destinations, places) in Dictionary(grouping: bundles.indices, by: { bundles[$0].destinations }) {
            let push = try Push(queue, Self.options(destinations))
            let arrivals = places.map { place -> Result<Arrival, any Error> in
                let fault = bundles[place].report.faults.first
                if push.options.requiresTrust, let fault { return .failure(fault) }
                if let arrival = bundles[place].arrival { return .success(arrival) }
                return .failure(fault ?? QueueError(.corruptRecord, "a bundle without a report"))
            }
            for (place, result) in zip(places, PushGroup(push: push).commit(arrivals)) { results[place] = result }
        }
        return bundles.indices.compactMap { results[$0] }
    }

    /// Tries what keeping a bundle needs, and leaves nothing behind: room for a bundle like the last one, a synced file
    /// in the spool, and a write to the database.
    ///
    /// - Throws: `limit.quota`, `limit.disk`, `io.failed`, or why the database cannot be used.
    public func tryKeeping() throws {
        let push = try Push(queue, PushOptions())
        let trial = [UInt8](repeating: 0, count: 65_536)
        let size = max(trial.count, try queue.store.read { try $0.lastBytes() })
        push.limits.giveBack(try push.limits.reserve(size, of: "a bundle") { .room })
        let file = try push.queue.spool.openIncoming()
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
    /// Restores and verifies the bundle of a body.
    ///
    /// - Returns: the result; and the bundle, which is not synced, if it is sound.
    fileprivate func copy(
        _ body: BundleSource, byteCount: Int?, to receiver: BundleReceiver
    ) throws -> (BundleReceiver.Received, Arrival?) {
        // Others may take the room meanwhile, so `keep` asks for it again.
        push.limits.giveBack(try push.limits.reserve(byteCount ?? 0, of: body.name) { .room })
        let file = try push.queue.spool.openIncoming()
        let hasher = try DigestStream()
        let tagger = try onFile(named: body.name) { try BytesTagger() }
        let received = try receiver.rebuild(body) { piece in
            try hasher.update(piece)
            try tagger.update(piece)
            try push.write(piece, to: file)
        }
        guard received.isKept else { return (received, nil) }
        file.handle.startWriting(from: 0, count: 0)
        let tag = try onFile(named: body.name) { try tagger.finish() }
        return (received, try arrival(body.name, received.report, hasher.finish(), tag, file))
    }
}
