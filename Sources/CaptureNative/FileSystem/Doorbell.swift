import Glibc
package import SystemPackage

/// A FIFO through which one process wakes another.
package final class Doorbell: Sendable {
    package let handle: FileHandle
    private let path: FilePath

    /// Creates the FIFO and listens. It replaces a FIFO that a killed process left behind.
    package init(_ path: FilePath) throws(NativeError) {
        unsafe path.native { unsafe _ = unlink($0) }
        guard (unsafe path.native { unsafe mkfifo($0, 0o600) }) == 0 else { throw .system("mkfifo") }
        // The FIFO is opened for writing too, so that reading never reports an end of file when the last ringing
        // process exits.
        handle = try FileHandle.open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW)
        self.path = path
    }

    package func remove() { unsafe path.native { unsafe _ = unlink($0) } }

    /// Wakes the process that listens at `path`; does nothing if no process listens.
    package static func ring(_ path: FilePath) {
        guard let handle = try? FileHandle.open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW),
            (try? handle.status())?.kind == .pipe
        else { return }
        handle.ringOnce()
    }

    package func ring() { handle.ringOnce() }

    /// Discards the bytes that have arrived.
    package func drain() {
        var buffer = [UInt8](repeating: 0, count: 512)
        while unsafe read(handle.descriptor, &buffer, buffer.count) > 0 {}
    }
}

extension FileHandle {
    fileprivate func ringOnce() {
        var byte: UInt8 = 0
        // If the pipe is full, the listener has been woken already.
        unsafe _ = Glibc.write(descriptor, &byte, 1)
    }

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
