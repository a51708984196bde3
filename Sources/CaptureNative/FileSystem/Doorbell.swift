import Glibc
package import SystemPackage

/// A FIFO by which one process wakes another.
package final class Doorbell: Sendable {
    package let handle: FileHandle
    private let path: FilePath

    /// Makes the FIFO, in place of one that a killed process left, and listens.
    package init(_ path: FilePath) throws(NativeError) {
        unsafe path.native { unsafe _ = unlink($0) }
        guard (unsafe path.native { unsafe mkfifo($0, 0o600) }) == 0 else { throw .system("mkfifo") }
        // For writing too, so that it has no end when those who ring go away.
        handle = try FileHandle.open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW)
        self.path = path
    }

    package func remove() { unsafe path.native { unsafe _ = unlink($0) } }

    /// Wakes whoever listens at `path`, and does nothing where nobody does.
    package static func ring(_ path: FilePath) {
        guard let handle = try? FileHandle.open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW),
            (try? handle.status())?.kind == .pipe
        else { return }
        handle.ringOnce()
    }

    package func ring() { handle.ringOnce() }

    /// Throws away what came.
    package func drain() {
        var buffer = [UInt8](repeating: 0, count: 512)
        while unsafe read(handle.descriptor, &buffer, buffer.count) > 0 {}
    }
}

extension FileHandle {
    fileprivate func ringOnce() {
        var byte: UInt8 = 0
        // A full pipe has rung already.
        unsafe _ = Glibc.write(descriptor, &byte, 1)
    }

    /// Waits until one of several files has something to read.
    ///
    /// - Parameter milliseconds: at most so long; below 0 without end.
    /// - Returns: for each, whether it has; all false when the time is over, or after a signal.
    package static func wait(for handles: [FileHandle], milliseconds: Int) -> [Bool] {
        var requests = handles.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let count = unsafe poll(&requests, UInt(requests.count), Int32(clamping: milliseconds))
        return requests.map { count > 0 && $0.revents != 0 }
    }
}
