import Glibc
import SystemPackage

/// A clock for waiting and for measuring durations. It never goes back.
package enum MonotonicClock {
    package static func sleep(_ seconds: Double) {
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(seconds.truncatingRemainder(dividingBy: 1) * 1e9))
        // A signal can end the sleep early; callers check their condition again.
        unsafe _ = nanosleep(&time, nil)
    }

    /// Seconds since an arbitrary moment.
    package static var seconds: Double {
        let time = timespec(now: CLOCK_MONOTONIC)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

package enum WallClock {
    /// Unix time in milliseconds.
    package static var milliseconds: Int { timespec(now: CLOCK_REALTIME).milliseconds }
}

/// The time since this machine started, including the time that it slept, and an identifier of that start.
package enum BootClock {
    /// Milliseconds since the machine started.
    package static var milliseconds: Int { timespec(now: CLOCK_BOOTTIME).milliseconds }

    /// The kernel's boot ID, which changes at each start (random(4)); empty if the system does not provide one.
    package static let identity: String = {
        guard let file = try? FileHandle.reading("/proc/sys/kernel/random/boot_id") else { return "" }
        let bytes = (try? file.readAll(limit: 256)) ?? []
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }()
}

extension timespec {
    init(now clock: clockid_t) {
        self.init()
        unsafe _ = clock_gettime(clock, &self)
    }

    fileprivate var milliseconds: Int { tv_sec * 1000 + tv_nsec / 1_000_000 }
}
