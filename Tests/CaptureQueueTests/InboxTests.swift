import CaptureBundle
import CaptureTestSupport
import Foundation
import QueueModel
import Synchronization
import SystemPackage
import Testing

@testable import CaptureQueue

/// Bundles that others put into the inbox (Spec/queue.md section 14).
struct InboxTests {
    private let room: QueueRoom
    private let files = FileManager.default

    init() throws {
        room = try QueueRoom()
        try files.createDirectory(atPath: room.room.path("in"), withIntermediateDirectories: true)
        try room.queue.set(.inbox, room.room.path("in").string)
    }

    private func place(_ name: String) -> String { room.room.path("in/\(name)").string }

    private func put(_ mark: String, as name: String) throws {
        try files.copyItem(atPath: room.room.bundle(mark).string, toPath: place(name))
    }

    /// Runs, and returns the texts of the warnings.
    private func run(_ mode: RunOptions.Mode = .once) throws -> [String] {
        var options = RunOptions()
        options.mode = mode
        let texts = Mutex<[String]>([])
        try room.queue.run(options) { event in
            if event.name == .warning { texts.withLock { $0.append(event.message ?? "") } }
        }
        return texts.withLock(\.self)
    }

    private func left() throws -> [String] { try files.contentsOfDirectory(atPath: place("")).sorted() }

    @Test(arguments: [RunOptions.Mode.once, .untilEmpty])
    func sendsWhatItTakes(_ mode: RunOptions.Mode) throws {
        try put("one", as: "one.bundle")
        try put("two", as: ".two.bundle.tmp")
        #expect(try run(mode).isEmpty && left() == [".two.bundle.tmp"])
        let records = try room.records()
        #expect(records.map(\.state) == [.completed])
        // The same bundle again changes nothing, and its file goes too.
        let held = try #require(records.first.flatMap { room.queue.captures.path(of: $0) })
        try files.copyItem(atPath: held.string, toPath: place("again.bundle"))
        #expect(try run(mode).isEmpty && left() == [".two.bundle.tmp"] && room.records().count == 1)
    }

    @Test func leavesWhatItCannotTakeAndNamesIt() throws {
        try put("one", as: "good.bundle")
        try Data("x".utf8).write(to: URL(fileURLWithPath: place("text.bundle")))
        let secret = try room.room.bundle("secret")
        try files.createSymbolicLink(atPath: place("link.bundle"), withDestinationPath: secret.string)
        try files.linkItem(atPath: secret.string, toPath: place("second.bundle"))
        let texts = try run()
        #expect(try left() == ["link.bundle", "second.bundle", "text.bundle"] && room.records().count == 1)
        for (text, word) in zip(texts.sorted(), ["regular file", "2 names", "text file"]) {
            #expect(text.contains(word) && text.contains("/in/"), "\(text)")
        }
        #expect(texts.count == 3)
        #expect(try run().count == 3)
    }

    @Test func leavesWhatALimitRefuses() throws {
        try room.queue.set(.limit, "1kB")
        try put("one", as: "one.bundle")
        let texts = try run()
        #expect(texts.count == 1 && texts.first?.contains("limit") == true, "\(texts)")
        #expect(try left() == ["one.bundle"] && room.records().isEmpty)
        try room.queue.set(.limit, "none")
        #expect(try run().isEmpty && left().isEmpty)
    }

    @Test func statusNamesWhatStays() throws {
        func concerns() throws -> [QueueConcern] {
            try room.queue.status().concerns().filter { $0.code == .inbox }
        }
        // The file has the time of the machine, at which the test may be late.
        func passSeconds(_ seconds: Double) {
            room.manual.jump(Int((Date().timeIntervalSince1970 + seconds) * 1000) - room.manual.now)
        }
        try put("one", as: "one.bundle")
        passSeconds(0)
        #expect(try concerns().isEmpty)
        passSeconds(601)
        #expect(try concerns() == [QueueConcern(.inbox, 1)])
        try files.removeItem(atPath: place(""))
        #expect(try concerns() == [QueueConcern(.inbox, 1)] && room.queue.status().inboxFault != nil)
        #expect(try run().count == 1)
        try room.queue.set(.inbox, nil)
        #expect(try concerns().isEmpty)
    }

    @Test func refusesAFolderThatGivesOthersTheQueue() throws {
        for name in ["queue", "queue/spool", ".", "nowhere"] {
            let error = #expect(throws: QueueError.self) {
                try room.queue.set(.inbox, room.room.path(name).string)
            }
            #expect(error?.code == .valueInvalid)
        }
    }
}
