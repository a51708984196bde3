import CaptureBundle
import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import QueueTransports
import Synchronization

/// Refuses a push that would exceed a limit, before anything is written (Spec/queue.md section 10).
final class PushLimits: Sendable {
    /// What a bundle needs.
    enum Need {
        /// The queue has it already.
        case nothing
        /// Space on the disk, but none of `limit`, which counted the damaged bytes of this capture when they came.
        case replacement(CaptureRecord)
        case room
    }

    private struct Promised {
        /// The bytes in the spool, and those of pushes under way.
        var used: Int
        /// The bytes of pushes under way that the file system may still count as free.
        var unwritten = 0
        /// The captures of `replace`.
        var replaced: Set<Digest> = []
    }

    private let queue: UploadQueue
    let settings: QueueSettings
    private let promised: Mutex<Promised>
    /// What can be deleted. It is looked up for the first refusal of a push.
    private let prunable = Mutex<Prunable??>(nil)
    /// What was deleted to make room and not reported yet. One thread at a time deletes.
    private let evicted = Mutex((captures: 0, bytes: 0))

    init(_ queue: UploadQueue, _ settings: QueueSettings, used: Int) {
        self.queue = queue
        self.settings = settings
        promised = Mutex(Promised(used: used))
    }

    /// Reserves space before a file is copied. A pipe is checked after it has been read. So is a file for which
    /// `evict-uploaded` has to delete uploaded bundles, so that nothing is deleted for a file that is not a bundle.
    ///
    /// - Parameters:
    ///   - isWritten: whether the bytes are in a verified file, which the file system counts already.
    /// - Returns: the number of reserved bytes, for `written` or `giveBack`; 0 if nothing was reserved.
    /// - Throws: `limit.quota`, `limit.disk`.
    func reserve(
        _ size: Int, of name: String, isWritten: Bool = false, need: () throws -> Need
    ) throws -> Int {
        guard size > 0 else { return 0 }
        var limit = settings.limit
        if limit != nil {
            switch try need() {
            case .nothing: return 0
            case .replacement(let record):
                try replace(record)
                limit = nil
            case .room: break
            }
        }
        if try shortage(promising: size, limit, isWritten: isWritten) == 0 { return size }
        if case .nothing = try need() { return 0 }
        if settings.evictsUploaded {
            let hasRoom = try isWritten && evict(for: size) { try shortage(promising: size, limit, isWritten: true) }
            if hasRoom { return size }
            if !isWritten, try mayFindRoom(for: size, limit) { return 0 }
        }
        let now = promised.withLock(\.self)
        let refusal = try queue.store.read { db in
            try overLimit(limit, of: name, size: size, total: now.used + size, db)
                ?? overFloor(name, size: now.unwritten + (isWritten ? 0 : size), db)
        }
        // Another push may have failed meanwhile, so that there is room now.
        guard let refusal else { return try reserve(size, of: name, isWritten: isWritten, need: need) }
        throw refusal
    }

    /// Leaves out the damaged file of a capture whose whole bytes come in.
    private func replace(_ record: CaptureRecord) throws {
        let bytes = try queue.store.read { try $0.quarantinedBytes(queue.spool, of: record.sha256) }
        promised.withLock { if $0.replaced.insert(record.sha256).inserted { $0.used -= bytes } }
    }

    /// The reserved bytes are in a file, so the file system does not count them as free any more.
    func written(_ reserved: Int) { promised.withLock { $0.unwritten -= reserved } }

    /// The push has failed, and its file is gone.
    func giveBack(_ reserved: Int) {
        promised.withLock { ($0.used, $0.unwritten) = ($0.used - reserved, $0.unwritten - reserved) }
    }

    /// Promises the bytes if there is room for them.
    ///
    /// - Returns: how many bytes must be freed; 0 if they are promised now.
    private func shortage(promising size: Int, _ limit: Int?, isWritten: Bool) throws -> Int {
        try promised.withLock { promised in
            var next = promised
            next.used += size
            next.unwritten += isWritten ? 0 : size
            let short = try shortage(with: next, limit, settings.room(at: queue.folder))
            if short == 0 { promised = next }
            return short
        }
    }

