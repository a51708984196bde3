import Glibc
import Synchronization
package import SystemPackage

/// An exclusive `flock` on a file that is created once and never replaced. The lock ends with the process that holds
/// it.
package final class FileLock: Sendable {
    /// A file that only this lock has opened: two locks on one open file description would not exclude each other.
    private let handle: FileHandle

    private init(_ handle: FileHandle) { self.handle = handle }

    /// Releases the lock. It is explicit, because Swift may destroy a variable right after its last use.
    package func unlock() { _ = flock(handle.descriptor, LOCK_UN) }

    /// Waits until all other holders have released the lock, and holds it while `body` runs.
    ///
    /// - Throws: `NativeError` of opening and locking, and the errors of `body`.
    package static func withLock<Value>(path: FilePath, _ body: () throws -> Value) throws -> Value {
        try withLock(open(path), body)
    }

    /// Does the same with a lock file in an open folder.
    package static func withLock<Value>(
        in folder: FolderHandle, _ name: FilePath.Component, _ body: () throws -> Value
    ) throws -> Value {
        try withLock(folder.open(name, FileHandle.newOrExistingFile, mode: 0o600), body)
    }

    private static func withLock<Value>(_ handle: FileHandle, _ body: () throws -> Value) throws -> Value {
        try wait(for: handle)
        let lock = FileLock(handle)
        // Closing the file releases the lock. Without this line, Swift could close it after its last use, which is
        // above.
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    /// Waits for the lock for a limited time. Processes get it in the order in which they arrived.
    ///
    /// - Parameter milliseconds: The longest time to wait; 0 does not wait.
    /// - Returns: nil if another process held the lock the whole time.
    package static func take(_ path: FilePath, milliseconds: Int) throws(NativeError) -> FileLock? {
        let handle = try open(path)
        while flock(handle.descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return milliseconds > 0 ? try queued(handle, milliseconds) : nil }
            if errno != EINTR { throw .system("flock") }
        }
        return FileLock(handle)
    }

    private static func open(_ path: FilePath) throws(NativeError) -> FileHandle {
        try .open(path, FileHandle.newOrExistingFile, mode: 0o600)
    }

    private static func wait(for handle: FileHandle) throws(NativeError) {
        try NativeError.retrying("flock") { flock(handle.descriptor, LOCK_EX) }
    }

    /// Waits on a thread that blocks in the kernel's queue, because polling would lose the place there. The thread
    /// releases the lock again if the caller has given up. If no thread can be started, it waits without a limit.
    private static func queued(_ handle: FileHandle, _ milliseconds: Int) throws(NativeError) -> FileLock? {
        let place = LinePlace()
        let isStarted = Thread.start {
            do throws(NativeError) {
                try wait(for: handle)
                if !place.settle(.success(())) { _ = flock(handle.descriptor, LOCK_UN) }
            } catch {
                _ = place.settle(.failure(error))
            }
        }
        guard isStarted else {
            try wait(for: handle)
            return FileLock(handle)
        }
        switch place.outcome(within: milliseconds) {
        case .success: return FileLock(handle)
        case .failure(let error): throw error
        case nil: return nil
        }
    }
}

/// The result of waiting, passed from the waiting thread to the caller.
private final class LinePlace: Sendable {
    private struct State {
        var outcome: Result<Void, NativeError>?
        var isAbandoned = false
    }

    private let state = Mutex(State())
    private let changed = Signal()

    /// Stores the result; false if the caller has given up.
    func settle(_ outcome: Result<Void, NativeError>) -> Bool {
        let isWanted = state.withLock { state in
            if !state.isAbandoned { state.outcome = outcome }
            return !state.isAbandoned
        }
        changed.raise()
        return isWanted
    }

    func outcome(within milliseconds: Int) -> Result<Void, NativeError>? {
        changed.wait(milliseconds: milliseconds) { state.withLock(\.outcome) }
            ?? state.withLock { state in
                state.isAbandoned = state.outcome == nil
                return state.outcome
            }
    }
}
