import CaptureNative
import SystemPackage

/// A file that reserves space on the disk for `prune`. Deletions must be recorded before they are made, which needs a
/// little space even when the disk is full.
struct Reserve: Sendable {
    static let size = 262_144
    let folder: QueueFolder

    /// Makes the file if there is room. A queue works without it.
    func makeIfMissing() {
        guard (try? FileStatus.ofName(folder.reserve)) == nil else { return }
        guard let free = try? DiskSpace.free(at: folder.path), free > 2 * Self.size else { return }
        do throws(NativeError) {
            let file = try AtomicFile(path: folder.reserve, mode: 0o600)
            try file.handle.allocate(Self.size)
            try file.commit(.refuse)
        } catch {
            // Two processes made the file at the same time, or the disk has just become full.
        }
    }

    /// Deletes the file; returns false if there was none.
    func release() -> Bool { folder.remove("reserve") }
}
