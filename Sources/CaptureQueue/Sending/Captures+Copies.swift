public import CaptureBundle
import CaptureNative
import QueueFiles
public import QueueModel
import QueueTransports
import SystemPackage

extension UploadQueue.Captures {
    /// Writes the bundle of a capture. The output appears only after its bytes were compared with their hash.
    ///
    /// - Throws: `bytes.absent`, `spool.damaged`, `output.…`, `io.failed`.
    public func get(_ record: CaptureRecord, to place: OutputPlace) throws {
        guard let path = path(of: record) else {
            throw QueueError(
                .bytesAbsent,
                record.holding == .removed || record.holding == .removing
                    ? "was uploaded or cancelled, and its bytes were deleted"
                    : "its bytes are \(record.holdingWords)",
                of: record.id)
        }
        do throws(BundleError) {
            try BundleSource(file: path).copy(to: place, sha256: record.sha256)
        } catch {
            switch error.code {
            case .entrySHA256:
                throw QueueError(
                    record.holding == .reference ? .sourceChanged : .spoolDamaged,
                    "the bytes changed since they were pushed; nothing was written", of: record.id)
            case .inputUnreadable where !FileStatus.exists(path):
                if let root = absentFolder(of: path, record) {
                    throw QueueError(.bytesAbsent, Absence.message(root), of: record.id)
                }
                throw QueueError(.bytesAbsent, "\(path) is missing", of: record.id, cause: .gone)
            default: throw error
            }
        }
    }

    /// The folder with which the bytes are absent, as on a disk that is not mounted; nil if they alone are missing.
    private func absentFolder(of path: FilePath, _ record: CaptureRecord) -> FilePath? {
        guard record.holding == .spool else { return Absence.root(of: path) }
        return (try? queue.spool.shards().isEmpty) ?? false ? queue.folder.spool : nil
    }
}

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
                sent, delivery, token: [], now: try queue.store.read { try queue.clock.read($0).recordTime }, queue)
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
