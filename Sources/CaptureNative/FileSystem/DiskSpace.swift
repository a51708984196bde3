import Glibc
package import SystemPackage

/// The free space of a file system, and its size.
package struct DiskSpace: Hashable, Sendable {
    /// The number of bytes that this user can still write.
    package let free: Int
    package let size: Int

    package static func free(at path: FilePath) throws(NativeError) -> Int { try at(path).free }

    /// The space on the file system that holds `path`.
    package static func at(_ path: FilePath) throws(NativeError) -> DiskSpace {
        var status = statvfs()
        try NativeError.retrying("statvfs") { unsafe path.native { unsafe statvfs($0, &status) } }
        let block = Int(status.f_frsize)
        return DiskSpace(free: bytes(status.f_bavail, block), size: bytes(status.f_blocks, block))
    }

    private static func bytes(_ blocks: fsblkcnt_t, _ block: Int) -> Int {
        let (bytes, overflows) = Int(clamping: blocks).multipliedReportingOverflow(by: block)
        return overflows ? .max : bytes
    }
}
