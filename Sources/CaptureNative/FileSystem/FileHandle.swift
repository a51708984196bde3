import CLinux
package import Glibc
package import SystemPackage

/// An open file, closed when the last owner lets go. Reads and writes go on after signals and short counts.
///
/// `Sendable` is true because the descriptor never changes and the kernel orders calls on it.
@safe
package final class FileHandle: Sendable {
    package let descriptor: Int32
    private let closes: Bool

    /// Takes over `descriptor`; it is closed with the handle unless `closes` is false.
    init(owning descriptor: Int32, closes: Bool = true) {
        self.descriptor = descriptor
        self.closes = closes
    }

    deinit {
        if closes { _ = Glibc.close(descriptor) }
    }

    package static let standardInput = FileHandle(owning: STDIN_FILENO, closes: false)
    package static let standardOutput = FileHandle(owning: STDOUT_FILENO, closes: false)
    package static let standardError = FileHandle(owning: STDERR_FILENO, closes: false)

    /// Opens a file for reading. A folder is refused with `EISDIR` here, not at the first read.
    package static func reading(_ path: FilePath, followsLinks: Bool = true) throws(NativeError) -> FileHandle {
        let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW)
        let handle = try open(path, flags)
        if try handle.status().kind == .folder { throw .system("open", EISDIR) }
        return handle
    }

    /// Opens a plain file for reading; a pipe, a device or a folder is refused, and never waited for.
    ///
    /// - Returns: nil when there is something else than a plain file.
    package static func readingPlainFile(_ path: FilePath) throws(NativeError) -> FileHandle? {
        // Without O_NONBLOCK, opening a pipe that nobody writes to would never come back. It means nothing for plain files.
        let handle: FileHandle
        do {
            handle = try open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        } catch {
            if error.isErrno(ENXIO, ENODEV) { return nil }
            throw error
        }
        return try handle.status().kind == .file ? handle : nil
    }

    package static func open(_ path: FilePath, _ flags: Int32, mode: mode_t = 0) throws(NativeError) -> FileHandle {
        while true {
            let descriptor = unsafe path.native { unsafe Glibc.open($0, flags | O_CLOEXEC, mode) }
            if descriptor >= 0 { return FileHandle(owning: descriptor) }
            if errno != EINTR { throw .system("open") }
        }
    }

    /// Flags for a file that must not be there yet.
    package static let newFile = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
    package static let newOrExistingFile = O_RDWR | O_CREAT | O_NOFOLLOW
    /// Flags for a plain file that is there; others are opened too, and not waited for.
    package static let existingFile = O_RDONLY | O_NOFOLLOW | O_NONBLOCK

    /// Locks the file for as long as it is open; false where somebody else holds it.
    package func lockIfFree() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    /// Whether a person is at the other end.
    package var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Whether bytes, or the end, come within so many milliseconds; false after a signal too.
    package func isReadable(within milliseconds: Int32) throws(NativeError) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let count = unsafe poll(&request, 1, milliseconds)
        guard count >= 0 || errno == EINTR else { throw .system("poll") }
        return count > 0
    }

    package func status() throws(NativeError) -> FileStatus {
        var raw = stat()
        guard unsafe fstat(descriptor, &raw) == 0 else { throw .system("fstat") }
        return FileStatus(raw)
    }

    /// Fills `buffer` from its start and returns how many bytes came; fewer than asked only at the end of the file.
    package func read(into buffer: inout [UInt8]) throws(NativeError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
                return unsafe Glibc.read(descriptor, rest.baseAddress, rest.count)
            }
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw .system("read")
            }
            filled += count
        }
        return filled
    }

    /// One `read`: what is there now, at most `buffer.count` bytes; 0 at the end of the file.
    package func readSome(into buffer: inout [UInt8]) throws(NativeError) -> Int {
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            if errno != EINTR { throw .system("read") }
        }
    }

    package func write(_ bytes: Span<UInt8>) throws(NativeError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { raw in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: raw[written...])
                return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw .system("write")
            }
            written += count
        }
    }

    package func write(_ bytes: [UInt8]) throws(NativeError) { try write(bytes.span) }

    package func seekToStart() throws(NativeError) { try seek(to: 0) }

    package func seek(to offset: Int) throws(NativeError) {
        guard lseek(descriptor, offset, SEEK_SET) == offset else { throw .system("lseek") }
    }

    /// Moves forward; false, and nothing is moved, where this is no plain file.
    package func skip(_ count: Int) -> Bool {
        guard (try? status().kind) == .file else { return false }
        return lseek(descriptor, count, SEEK_CUR) >= 0
    }

    /// Has the kernel begin to write what came last, so that `synchronize` has less to wait for. Not a promise.
    package func startWriting(from offset: Int, count: Int) {
        _ = sync_file_range(descriptor, Int64(offset), Int64(count), capture_start_writing)
    }

    /// Makes this empty file share the blocks of another; false where the file system cannot.
    package func clone(_ source: FileHandle) -> Bool { capture_clone(descriptor, source.descriptor) == 0 }

    /// Has the kernel forget what it holds of the file in memory, so that reading it asks the disk. Not a promise.
    package func dropCache() { _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) }

    /// Says that the file is read from start to end. Not a promise.
    package func expectReading() { _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL) }

    /// Gives the file real blocks for so many bytes.
    package func allocate(_ count: Int) throws(NativeError) {
        let code = posix_fallocate(descriptor, 0, count)
        guard code == 0 else { throw .system("posix_fallocate", code) }
    }

    /// Columns of the terminal; nil when it is none, or does not say.
    package var columns: Int? {
        let columns = Int(capture_columns(descriptor))
        return columns > 0 ? columns : nil
    }

    /// Its lines; nil likewise.
    package var rows: Int? {
        let rows = Int(capture_rows(descriptor))
        return rows > 0 ? rows : nil
    }

    /// Returns when the bytes are on the disk.
    package func synchronize() throws(NativeError) {
        while fsync(descriptor) != 0 {
            if errno != EINTR { throw .system("fsync") }
        }
    }

    /// Reads all bytes, refusing more than `limit` of them with `EFBIG`.
    package func readAll(limit: Int) throws(NativeError) -> [UInt8] {
        let size = try status().size
        if size > limit { throw .system("read", EFBIG) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        var chunk = [UInt8](repeating: 0, count: min(max(size + 1, 4096), 1 << 18))
        while true {
            let count = try readSome(into: &chunk)
            if count == 0 { return bytes }
            if bytes.count + count > limit { throw .system("read", EFBIG) }
            bytes += chunk[..<count]
        }
    }
}
