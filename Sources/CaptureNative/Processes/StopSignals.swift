import Glibc
import Synchronization

/// The signals by which a process is asked to end.
package enum StopSignals {
    private static let isWatching = Mutex(false)

    /// From now on they end nothing by themselves; `body` gets the number of each, on a thread of its own. Ones that the
    /// process was started without (`nohup`, `&` in a script) stay ignored. Called before other threads are started.
    package static func watch(_ body: @escaping @Sendable (Int32) -> Void) {
        let isFirst = isWatching.withLock { value in
            defer { value = true }
            return !value
        }
        guard isFirst else { return }
        var set = sigset_t()
        unsafe _ = sigemptyset(&set)
        for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) { unsafe _ = sigaddset(&set, number) }
        unsafe _ = pthread_sigmask(SIG_BLOCK, &set, nil)
        let watched = set
        _ = Thread.start {
            var set = watched
            while true {
                var number: Int32 = 0
                if unsafe sigwait(&set, &number) == 0 { body(number) }
            }
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// Ends the process as the signal would have.
    package static func end(by number: Int32) -> Never { exit(128 + number) }
}
