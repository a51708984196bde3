import Glibc
package import SystemPackage

/// The free space of a file system.
package enum DiskSpace {
    /// The number of bytes that this user can still write on the file system that holds `path`.
    package static func free(at path: FilePath) throws(NativeError) -> Int {
        var status = statvfs()
        while (unsafe path.native { unsafe statvfs($0, &status) }) != 0 {
            if errno != EINTR { throw .system("statvfs") }
        }
        let (bytes, overflows) = Int(clamping: status.f_bavail).multipliedReportingOverflow(by: Int(status.f_frsize))
        return overflows ? .max : bytes
    }
}
