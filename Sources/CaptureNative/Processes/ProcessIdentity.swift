import Glibc
import SystemPackage

/// A process, identified so that a later process with the same number is not mistaken for it.
package struct ProcessIdentity: Hashable, Sendable {
    /// The boot ID of the machine's start during which the process ran.
    package let boot: String
    package let number: Int
    /// When the process started, in ticks since the machine started (proc(5), stat, field 22).
    package let started: Int

    package init(boot: String, number: Int, started: Int) {
        self.boot = boot
        self.number = number
        self.started = started
    }

    package static let current = {
        let number = Int(getpid())
        return ProcessIdentity(boot: BootClock.identity, number: number, started: startTime(of: number) ?? 0)
    }()

    /// Whether the process still runs; false for a process from before the last start of the machine, and for one that
    /// has ended and whose parent has not asked for its exit status yet.
    package var isAlive: Bool { boot == BootClock.identity && Self.startTime(of: number) == started }

    private static func startTime(of number: Int) -> Int? {
        guard let file = try? FileHandle.reading(FilePath("/proc/\(number)/stat")),
            let bytes = try? file.readAll(limit: 1 << 14),
            // The name is in parentheses and may contain any bytes, including parentheses.
            let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = String(decoding: bytes[(end + 1)...], as: UTF8.self).pieces(by: " ")
        // The first field after the name is field 3, the state; Z and X have ended.
        return fields.count > 19 && fields[0] != "Z" && fields[0] != "X" ? Int(fields[19]) : nil
    }
}
