import CLinux
package import Glibc
package import SystemPackage

/// An open file, closed when its last owner releases it. Reads and writes continue after signals and short counts.
///
/// It can be `Sendable` because the descriptor never changes and the kernel orders calls on it.
@safe
package final class FileHandle: Sendable {
    package let descriptor: Int32
    private let closes: Bool

    /// Takes ownership of `descriptor` and closes it at the end, unless `closes` is false.
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

    /// Opens a file for reading. A folder is refused with `EISDIR` here and not only at the first read.
    package static func reading(_ path: FilePath, followsLinks: Bool = true) throws(NativeError) -> FileHandle {
        let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW)
        let handle = try open(path, flags)
        if try handle.status().kind == .folder { throw .system("open", EISDIR) }
        return handle
    }

    /// Opens a regular file for reading. Pipes, devices and folders are not opened.
    ///
    /// - Returns: nil if the path is not a regular file; with `followsLinks` false, also if it is a symbolic link.
    package static func readingPlainFile(
        _ path: FilePath, followsLinks: Bool = true
    ) throws(NativeError) -> FileHandle? {
        // If we opened a named pipe and closed it again, its writer would write to nobody and end.
        let status = try? followsLinks ? FileStatus.of(path) : .ofName(path)
        if let status, status.kind != .file { return nil }
        // Another file may have this name by now. Without O_NONBLOCK, opening a pipe that has no writer would block forever.
        // The flag has no effect on regular files.
        let handle: FileHandle
        do {
            handle = try open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
        } catch {
            if error.isErrno(ENXIO, ENODEV) || !followsLinks && error.isErrno(ELOOP) { return nil }
            throw error
        }
        return try handle.status().kind == .file ? handle : nil
    }

    /// Checks that this process can open so many more files. It opens event counters for a moment: they need no file that the user
    /// may read.
    ///
    /// - Throws: EMFILE or ENFILE if there are too few descriptors.
    package static func requireDescriptors(_ count: Int) throws(NativeError) {
        var held: [FileHandle] = []
        for _ in 0..<count {
            held.append(FileHandle(owning: try NativeError.retrying("eventfd") { eventfd(0, capture_event_flags) }))
        }
    }

    package static func open(_ path: FilePath, _ flags: Int32, mode: mode_t = 0) throws(NativeError) -> FileHandle {
        let descriptor = try NativeError.retrying("open") {
            unsafe path.native { unsafe Glibc.open($0, flags | O_CLOEXEC, mode) }
        }
        return FileHandle(owning: descriptor)
    }

    /// Flags for creating a file; it must not exist yet.
    package static let newFile = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
    package static let newOrExistingFile = O_RDWR | O_CREAT | O_NOFOLLOW
    /// A flag for opening: a pipe does not wait for its other end. It has no effect on regular files.
    package static let withoutBlocking = O_NONBLOCK
    /// Flags for opening an existing regular file. Other kinds of files are opened too, but without blocking.
    package static let existingFileToChange = O_RDWR | O_NOFOLLOW | O_NONBLOCK
    package static let existingFile = O_RDONLY | O_NOFOLLOW | O_NONBLOCK

    /// Tries to lock the file for as long as it is open; false if another process holds the lock.
    package func lockIfFree() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    /// Whether the file is a terminal.
    package var isTerminal: Bool { isatty(descriptor) == 1 }

    package func status() throws(NativeError) -> FileStatus {
        try FileStatus.read("fstat") { unsafe fstat(descriptor, &$0) }
    }

    /// Fills `buffer` from its start and returns the number of bytes read, which is short only at the end of the file.
    package func read(into buffer: inout [UInt8]) throws(NativeError) -> Int {
        try unsafe fill(&buffer, "read") { bytes, _ in unsafe Glibc.read(descriptor, bytes.baseAddress, bytes.count) }
    }

    /// Calls `read` once and returns the bytes that are available, at most `buffer.count`; 0 at the end of the file.
    package func readSome(into buffer: inout [UInt8]) throws(NativeError) -> Int {
        try NativeError.retrying("read") {
            unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        }
    }

    package func write(_ bytes: Span<UInt8>) throws(NativeError) {
        try unsafe writeAll(bytes, "write") { rest, _ in unsafe Glibc.write(descriptor, rest.baseAddress, rest.count) }
    }

    /// Calls `read` with the rest of the buffer and the number of bytes before it, until the buffer is full or the file
    /// ends.
    func fill(
        _ buffer: inout [UInt8], _ name: String, by read: (UnsafeMutableRawBufferPointer, Int) -> Int
    ) throws(NativeError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = try NativeError.retrying(name) {
                unsafe buffer.withUnsafeMutableBytes {
                    unsafe read(UnsafeMutableRawBufferPointer(rebasing: $0[filled...]), filled)
                }
            }
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// Calls `write` with the rest of the bytes and the number of bytes before it, until all are written.
    func writeAll(
        _ bytes: Span<UInt8>, _ name: String, by write: (UnsafeRawBufferPointer, Int) -> Int
    ) throws(NativeError) {
        var written = 0
        while written < bytes.count {
            written += try NativeError.retrying(name) {
                unsafe bytes.withUnsafeBytes {
                    unsafe write(UnsafeRawBufferPointer(rebasing: $0[written...]), written)
                }
            }
        }
    }

    package func write(_ bytes: [UInt8]) throws(NativeError) { try write(bytes.span) }

    package func seekToStart() throws(NativeError) { try seek(to: 0) }

    package func seek(to offset: Int) throws(NativeError) {
        guard lseek(descriptor, offset, SEEK_SET) == offset else { throw .system("lseek") }
    }

    /// Moves the position forward; false, without moving, if this is not a regular file.
    package func skip(_ count: Int) -> Bool {
        guard (try? status().kind) == .file else { return false }
        return lseek(descriptor, count, SEEK_CUR) >= 0
    }

    /// Asks the kernel to start writing these bytes to the disk, so that `synchronize` waits for less. It guarantees
    /// nothing.
    package func startWriting(from offset: Int, count: Int) {
        _ = sync_file_range(descriptor, Int64(offset), Int64(count), capture_start_writing)
    }

    /// Makes this empty file share the blocks of another; false if the file system does not support that.
    package func clone(_ source: FileHandle) -> Bool { capture_clone(descriptor, source.descriptor) == 0 }

    /// Asks the kernel to drop the file from its cache, so that reads come from the disk. It guarantees nothing.
    package func dropCache() { _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) }

    /// Tells the kernel that the file will be read from start to end. It guarantees nothing.
    package func expectReading() { _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL) }

    /// Reserves `count` bytes of real disk blocks for the file.
    package func allocate(_ count: Int) throws(NativeError) {
        let code = posix_fallocate(descriptor, 0, count)
        guard code == 0 else { throw .system("posix_fallocate", code) }
    }

    /// The number of columns of the terminal; nil if the file is not a terminal or the terminal does not report a size.
    package var columns: Int? { side(1) }

    /// The number of lines of the terminal; nil in the same cases as `columns`.
    package var rows: Int? { side(0) }

    private func side(_ side: Int32) -> Int? {
        let count = Int(capture_window(descriptor, side))
        return count > 0 ? count : nil
    }

    /// Refuses a file that is not open for writing, with the error that a write would have.
    package func requireWritable() throws(NativeError) {
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0 else { throw .system("fcntl") }
        guard flags & O_ACCMODE != O_RDONLY else { throw .system("write", EBADF) }
    }

    /// Waits until the bytes are on the disk; on F2FS only once the folder is synced, too.
    package func synchronize() throws(NativeError) {
        try NativeError.retrying("fsync") { fsync(descriptor) }
    }

    /// Reads all bytes; throws `EFBIG` if there are more than `limit`.
    package func readAll(limit: Int) throws(NativeError) -> [UInt8] {
        let size = try status().size
        if size > limit { throw .system("read", EFBIG) }
        var bytes = [UInt8](repeating: 0, count: min(max(size, 4095), limit) + 1)
        var count = try read(into: &bytes)
        // A pipe, a file of /proc and a file that grows have more bytes than their status says.
        while count == bytes.count {
            if count > limit { throw .system("read", EFBIG) }
            var more = [UInt8](repeating: 0, count: min(1 << 16, limit + 1 - count))
            count += try read(into: &more)
            bytes += more
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}

/// Reads and writes at a given position of the file. They do not use or move the position of `read` and `write`.
extension FileHandle {
    /// Reads `count` bytes from `offset` on, or fewer if the file ends.
    package func read(_ count: Int, at offset: Int) throws(NativeError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let filled = try unsafe fill(&buffer, "pread") {
            unsafe pread(descriptor, $0.baseAddress, $0.count, offset + $1)
        }
        return Array(buffer[..<filled])
    }

    package func write(_ bytes: [UInt8], at offset: Int) throws(NativeError) {
        try unsafe writeAll(bytes.span, "pwrite") { unsafe pwrite(descriptor, $0.baseAddress, $0.count, offset + $1) }
    }

    /// Cuts the file to a length.
    package func shorten(to count: Int) throws(NativeError) {
        try NativeError.retrying("ftruncate") { ftruncate(descriptor, count) }
    }

    /// Waits until the bytes, and what is needed to read them again, are on the disk.
    package func synchronizeData() throws(NativeError) {
        try NativeError.retrying("fdatasync") { fdatasync(descriptor) }
        guard (try? FileSystemKind.of(self)) == .f2fs else { return }
        // F2FS does not wait for the inode in its first sync after a checkpoint (Spec/queue.md section 7.2). A sync of an
        // inode that has changed once more waits for both. Only the owner may set a time; for other users the call fails without harm.
        var raw = stat()
        guard unsafe fstat(descriptor, &raw) == 0 else { throw .system("fstat") }
        _ = unsafe [raw.st_atim, raw.st_mtim].withUnsafeBufferPointer { unsafe futimens(descriptor, $0.baseAddress) }
        try synchronize()
    }
}
