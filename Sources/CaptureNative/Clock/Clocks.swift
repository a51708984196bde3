import Glibc

/// Clocks, for display and for stamps; nothing is decided by them.
package enum MonotonicClock {
    /// Seconds since some moment; never goes back.
    package static var seconds: Double {
        var time = timespec()
        unsafe _ = clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

package enum WallClock {
    /// Unix time in milliseconds.
    package static var milliseconds: Int {
        var time = timespec()
        unsafe _ = clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}
