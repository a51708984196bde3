import Glibc

/// Reads and writes at a given position of the file. They do not use or move the position of `read` and `write`.
extension FileHandle {
    /// Reads `count` bytes from `offset` on, or fewer if the file ends.
    package func read(_ count: Int, at offset: Int) throws(NativeError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = unsafe buffer.withUnsafeMutableBytes { bytes in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
                return unsafe pread(descriptor, rest.baseAddress, rest.count, offset + filled)
            }
            if got == 0 { break }
            if got < 0 {
                if errno == EINTR { continue }
                throw .system("pread")
            }
            filled += got
        }
        return Array(buffer[..<filled])
    }

    package func write(_ bytes: [UInt8], at offset: Int) throws(NativeError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { raw in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: raw[written...])
                return unsafe pwrite(descriptor, rest.baseAddress, rest.count, offset + written)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw .system("pwrite")
            }
            written += count
        }
    }

    /// Cuts the file to a length.
    package func shorten(to count: Int) throws(NativeError) {
        while ftruncate(descriptor, count) != 0 {
            if errno != EINTR { throw .system("ftruncate") }
        }
    }

    /// Waits until the bytes, and what is needed to read them again, are on the disk.
    package func synchronizeData() throws(NativeError) {
        while fdatasync(descriptor) != 0 {
            if errno != EINTR { throw .system("fdatasync") }
        }
    }
}
