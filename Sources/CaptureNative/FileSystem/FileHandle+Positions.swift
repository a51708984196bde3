import Glibc

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
        // inode that has changed once more waits for both. Only the owner may set a time; for others this is no harm.
        var raw = stat()
        guard unsafe fstat(descriptor, &raw) == 0 else { throw .system("fstat") }
        _ = unsafe [raw.st_atim, raw.st_mtim].withUnsafeBufferPointer { unsafe futimens(descriptor, $0.baseAddress) }
        try synchronize()
    }
}
