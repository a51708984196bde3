import CaptureBundle
import CaptureNative
import Synchronization

/// The limits that refuse a push before anything is written (Spec/queue.md section 10).
final class PushLimits: Sendable {
    private let folder: QueueFolder
    private let settings: QueueSettings
    /// Bytes in the spool, and those that are on their way.
    private let used: Mutex<Int>

    init(_ folder: QueueFolder, _ settings: QueueSettings, used: Int) {
        self.folder = folder
        self.settings = settings
        self.used = Mutex(used)
    }

    /// - Parameters:
    ///   - size: of the bundle; 0 where it is not known yet.
    ///   - isHeld: whether the queue holds it already, so that it will not take more room.
    /// - Throws: `limit.quota`, `limit.disk`.
    func examine(size: Int, of place: BundleSource.Place, isHeld: () throws -> Bool) throws {
        let total = used.withLock { used in
            used += size
            return used
        }
        guard let refusal = try refusal(total: total, size: size) else { return }
        if case .file = place, try isHeld() { return }
        used.withLock { $0 -= size }
        throw refusal
    }

    /// What speaks against so many bytes in the spool; nil when nothing does.
    func refusal(total: Int, size: Int) throws -> QueueError? {
        if let limit = settings.limit, total > limit {
            return QueueError(
                .quota, "the spool would hold \(total) bytes, the limit is \(limit)", of: folder.path,
                hints: ["capqueue prune lets go of what was uploaded; capqueue config limit changes the limit"])
        }
        if let floor = settings.freeFloor {
            let free = try onFile(folder.path) { () throws(NativeError) in try DiskSpace.free(at: folder.path) }
            if free - size < floor {
                return QueueError(
                    .freeDisk, "\(free) bytes are free on the disk, \(floor) have to stay so", of: folder.path,
                    hints: ["capqueue config free-floor changes that; --reference needs no room"])
            }
        }
        return nil
    }
}
