import CaptureNative
import SystemPackage

/// Two files that `prune` and other small changes delete when the disk is full. A deletion must be recorded before it is
/// made, which needs a little space and two files, the log and the shared memory of SQLite.
package struct Reserve: Sendable {
    package static let size = 262_144
    package let folder: QueueFolder

    package init(folder: QueueFolder) { self.folder = folder }

    /// Whether the files are there, so that as much as they occupy can be stored even if nothing else can.
    package var exists: Bool { FileStatus.exists(folder.reserve) }

    /// Makes the files if there is room. A queue works without them.
    package func createIfMissing() {
        guard let space = try? DiskSpace.at(folder.path), space.free > 2 * Self.size, space.freeInodes ?? .max > 8
        else { return }
        // `tune2fs -m` changes the number.
        if let keptForRoot, keptForRoot != space.freeForRoot { _ = folder.remove("reserve.2") }
        guard !FileStatus.exists(folder.reserve) || !FileStatus.exists(folder.secondReserve),
            folder.lackOfRoom(for: 2 * Self.size) == nil
        else { return }
        make(folder.reserve) { file throws(NativeError) in try file.allocate(Self.size) }
        make(folder.secondReserve) { file throws(NativeError) in
            // The first part that is free only for root is the last part that this user can have.
            guard try FileSystemKind.of(file) == .ext else { return }
            try file.write(Array("\(space.freeForRoot)".utf8))
        }
    }

    private func make(_ path: FilePath, _ fill: (FileHandle) throws(NativeError) -> Void) {
        guard !FileStatus.exists(path) else { return }
        do throws(NativeError) {
            let file = try AtomicFile(path: path, mode: 0o600)
            try fill(file.handle)
            try file.commit(.refuse)
        } catch {
            // Two processes made the file at the same time, or the disk has just become full.
        }
    }

    /// Deletes the files; returns false if there were none, and if that would not help.
    package func delete() -> Bool {
        guard takenByRoot < Self.size / 2 else { return false }
        let hadInode = folder.remove("reserve.2")
        return folder.remove("reserve") || hadInode
    }

    /// How many bytes root has taken of those that ext4 keeps for root. That many have to be deleted before this user
    /// can write one.
    package var takenByRoot: Int {
        guard let space = try? DiskSpace.at(folder.path), space.free == 0, let keptForRoot else { return 0 }
        return max(0, keptForRoot - space.freeForRoot)
    }

    /// How many bytes ext4 kept for root when the files were made; nil on other file systems.
    private var keptForRoot: Int? {
        let text = try? FileHandle.reading(folder.secondReserve, followsLinks: false).readAll(limit: 32)
        return text.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }
}
