package import CaptureBundle
import CaptureNative
import QueueModel
import QueueTransports
import SystemPackage

/// What a run is sending at the moment, for `status`: whole, at most once a second, not synced.
struct RunProgressFile {
    private let folder: QueueFolder
    private let started = WallClock.milliseconds
    private var writtenAt: Double?
    private var last: [UInt8] = []

    init(_ folder: QueueFolder) { self.folder = folder }

    mutating func write(_ sharedRun: SharedRun) {
        let now = MonotonicClock.seconds
        if let writtenAt, now - writtenAt < 1 { return }
        let transfers = sharedRun.transfers.map { transfer in
            JSONValue.members([
                "id": .string(transfer.id), "destination": .string(transfer.destination),
                "sent": .integer(transfer.sent), "bytes": .integer(transfer.bytes),
            ])
        }
        let bytes = CanonicalJSON.encode(
            .members([
                "pid": .integer(ProcessIdentity.current.number),
                "started_at": CaptureTime(milliseconds: started).map { .string($0.description) },
                "transfers": .array(transfers),
            ]))
        guard bytes != last else { return }
        writtenAt = now
        last = bytes
        // Nothing depends on it, so a disk that does not take it is no trouble.
        try? AtomicFile.writeUnsynced(bytes, to: folder.runProgress, mode: 0o600)
    }

    static func remove(_ folder: QueueFolder) {
        guard let home = try? FolderHandle(folder.path) else { return }
        _ = try? home.removeFile("run.json")
    }
}

extension UploadQueue {
    /// The run that owns the queue and what it sends, as Spec/capqueue.md section 3 has it; nil where nothing runs.
    package func runProgress() -> JSONValue? {
        guard let lock = try? FileHandle.reading(folder.runLock, followsLinks: false), !lock.lockIfFree(),
            let progress = try? FileHandle.reading(folder.runProgress, followsLinks: false),
            let bytes = try? progress.readAll(limit: 1 << 20)
        else { return nil }
        return try? JSONParser.parse(bytes, nesting: 4)
    }
}
