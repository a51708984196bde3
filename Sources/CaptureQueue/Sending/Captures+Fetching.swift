public import CaptureBundle
import CaptureNative
public import QueueModel
import QueueTransports

extension UploadQueue.Captures {
    /// Fetches the bundle of a released capture from a destination and writes it. The output appears only after its
    /// bytes were compared with their hash.
    ///
    /// - Returns: the name of the destination that returned it.
    /// - Throws: `bytes.absent` if no destination returns it; `output.…`, `io.failed`.
    public func fetch(_ record: CaptureRecord, to place: OutputPlace) throws -> String {
        var troubles: [String] = []
        let control = SendControl()
        for delivery in record.deliveries where delivery.state == .completed {
            guard let name = delivery.destination else { continue }
            if let part = delivery.part {
                troubles.append("\(name): only the \(part) was uploaded there")
                continue
            }
            let sent = record.delivered(by: delivery)
            let transport = try TransportShares(queue.signers).make(queue.destinations.find(name)) { _ in }
            let copy = try onFile(TemporaryFile.folder) { try TemporaryFile.open() }
            let job = SendJob(
                sent, delivery, token: [], now: try queue.store.read { try queue.clock.read($0).stamp }, queue)
            if let trouble = transport.fetch(job, into: copy, control) {
                troubles.append("\(name): \(trouble)")
                continue
            }
            try onFile(TemporaryFile.folder) { try copy.seekToStart() }
            try BundleSource(handle: copy, name: name).copy(to: place, sha256: sent.sha256)
            return name
        }
        throw QueueError(
            .bytesAbsent,
            troubles.isEmpty
                ? "its bytes are \(record.holdingWords), and no destination has them"
                : "its bytes are \(record.holdingWords) here, and no destination returns them: "
                    + troubles.joined(separator: "; "), of: record.id)
    }
}
