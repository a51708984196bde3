import CLinux
import Glibc
package import SystemPackage

/// A file through which one process wakes another (Spec/queue.md section 13). Who rings opens it for writing and closes
/// it again, which works on every file system; nothing is written.
package final class Doorbell: Sendable {
    private let path: FilePath
    /// Becomes readable when this process rings.
    private let own: FileHandle
    /// Becomes readable when another process rings; nil if the kernel refuses to watch the file.
    private let watch: FileHandle?

    /// Creates the file and listens. It replaces what a killed process left behind, which was a FIFO in version 1.0.
    package init(_ path: FilePath) throws(NativeError) {
        unsafe path.native { unsafe _ = unlink($0) }
        _ = try FileHandle.open(path, FileHandle.newFile, mode: 0o600)
        own = FileHandle(owning: try NativeError.retrying("eventfd") { eventfd(0, capture_event_flags) })
        watch = Self.watch(path)
        self.path = path
    }

    private static func watch(_ path: FilePath) -> FileHandle? {
        let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard descriptor >= 0 else { return nil }
        let handle = FileHandle(owning: descriptor)
        let number = unsafe path.native { unsafe inotify_add_watch(descriptor, $0, UInt32(IN_CLOSE_WRITE)) }
        return number < 0 ? nil : handle
    }

    /// Whether the rings of other processes arrive. Otherwise the owner has to look for changes itself.
    package var hearsOthers: Bool { watch != nil }

    /// What becomes readable when it rings.
    package var handles: [FileHandle] { [own] + (watch.map { [$0] } ?? []) }

    package func remove() { unsafe path.native { unsafe _ = unlink($0) } }

    /// Wakes the process that listens at `path`; does nothing if no process listens.
    package static func ring(_ path: FilePath) {
        // Without a reader, a FIFO that version 1.0 left behind would block here for ever.
        _ = try? FileHandle.open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW)
    }

    package func ring() {
        var count: UInt64 = 1
        unsafe _ = Glibc.write(own.descriptor, &count, 8)
    }

    /// Discards the rings that have arrived.
    package func drain() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        for handle in handles { while unsafe read(handle.descriptor, &buffer, buffer.count) > 0 {} }
    }
}

extension FileHandle {
    /// Waits until at least one of several files is readable.
    ///
    /// - Parameter milliseconds: The longest time to wait; a negative number waits without a limit.
    /// - Returns: For each file, whether it is readable; all false after a timeout or a signal.
    package static func wait(for handles: [FileHandle], milliseconds: Int) -> [Bool] {
        var requests = handles.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let count = unsafe poll(&requests, UInt(requests.count), Int32(clamping: milliseconds))
        return requests.map { count > 0 && $0.revents != 0 }
    }
}
