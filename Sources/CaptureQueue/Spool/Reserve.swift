import CaptureNative
import QueueModel
import SystemPackage

/// Room on the disk that nothing uses, so that `prune` can write when the disk is full: deleting has to be recorded before it
/// is done, and that needs a little space.
struct Reserve: Sendable {
    static let size = 262_144
    let folder: QueueFolder

    /// Makes it, if there is room. A queue works without it.
    func makeIfMissing() {
        guard (try? FileStatus.ofName(folder.reserve)) == nil else { return }
        guard let free = try? DiskSpace.free(at: folder.path), free > 2 * Self.size else { return }
        do throws(NativeError) {
            let file = try AtomicFile(path: folder.reserve, mode: 0o600)
            try file.handle.allocate(Self.size)
            try file.commit(.refuse)
        } catch {
            // Two processes made it at once, or the disk filled up just now.
        }
    }

    /// Gives the room back; false where there was none.
    func release() -> Bool {
        guard let home = try? FolderHandle(folder.path) else { return false }
        return (try? home.removeFile("reserve")) ?? false
    }
}
