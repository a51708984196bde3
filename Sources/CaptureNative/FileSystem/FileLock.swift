import Glibc
import Synchronization
package import SystemPackage

/// An exclusive `flock` on a file that is made once and never replaced. It goes with the process that holds it.
package final class FileLock: Sendable {
    /// A file opened by this lock alone: two locks on one opening would not exclude each other.
    private let handle: FileHandle

    private init(_ handle: FileHandle) { self.handle = handle }

    /// Lets go of the lock. Not left to the last owner, since Swift may let go of a variable after its last use.
    package func release() { _ = flock(handle.descriptor, LOCK_UN) }

    /// Waits until every other holder has let go, and holds the lock until `body` has returned.
    ///
    /// - Throws: what opening and locking throws, through `convert`; then what `body` throws.
    package static func withLock<Value, Failure: Error>(
        path: FilePath, convert: (NativeError) -> Failure, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let lock: FileLock
        do throws(NativeError) {
            let handle = try open(path)
            try wait(for: handle)
            lock = FileLock(handle)
        } catch {
            throw convert(error)
        }
        // Closing the file lets go of the lock, and without this Swift may close it after its last use, which is above.
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    /// Waits for the lock for a limited time, in the order in which processes came.
    ///
    /// - Parameter milliseconds: 0 does not wait at all.
    /// - Returns: nil when somebody else held it all that time.
    package static func take(_ path: FilePath, milliseconds: Int) throws(NativeError) -> FileLock? {
        let handle = try open(path)
        while flock(handle.descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return milliseconds > 0 ? try queued(handle, milliseconds) : nil }
            if errno != EINTR { throw .system("flock") }
        }
        return FileLock(handle)
    }

    private static func open(_ path: FilePath) throws(NativeError) -> FileHandle {
        try FileHandle.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    }

    private static func wait(for handle: FileHandle) throws(NativeError) {
        while flock(handle.descriptor, LOCK_EX) != 0 {
            if errno != EINTR { throw .system("flock") }
        }
    }

    /// A thread stands in the kernel's line, which polling would not; it gives the lock back when nobody waits any more.
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

/// The result of waiting, handed from the thread that waits to the one that asked.
private final class LinePlace: Sendable {
    private struct State {
        var outcome: Result<Void, NativeError>?
        var isAbandoned = false
    }

    private let state = Mutex(State())
    private let changed = Signal()

    /// False when nobody wants to know any more.
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
