import CaptureBundle
import CaptureNative
import QueueModel
import QueueTransports
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

    /// Looked at before anything is copied; a pipe is looked at when it has arrived.
    ///
    /// - Parameter isHeld: whether the queue holds it already, so that it will not take more room.
    /// - Returns: bytes that are set apart for it, to be given back if it fails.
    /// - Throws: `limit.quota`, `limit.disk`.
    func reserve(_ size: Int, of name: String, isHeld: () throws -> Bool) throws -> Int {
        guard settings.limit != nil || settings.freeFloor != nil, size > 0, try !isHeld() else { return 0 }
        let total = used.withLock { used in
            used += size
            return used
        }
        do {
            if let refusal = try refusal(name, total: total, size: size) { throw refusal }
            return size
        } catch {
            giveBack(size)
            throw error
        }
    }

    func giveBack(_ size: Int) { used.withLock { $0 -= size } }

    /// What speaks against so many bytes in the spool; nil when nothing does.
    func refusal(_ name: String, total: Int, size: Int) throws -> QueueError? {
        if let limit = settings.limit, total > limit {
            return QueueError(
                .quota, "the spool would hold \(total) bytes, the limit is \(limit)", of: name,
                hints: [
                    "delete what was uploaded with: capqueue prune; change the limit with: capqueue config limit SIZE"
                ])
        }
        if let floor = settings.freeFloor {
            let free = try onFile(folder.path) { () throws(NativeError) in try DiskSpace.free(at: folder.path) }
            if free - size < floor {
                return QueueError(
                    .freeDisk, "\(free) bytes are free on the disk, \(floor) must stay free", of: name,
                    hints: [
                        "change that with: capqueue config free-floor SIZE; or push with --reference, which needs no space"
                    ])
            }
        }
        return nil
    }
}
