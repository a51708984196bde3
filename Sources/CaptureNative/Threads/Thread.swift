import CLinux
import Glibc

/// POSIX threads.
package enum Thread {
    /// Starts a thread that nobody waits for; false when the system has none to give.
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

    /// How many processors this process may use.
    package static var processors: Int { max(1, Int(capture_processors())) }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

/// Lets threads wait until something has changed.
///
/// `@unchecked Sendable`, since C pointers are never known to be: the mutex and the condition stay where they are from init to
/// deinit, and POSIX has them used from several threads.
@safe
package final class Signal: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        // A wall clock that is set would make waits longer or shorter.
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

    /// Asks `check` until it gives something: now, and after each `raise`.
    package func wait<Value>(_ check: () -> Value?) -> Value {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let value = check() { return value }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }

    /// The same, for at most so many milliseconds; nil when they are over.
    package func wait<Value>(milliseconds: Int, _ check: () -> Value?) -> Value? {
        var deadline = timespec()
        unsafe _ = clock_gettime(CLOCK_MONOTONIC, &deadline)
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

    /// Says that something has changed; to be called after the change.
    package func raise() {
        unsafe pthread_mutex_lock(mutex)
        unsafe pthread_cond_broadcast(condition)
        unsafe pthread_mutex_unlock(mutex)
    }
}
