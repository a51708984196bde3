import CaptureBundle
import CaptureNative
import QueueModel
import QueueTransports
import Synchronization

/// Refuses a push that would exceed a limit, before anything is written (Spec/queue.md section 10).
final class PushLimits: Sendable {
    private let folder: QueueFolder
    private let settings: QueueSettings
    /// The bytes in the spool, and those of pushes under way.
    private let used: Mutex<Int>

    init(_ folder: QueueFolder, _ settings: QueueSettings, used: Int) {
        self.folder = folder
        self.settings = settings
        self.used = Mutex(used)
    }

    /// Reserves space before a file is copied. A pipe is checked after it has been read.
    ///
    /// - Parameter isHeld: whether the queue already holds the bundle, so that it needs no more space.
    /// - Returns: the number of reserved bytes, to be given back if the push fails.
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

    /// Returns the error for this many bytes in the spool; nil if the limits allow them.
    func refusal(_ name: String, total: Int, size: Int) throws -> QueueError? {
        if let limit = settings.limit, total > limit {
            return QueueError(
                .quota, "the spool would hold \(total) bytes, the limit is \(limit)", of: name,
                hints: [
                    "delete what was uploaded with: capqueue prune",
                    "or change the limit with: capqueue config limit SIZE",
                ])
        }
        if let floor = settings.freeFloor {
            let free = try onFile(folder.path) { () throws(NativeError) in try DiskSpace.free(at: folder.path) }
            if free - size < floor {
                return QueueError(
                    .freeDisk, "\(free) bytes are free on the disk, but \(floor) must stay free (free-floor)", of: name,
                    hints: [
                        "change free-floor with: capqueue config free-floor SIZE",
                        "or push with --reference, which needs no space",
                    ])
            }
        }
        return nil
    }
}
