package import CaptureBundle
import CaptureNative
package import QueueFiles
import SystemPackage

/// The file in which a run tells `status` what it sends (`run.json`). It is replaced at most once a second, and not synced.
package struct TransfersFile {
    private let folder: QueueFolder
    private let started = WallClock.milliseconds
    private var writtenAt: Double?
    private var last: [UInt8] = []

    init(_ folder: QueueFolder) { self.folder = folder }

    mutating func write(_ transfers: [TransferProgress]) {
        let now = MonotonicClock.seconds
        if let writtenAt, now - writtenAt < 1 { return }
        let transfers = transfers.map { transfer in
            JSONValue.members([
                "id": .string(transfer.id), "destination": .string(transfer.destination),
                "sent": .integer(transfer.sent), "bytes": .integer(transfer.bytes),
            ])
        }
        let bytes = CanonicalJSON.encode(
            .members([
                "pid": .integer(ProcessEnvironment.processNumber),
                "started_at": CaptureTime(milliseconds: started).map { .string($0.description) },
                "transfers": .array(transfers),
            ]))
        guard bytes != last else { return }
        writtenAt = now
        last = bytes
        // Nothing depends on this file, so a failed write is ignored.
        try? AtomicFile.writeUnsynced(bytes, to: folder.transfersFile, mode: 0o600)
    }

    static func remove(_ folder: QueueFolder) { _ = folder.remove("run.json") }
}

extension TransfersFile {
    /// The process that runs and its transfers, in the form of Spec/capqueue.md section 3; nil if there is no run.
    package static func content(in folder: QueueFolder) -> JSONValue? {
        guard let lock = try? FileHandle.reading(folder.runLock, followsLinks: false), !lock.lockIfFree(),
            let progress = try? FileHandle.reading(folder.transfersFile, followsLinks: false),
            let bytes = try? progress.readAll(limit: 1 << 20)
        else { return nil }
        return try? JSONParser.parse(bytes, nesting: 4)
    }
}
