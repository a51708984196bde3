import Glibc

/// The three streams that every program has.
package enum StandardStreams {
    /// Takes the places of streams that the caller closed: the next file would get their numbers, and messages would be
    /// written into it. What stands in for them can neither be read (0) nor written (1, 2), so using them still fails.
    package static func holdPlaces() {
        for (number, flags) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(number, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is taken, and those below are taken already.
            unsafe _ = Glibc.open("/dev/null", flags)
        }
    }
}

/// What the process may use.
package enum ProcessLimits {
    /// Raises the number of files that can be open to what the system allows, and returns it.
    package static func raiseOpenFiles() -> Int {
        var limits = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return 256 }
        if limits.rlim_cur < limits.rlim_max {
            var raised = limits
            raised.rlim_cur = min(limits.rlim_max, 1 << 16)
            if unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limits = raised }
        }
        return Int(clamping: limits.rlim_cur)
    }
}
