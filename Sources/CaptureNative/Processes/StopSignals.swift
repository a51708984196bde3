import Glibc
import Synchronization

/// The signals that ask a process to end.
package enum StopSignals {
    /// The signal of ^C.
    package static let interrupt = SIGINT

    private static let isWatching = Atomic(false)

    /// Blocks these signals and passes the number of each one to `body`, on a separate thread. Signals that the process
    /// ignored from its start (`nohup`, `&` in a script) stay ignored. Call it before any other thread is started.
    package static func watch(_ body: @escaping @Sendable (Int32) -> Void) {
        guard !isWatching.exchange(true, ordering: .relaxed) else { return }
        let watched = sigset_t([SIGINT, SIGTERM, SIGHUP].filter { !isIgnored($0) })
        var set = watched
        unsafe _ = pthread_sigmask(SIG_BLOCK, &set, nil)
        let isStarted = Thread.start {
            var set = watched
            while true {
                var number: Int32 = 0
                if unsafe sigwait(&set, &number) == 0 { body(number) }
            }
        }
        // Nobody would receive them, so let them end the process as usual.
        if !isStarted { unsafe _ = pthread_sigmask(SIG_UNBLOCK, &set, nil) }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// Exits with the code that a shell reports for a process that the signal ended.
    package static func end(by number: Int32) -> Never { exit(128 + number) }
}

extension sigset_t {
    init(_ numbers: [Int32]) {
        self.init()
        unsafe _ = sigemptyset(&self)
        for number in numbers { unsafe _ = sigaddset(&self, number) }
    }
}

/// SIGBUS: a store into a file that is mapped into memory found no room on the disk, or a load could not be read.
///
/// SQLite maps its shared memory. Other file systems refuse in time, when the file is made; on btrfs each page that is
/// written for the first time needs new space.
package enum BusError {
    /// Lets the signal call `body`, which may only call the functions of signal-safety(7), such as `end`.
    package static func handle(_ body: @escaping @convention(c) (Int32) -> Void) {
        _ = signal(SIGBUS, body)
    }

    /// Writes a message to the standard error and ends the process at once.
    package static func end(_ message: StaticString, _ code: Int32) -> Never {
        unsafe _ = write(STDERR_FILENO, message.utf8Start, message.utf8CodeUnitCount)
        _exit(code)
    }
}

/// Keeps SIGPIPE from ending the process when a library writes to a socket whose other side is gone.
enum PipeSignal {
    static func held<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        var (signals, before, now) = (sigset_t([SIGPIPE]), sigset_t(), timespec())
        unsafe _ = pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer {
            // The kernel sends SIGPIPE to the thread that wrote.
            unsafe _ = sigtimedwait(&signals, nil, &now)
            unsafe _ = pthread_sigmask(SIG_SETMASK, &before, nil)
        }
        return try body()
    }
}
