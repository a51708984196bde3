import Glibc
import SystemPackage

/// A process that can be told from a later one with the same number.
package struct ProcessIdentity: Hashable, Sendable {
    /// Of the start of the machine.
    package let boot: String
    package let number: Int
    /// When it began, in ticks since the machine started (proc(5), stat, field 22).
    package let started: Int

    package init(boot: String, number: Int, started: Int) {
        self.boot = boot
        self.number = number
        self.started = started
    }

    package static var current: ProcessIdentity {
        let number = Int(getpid())
        return ProcessIdentity(boot: BootClock.identity, number: number, started: startTime(of: number) ?? 0)
    }

    /// Whether it still runs; a process of an earlier start of the machine does not.
    package var isAlive: Bool { boot == BootClock.identity && Self.startTime(of: number) == started }

    private static func startTime(of number: Int) -> Int? {
        guard let file = try? FileHandle.reading(FilePath("/proc/\(number)/stat")),
            let bytes = try? file.readAll(limit: 1 << 14),
            // The name stands in brackets and may hold anything, brackets too.
            let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = String(decoding: bytes[(end + 1)...], as: UTF8.self).pieces(by: " ")
        // The field after the name is the third.
        return fields.count > 19 ? Int(fields[19]) : nil
    }
}
