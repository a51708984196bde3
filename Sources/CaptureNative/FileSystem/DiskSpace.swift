import Glibc
package import SystemPackage

/// How much room a file system has.
package enum DiskSpace {
    /// Bytes that this user can still write where `path` is.
    package static func free(at path: FilePath) throws(NativeError) -> Int {
        var status = statvfs()
        while (unsafe path.native { unsafe statvfs($0, &status) }) != 0 {
            if errno != EINTR { throw .system("statvfs") }
        }
        let (bytes, overflows) = Int(clamping: status.f_bavail).multipliedReportingOverflow(by: Int(status.f_frsize))
        return overflows ? .max : bytes
    }
}