    /// How many bytes are missing, by both limits.
    private func shortage(with promised: Promised, _ limit: Int?, _ room: DiskRoom) -> Int {
        max(
            limit.map { promised.used - $0 } ?? 0,
            room.floor.map { $0 - (room.free - promised.unwritten) } ?? 0, 0)
    }

    /// Whether a file can be written before anything is deleted for it, and deleting will then be enough.
    private func mayFindRoom(for size: Int, _ limit: Int?) throws -> Bool {
        if let limit, size > limit { return false }
        let now = promised.withLock(\.self)
        let room = try settings.room(at: queue.folder)
        guard room.free - now.unwritten > size else { return false }
        let next = Promised(used: now.used + size, unwritten: now.unwritten + size)
        return try Eviction(queue: queue).canFree(bytes: shortage(with: next, limit, room))
    }

    /// Deletes uploaded bundles for one that is in a file already, but whose bytes nobody promised.
    ///
    /// - Returns: whether there is room now; false without `evict-uploaded`.
    func makeRoom(for size: Int) throws -> Bool {
        try settings.evictsUploaded
            && evict(for: size) {
                let used = try queue.store.read { try $0.usedBytes(queue.spool) }
                return try shortage(with: Promised(used: used + size), settings.limit, settings.room(at: queue.folder))
            }
    }

    /// - Parameter shortage: how many bytes must be freed.
    private func evict(for size: Int, _ shortage: () throws -> Int) throws -> Bool {
        try evicted.withLock { evicted in
            let wanted = try shortage()
            guard wanted > 0 else { return true }
            // A bundle that is larger than the limit never fits.
            if let limit = settings.limit, size > limit { return false }
            let gone = try Eviction(queue: queue).free(bytes: wanted)
            evicted.captures += gone.captures
            evicted.bytes += gone.bytes
            promised.withLock { $0.used -= gone.bytes }
            return try shortage() == 0
        }
    }

    /// What was deleted to make room since the last call, in words for the user; nil for nothing.
    func takeNote() -> String? {
        evicted.withLock { evicted in
            guard evicted.captures > 0 else { return nil }
            defer { evicted = (0, 0) }
            let bundles = evicted.captures == 1 ? "1 uploaded bundle was" : "\(evicted.captures) uploaded bundles were"
            return "\(bundles) deleted to make room (\(evicted.bytes) bytes)"
        }
    }

    /// Returns the error for this many bytes in the spool with the bundle; nil if the limit allows them.
    func overLimit(_ limit: Int?, of name: String, size: Int, total: Int, _ db: Database) throws -> QueueError? {
        guard let limit, total > limit else { return nil }
        guard size <= limit else {
            return QueueError(
                .quota, "has \(size) bytes, more than the limit of the whole spool, which is \(limit)", of: name,
                cause: .largerThanLimit)
        }
        let damaged = try db.quarantinedBytes(queue.spool)
        let which = damaged > 0 ? ", \(damaged) of them damaged ones in quarantine/" : ""
        let error = QueueError(
            .quota, "the spool would hold \(total) bytes\(which), the limit is \(limit)", of: name,
            values: damaged > 0 ? ["\(queue.folder.quarantine)"] : [])
        return try error.with(prunable(bytes: total - limit, db), settings)
    }

    /// Returns the error for this many more bytes on the disk; nil if `free-floor` allows them.
    func overFloor(_ name: String, size: Int, _ db: Database) throws -> QueueError? {
        let room = try settings.room(at: queue.folder)
        guard let floor = room.floor, room.free - size < floor else { return nil }
        let error = QueueError(
            .freeDisk, "\(room.free) bytes are free on the disk, but \(floor) must stay free (free-floor)", of: name)
        return try error.with(prunable(bytes: floor - room.free + size, db), settings)
    }

    private func prunable(bytes: Int, _ db: Database) throws -> Prunable? {
        try prunable.withLock { known in
            if let known { return known }
            let found = try Eviction(queue: queue).prunable(bytes: bytes, db)
            known = .some(found)
            return found
        }
    }
}

extension QueueError {
    /// The same error with what could be deleted, and whether a setting would let push delete it.
    fileprivate func with(_ found: Prunable?, _ settings: QueueSettings) -> QueueError {
        var error = self
        error.prunable = found
        if found?.isEnough ?? false, !settings.evictsUploaded { error.cause = .evictable }
        return error
    }
}
