import Glibc

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
