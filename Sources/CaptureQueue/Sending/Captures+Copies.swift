public import CaptureBundle
import CaptureNative
import QueueFiles
public import QueueModel
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
