import Glibc

/// The three standard streams of a process.
package enum StandardStreams {
    /// Opens `/dev/null` for each standard stream that the caller had closed. Otherwise the next opened file would get
    /// that number, and messages would be written into it. The replacement can be neither read (0) nor written (1, 2),
    /// so using such a stream still fails.
    package static func holdPlaces() {
        for (number, flags) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(number, F_GETFD) < 0 && errno == EBADF {
            // `open` takes the lowest free number, and the numbers below this one are already taken.
            unsafe _ = Glibc.open("/dev/null", flags)
        }
    }
}

package enum ProcessLimits {
    /// Lets a write beyond the limit for the size of a file fail (EFBIG), where SIGXFSZ would end the process.
    package static func reportFileSize() { _ = signal(SIGXFSZ, SIG_IGN) }

    /// The largest size of a file that this process may write; nil without a limit.
    package static var fileSize: Int? {
        var limits = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits) == 0 else { return nil }
        return Int(exactly: limits.rlim_cur)
    }

    /// Raises the limit of open files as far as the system allows, at most to 65,536, and returns it.
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
