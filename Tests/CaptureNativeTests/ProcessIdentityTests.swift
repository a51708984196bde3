import Foundation
import Glibc
import SystemPackage
import Testing

@testable import CaptureNative

/// Whether a process still runs that was seen before.
struct ProcessIdentityTests {
    @Test func aProcessThatEndedIsNotAliveBeforeItsParentAsks() throws {
        #expect(ProcessIdentity.current.isAlive)
        let child = try ProcessStart(program: "/bin/true", arguments: ["true"]).run()
        defer { _ = unsafe waitpid(child, nil, 0) }
        var fields: [Substring] = []
        while fields.first != "Z" {
            let stat = try String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8)
            let end = try #require(stat.lastIndex(of: ")"))
            fields = stat[end...].dropFirst(2).split(separator: " ")
        }
        let started = try #require(fields.dropFirst(19).first.flatMap { Int($0) })
        #expect(!ProcessIdentity(boot: BootClock.identity, number: Int(child), started: started).isAlive)
    }
}
