import Glibc

/// An exclusive `flock` on a file that is made once and never replaced.
package enum FileLock {
    /// Waits until every other holder has let go, and holds the lock until `body` has returned.
    ///
    /// - Throws: what opening and locking throws, through `convert`; then what `body` throws.
    package static func withLock<Value, Failure: Error>(
        path: String, convert: (NativeError) -> Failure, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let handle: FileHandle
        do {
            handle = try lock(path)
        } catch {
            throw convert(error)
        }
        // Closing the file lets go of the lock, and without this Swift may close it after its last use, which is above.
        defer { withExtendedLifetime(handle) {} }
        return try body()
    }

    private static func lock(_ path: String) throws(NativeError) -> FileHandle {
        let handle = try FileHandle.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        while flock(handle.descriptor, LOCK_EX) != 0 {
            if errno != EINTR { throw .system("flock") }
        }
        return handle
    }
}
