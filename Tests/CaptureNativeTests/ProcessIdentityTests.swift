import Glibc
import SystemPackage
import Testing

@testable import CaptureNative

/// Whether a process still runs that was seen before.
struct ProcessIdentityTests {
    @Test func aProcessThatEndedIsNotAliveBeforeItsParentAsks() throws {
        #expect(ProcessIdentity.current.isAlive)
        let child = try ProcessStart(program: "/bin/true", arguments: ["true"]).run()
        defer { _ = waitpid(child, nil, 0) }
        var fields: [String] = []
        while fields.first != "Z" {
            let bytes = try FileHandle.reading(FilePath("/proc/\(child)/stat")).readAll(limit: 1 << 14)
            let end = try #require(bytes.lastIndex(of: UInt8(ascii: ")")))
            fields = String(decoding: bytes[(end + 1)...], as: UTF8.self).pieces(by: " ").map { String($0) }
        }
        let started = try #require(Int(fields[19]))
        #expect(!ProcessIdentity(boot: BootClock.identity, number: Int(child), started: started).isAlive)
    }
}
