import CaptureBundle
import CaptureQueue
import CaptureTestSupport
import Foundation
import QueueModel
import Synchronization
import SystemPackage
import Testing

/// What push stores, which captures it recognises, and what it returns.
struct PushTests {
    private let queues: QueueRoom
    private var room: BundleRoom { queues.room }
    private var queue: UploadQueue { queues.queue }

    init() throws { queues = try QueueRoom() }

    @Test func sharesATransactionAmongManyAndKeepsTheirOrder() throws {
        let paths = try (0..<9).map { try room.bundle("m\($0)") }
        var ids: [String] = []
        let names: [FilePath] = paths + [paths[3], room.path("none")]
        var left = names.makeIterator()
        let feed = Feed(names.map { .success(.file($0)) })
        var failures = 0
        try queue.push(next: { feed.next() }) { file, result in
            #expect(file == left.next()?.string)
            if let pushed = try? result.get() { ids.append(pushed.id) } else { failures += 1 }
        }
        #expect(ids.count == 10 && Set(ids).count == 9 && ids[9] == ids[3] && failures == 1)
        #expect(try queues.records().map(\.id) == Array(ids.prefix(9).reversed()))
    }

    @Test func keepsTheIdsOfVariantsApart() throws {
        // A full and a redacted copy of one capture have the same id, and neither replaces the other.
        let path = try room.bundle("a")
        let redacted = try Redaction.withoutLocation(path.bytes)
        try room.folder.write(redacted, to: "redacted.bundle")
        let first = try queue.push(room.path("redacted.bundle"))
        let second = try queue.push(path)
        #expect(second.id == first.id + ".2" && second.outcome == .stored)
        #expect(try queue.captures.find(first.id).sha256 == first.sha256)
        #expect(throws: QueueError.self) { try queue.captures.find(String(first.id.prefix(8))) }
        #expect(try queue.captures.find(String(second.sha256.description.prefix(12))).id == second.id)
    }

    @Test func movesOnlyTheFileThatWasRead() throws {
        let options = PushOptions.with { $0.moves = true }
        let path = try room.bundle("a")
        try queue.push(path, options)
        #expect(!FileManager.default.fileExists(atPath: path))
        // The same capture with another signature: nothing else holds these bytes.
        let twin = try room.bundle("a", name: "twin")
        let pushed = try queue.push(twin, options)
        #expect(pushed.outcome == .heldAlready && FileManager.default.fileExists(atPath: twin))
        #expect(!pushed.notes.isEmpty)
    }

    @Test func ofTwoReferencesTheNewerCounts() throws {
        // The older file may have changed. A push that said "held already" would let its user delete the newer one.
        let options = PushOptions.with { $0.isByReference = true }
        let path = try room.bundle("a")
        try room.folder.write(path.bytes, to: "second")
        let id = try queue.push(path, options).id
        func push(_ name: String) throws -> Pushed {
            let pushed = try queue.push(room.path(name), options)
            let record = try queue.captures.find(id)
            #expect(record.reference == room.path(name) && record.sha256 == pushed.sha256)
            #expect(pushed.notes.contains { $0.words.contains("do not delete \(room.path(name) as String)") })
            return pushed
        }
        #expect(try push("second").outcome == .stored)
        #expect(try push("second").outcome == .heldAlready)
        try room.folder.write(room.bundle("a", name: "twin").bytes, to: "second")
        #expect(try push("second").outcome == .stored)
    }
}

/// A list of names from which several threads take the next one.
final class Feed: Sendable {
    private let rest: Mutex<[Result<BundleSource.Place, BundleError>]>

    init(_ all: [Result<BundleSource.Place, BundleError>]) { rest = Mutex(all.reversed()) }

    func next() -> Result<BundleSource.Place, BundleError>? { rest.withLock { $0.popLast() } }
}

/// Removes location.json from a bundle, as a user who withholds the position would.
enum Redaction {
    static func withoutLocation(_ bundle: [UInt8]) throws -> [UInt8] {
        let name = Array("location.json".utf8)
        let start = try #require(
            stride(from: 0, to: bundle.count, by: 512).first { Array(bundle[$0..<($0 + name.count)]) == name })
        // The entry has a header and 512 bytes of content.
        return Array(bundle[..<start] + bundle[(start + 1024)...])
    }
}
