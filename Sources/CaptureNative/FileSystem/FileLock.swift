import Glibc

/// An exclusive `flock` on a file that is made once and never replaced; held until the value goes away.
package final class FileLock: Sendable {
    private let handle: FileHandle

    /// Waits until every other holder has let go.
    package init(path: String) throws(NativeError) {
        handle = try FileHandle.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        while flock(handle.descriptor, LOCK_EX) != 0 {
            if errno != EINTR { throw .system("flock") }
        }
    }
}
