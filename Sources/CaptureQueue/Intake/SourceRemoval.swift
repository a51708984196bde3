import CaptureBundle
import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import QueueTransports
import SystemPackage

/// Deletes the user's file for `push --move`, if the queue holds its bytes and the file was not changed since the read.
struct SourceRemoval {
    private let queue: UploadQueue
    /// Folders in which nothing is deleted: the queue's own folder, and folder destinations.
    private let kept: [FilePath]

    /// Whether others give names to files in the folder.
    private let isInbox: Bool

    init(_ queue: UploadQueue, isInbox: Bool) throws {
        self.queue = queue
        self.isInbox = isInbox
        let folders = try queue.store.read { try Destination.all($0) }.compactMap(\.folder)
        kept = ([queue.folder.path] + folders).map(\.resolved)
    }

    func remove(_ arrival: Arrival, _ pushed: Pushed) -> Pushed {
        guard let source = arrival.source, arrival.reference == nil else { return pushed }
        let folder = source.path.folder.resolved
        if let kept = kept.first(where: { folder.starts(with: $0) }) {
            return pushed.adding(note: "\(source.path) is not removed: it is in \(kept), which the queue uses")
        }
        guard pushed.sha256 == arrival.facts.sha256, holdsBytes(pushed, besides: source.status) else {
            return pushed.adding(note: "\(source.path) is not removed: the queue does not store exactly these bytes")
        }
        do throws(NativeError) {
            // Do not delete through a link: others may use its target, and the link is not the file that was read.
            let now = try FileStatus.ofName(source.path)
            guard now.kind != .link else {
                return pushed.adding(note: "\(source.path) is not removed: it is a symbolic link")
            }
            guard now == source.status, try remove(source.path, source.status) else {
                return pushed.adding(note: "\(source.path) is not removed: it changed while it was read")
            }
            return pushed
        } catch {
            return pushed.adding(note: "\(source.path) cannot be removed: \(error.text)")
        }
    }

    /// Removes a file. In the inbox it gets a hidden name first, and only then it is certain that it is the file that was
    /// read: its sender may have given its name to another one meanwhile. A kill can leave the hidden name behind.
    ///
    /// - Returns: false for another file, which gets its name back.
    private func remove(_ path: FilePath, _ read: FileStatus) throws(NativeError) -> Bool {
        guard let name = path.name, let bytes = try? RandomBytes.make(8),
            let aside = FilePath.Component(Array(".\(Hex.encode(bytes)).tmp".utf8))
        else { return false }
        let folder = try FolderHandle(path.folder)
        guard isInbox else { return try folder.removeFile(name) }
        try folder.move(name, to: folder, as: aside)
        let now = try folder.status(of: aside)
        guard now?.isSameFile(as: read) ?? false, now?.size == read.size, now?.modified == read.modified else {
            try folder.move(aside, to: folder, as: name)
            return false
        }
        _ = try folder.removeFile(aside)
        return true
    }

    /// Whether the queue holds the bytes. New bytes were hashed while they were stored. Older bytes are read again and
    /// synced, because a file that was lost, changed or replaced meanwhile must not cost the last copy.
    private func holdsBytes(_ pushed: Pushed, besides source: FileStatus) -> Bool {
        guard let held = try? queue.spool.bundleStatus(pushed.sha256), !held.isSameFile(as: source) else {
            return false
        }
        if pushed.outcome == .stored { return true }
        guard (try? queue.spool.matches(pushed.sha256)) ?? false else { return false }
        return (try? queue.spool.settle([pushed.sha256])) != nil
    }
}
