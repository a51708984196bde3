import CLinux
import Glibc

/// Starts POSIX threads.
package enum Thread {
    /// Starts a detached thread; false if the system cannot start one.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var identity = pthread_t()
        let task = unsafe Unmanaged.passRetained(Body(body))
        let status = unsafe pthread_create(
            &identity, nil,
            { argument in
                if let argument = unsafe argument {
                    unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                }
                return nil
            }, task.toOpaque())
        guard status == 0 else {
            unsafe task.release()
            return false
        }
        pthread_detach(identity)
        return true
    }

    /// Runs `body` on a new thread while the task waits.
    ///
    /// - Throws: The error of `body`; `NativeError` with `startCall` if the system cannot start a thread.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            guard !start({ continuation.resume(with: Result { try body() }) }) else { return }
            continuation.resume(
                throwing: NativeError(
                    origin: .system, call: startCall, code: 0, text: "the system's limit may be reached"))
        }
    }

    package static let startCall = "pthread_create"

    /// The number of processors that this process may use.
    package static var processors: Int { max(1, Int(capture_processors())) }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

/// Lets threads wait until a condition holds.
///
/// It is `@unchecked Sendable` because C pointers are never `Sendable`. The mutex and the condition variable do not
/// move between `init` and `deinit`, and POSIX allows several threads to use them.
@safe
package final class Signal: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        // Use the monotonic clock, because setting the wall clock would lengthen or shorten the waits.
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Calls `check` now and after each `raise` until it returns a value, and returns that value.
    package func wait<Value>(_ check: () -> Value?) -> Value {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let value = check() { return value }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }

    /// Does the same as `wait(_:)` but for a limited time; nil after a timeout.
    package func wait<Value>(milliseconds: Int, _ check: () -> Value?) -> Value? {
        var deadline = timespec(now: CLOCK_MONOTONIC)
        let nanoseconds = deadline.tv_nsec + milliseconds % 1000 * 1_000_000
        deadline.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
        deadline.tv_nsec = nanoseconds % 1_000_000_000
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let value = check() { return value }
            if unsafe pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return check() }
        }
    }

    /// Wakes the waiting threads; call it after the change.
    package func raise() {
        unsafe pthread_mutex_lock(mutex)
        unsafe pthread_cond_broadcast(condition)
        unsafe pthread_mutex_unlock(mutex)
    }
}
