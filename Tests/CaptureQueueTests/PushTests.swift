import CaptureBundle
import CaptureQueue
import CaptureTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

/// What push stores, which captures it recognises, and what it returns.
struct PushTests {
    private let room: BundleRoom
    private let queue: UploadQueue

    init() throws {
        room = try BundleRoom()
        queue = try UploadQueue(at: QueueFolder(path: room.path("queue")), createIfMissing: true)
    }

    private func records() throws -> [CaptureRecord] {
        var all: [CaptureRecord] = []
        try queue.list { record in
            all.append(record)
            return true
        }
        return all
    }

    @Test func givesBackTheVeryBytes() throws {
        let path = try room.bundle("a")
        let pushed = try queue.push(path)
        #expect(pushed.outcome == .stored)
        try queue.get(queue.capture(pushed.id), to: .file(room.path("back")))
        #expect(try room.folder.bytes("back") == URL(filePath: path).bytes)
    }

    @Test func takesTheSameManifestForTheSameCaptureHoweverItIsSigned() throws {
        let pushed = try queue.push(room.bundle("a"))
        let twin = try queue.push(room.bundle("a", name: "twin"))
        #expect(twin.id == pushed.id && twin.outcome == .heldAlready)
        #expect(twin.sha256 == pushed.sha256)
        #expect(try records().count == 1)
    }

    /// Only a cryptographic hash decides whether two photos are the same, not how similar they look.
    @Test func storesTwoPhotosThatDifferInOneByte() throws {
        let one = try queue.push(room.bundle("a"))
        let other = try queue.push(room.bundle("b"))
        #expect(one.id != other.id && other.outcome == .stored)
    }

    @Test func refusesABundleWithOneChangedByte() throws {
        let path = try room.bundle("a")
        var bytes = try URL(filePath: path).bytes
        bytes[bytes.count / 2] ^= 1
        try room.folder.write(bytes, to: "bad.bundle")
        #expect(throws: BundleError.self) { try queue.push(room.path("bad.bundle")) }
        #expect(try records().isEmpty)
        #expect(try URL(filePath: queue.folder.spool).children.isEmpty)
    }

    @Test func healsWhatIsGoneByAPushOfTheSame() throws {
        let path = try room.bundle("a")
        let pushed = try queue.push(path)
        try FileManager.default.removeItem(atPath: queue.folder.bundlePath(pushed.sha256))
        var kinds: [CheckFinding.Kind] = []
        _ = try queue.check { kinds.append($0.kind) }
        #expect(kinds == [.missing])
        #expect(try queue.capture(pushed.id).state == .quarantined)
        #expect(try queue.push(path).outcome == .restored)
        let record = try queue.capture(pushed.id)
        #expect(record.state == .pending && record.holding == .spool)
        #expect(try queue.check { Issue.record("\($0)") }.open.isEmpty)
    }

    @Test func sharesATransactionAmongManyAndKeepsTheirOrder() throws {
        let paths = try (0..<20).map { try room.bundle("m\($0)") }
        var ids: [String] = []
        let names: [FilePath] = paths + [paths[3], room.path("none")]
        var left = names.makeIterator()
        let next: [Result<BundleSource.Place, BundleError>] = names.map { .success(.file($0)) }
        let feed = Feed(next)
        var failures = 0
        try queue.push(next: { feed.next() }) { file, result in
            #expect(file == left.next()?.string)
            if let pushed = try? result.get() { ids.append(pushed.id) } else { failures += 1 }
        }
        #expect(ids.count == 21 && Set(ids).count == 20 && ids[20] == ids[3] && failures == 1)
        #expect(try records().map(\.id) == Array(ids.prefix(20).reversed()))
    }

    @Test func keepsTheIdsOfVariantsApart() throws {
        // A full and a redacted copy of one capture have the same id, and neither replaces the other.
        let path = try room.bundle("a")
        let redacted = try Redaction.withoutLocation(URL(filePath: path).bytes)
        try room.folder.write(redacted, to: "redacted.bundle")
        let first = try queue.push(room.path("redacted.bundle"))
        let second = try queue.push(path)
        #expect(second.id == first.id + ".2" && second.outcome == .stored)
        #expect(try queue.capture(first.id).sha256 == first.sha256)
        #expect(throws: QueueError.self) { try queue.capture(String(first.id.prefix(8))) }
        #expect(try queue.capture(String(second.sha256.description.prefix(12))).id == second.id)
    }

    @Test func refusesASpoolThatOthersCanChange() throws {
        try queue.push(room.bundle("a"))
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: queue.folder.spool)
        let error = #expect(throws: QueueError.self) { try UploadQueue(at: queue.folder) }
        #expect(error?.code == .openToOthers)
    }

    @Test func refusesAnUnknownDestinationBeforeItReadsAnything() throws {
        var options = PushOptions()
        options.destinations = ["nowhere"]
        let error = #expect(throws: QueueError.self) { try queue.push("/does/not/exist", options) }
        #expect(error?.code == .destinationUnknown)
    }

    @Test func movesOnlyTheFileThatWasRead() throws {
        var options = PushOptions()
        options.moves = true
        let path = try room.bundle("a")
        try queue.push(path, options)
        #expect(!FileManager.default.fileExists(atPath: path))
        // The same capture with another signature: nothing else holds these bytes.
        let twin = try room.bundle("a", name: "twin")
        let pushed = try queue.push(twin, options)
        #expect(pushed.outcome == .heldAlready && FileManager.default.fileExists(atPath: twin))
        #expect(!pushed.notes.isEmpty)
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
