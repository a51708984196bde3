import CaptureBundle
import CaptureQueue
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

/// Each test is a way in which the only copy was once lost. The queue no longer allows it.
struct OnlyCopyTests {
    private let room: BundleRoom
    private let manual = ManualClock()
    private let queue: UploadQueue

    init() throws {
        room = try BundleRoom()
        queue = try UploadQueue(at: QueueFolder(path: room.path("queue")), createIfMissing: true, clock: manual.clock)
        try FileManager.default.createDirectory(atPath: room.path("disk"), withIntermediateDirectories: true)
        try queue.addFolder("disk", path: room.path("disk"))
    }

    private static let moving: PushOptions = {
        var options = PushOptions()
        options.moves = true
        return options
    }()

    private func exists(_ path: FilePath) -> Bool { FileManager.default.fileExists(atPath: path) }

    private func spoolPath(_ id: String) throws -> FilePath { try queue.folder.bundlePath(queue.capture(id).sha256) }

    private func damage(_ path: FilePath) throws {
        var bytes = try URL(filePath: path).bytes
        bytes[bytes.count / 2] ^= 1
        try Data(bytes).write(to: URL(filePath: path))
    }

    private func all(_ paths: [FilePath], _ options: PushOptions) throws -> [Result<Pushed, any Error>] {
        let feed = Feed(paths.map { .success(.file($0)) })
        var results: [Result<Pushed, any Error>] = []
        try queue.push(next: { feed.next() }, options: options) { results.append($1) }
        return results
    }

    @Test func neverMovesAFileOfTheQueueItself() throws {
        let id = try queue.push(room.bundle("a")).id
        let path = try spoolPath(id)
        let pushed = try queue.push(path, Self.moving)
        #expect(pushed.id == id && !pushed.notes.isEmpty && exists(path))
    }

    @Test func neverMovesADeliveredCopy() throws {
        let id = try queue.push(room.bundle("a")).id
        _ = try queue.run()
        let copy: FilePath = room.path("disk/\(id).bundle")
        _ = try queue.push(copy, Self.moving)
        #expect(exists(copy))
    }

    @Test func neverGivesARowToTheSecondOfTwoWhenTheFirstIsRefused() throws {
        try queue.set(.limit, "1kB")
        let path = try room.bundle("a")
        let results = try all([path, path], Self.moving)
        #expect(results.allSatisfy { (try? $0.get()) == nil })
        #expect(try queue.status().totals.isEmpty && exists(path))
    }

    @Test func addsADestinationOnceForTwoOfTheSame() throws {
        try FileManager.default.createDirectory(atPath: room.path("b"), withIntermediateDirectories: true)
        try queue.addFolder("b", path: room.path("b"))
        let path = try room.bundle("a")
        let id = try queue.push(path).id
        var options = PushOptions()
        options.destinations = ["b"]
        #expect(try all([path, path], options).map { try $0.get().id } == [id, id])
        #expect(try queue.capture(id).deliveries.map(\.destination) == ["disk", "b"])
    }

    @Test func neverSaysThatItHoldsWhatHasRotted() throws {
        let path = try room.bundle("a")
        let id = try queue.push(path).id
        try damage(spoolPath(id))
        #expect(try queue.push(path).outcome == .restored)
        #expect(try queue.check(Self.reading) { Issue.record("\($0)") }.open.isEmpty)
    }

    private static let reading: CheckOptions = {
        var options = CheckOptions()
        options.readShare = 1
        return options
    }()

    @Test func healsWhatARunFoundDamaged() throws {
        let path = try room.bundle("a")
        let id = try queue.push(path).id
        try damage(spoolPath(id))
        _ = try queue.run()
        #expect(try queue.capture(id).holding == .quarantined && queue.capture(id).state == .quarantined)
        #expect(!exists(room.path("disk/\(id).bundle")))
        #expect(try queue.push(path).outcome == .restored)
        #expect(try queue.run().completed == 1)
    }

    @Test func neverRevivesADeliveryWithoutItsBytes() throws {
        try FileManager.default.createDirectory(atPath: room.path("b"), withIntermediateDirectories: true)
        try queue.addFolder("b", path: room.path("b"))
        var both = PushOptions()
        both.destinations = ["disk", "b"]
        let path = try room.bundle("a")
        let id = try queue.push(path, both).id
        var only = ChangeOptions()
        only.destination = "b"
        try queue.change(.cancel, id, only)
        _ = try queue.run()
        var prune = PruneOptions()
        prune.olderThan = QueueAge(milliseconds: 0)
        #expect(try queue.prune(prune).captures == 1)
        both.destinations = ["b"]
        #expect(try queue.push(path, both).outcome == .stored)
        #expect(try exists(spoolPath(id)) && queue.capture(id).holding == .spool)
        #expect(try queue.run().completed == 1)
    }

    @Test func takesNoLinkToItsOwnFileForACopy() throws {
        let id = try queue.push(room.bundle("a")).id
        try FileManager.default.createSymbolicLink(
            atPath: room.path("disk/\(id).bundle"), withDestinationPath: spoolPath(id).string)
        _ = try queue.run()
        #expect(try queue.capture(id).state == .conflict)
        let error = #expect(throws: BundleError.self) { try queue.addFolder("self", path: queue.folder.spool.string) }
        #expect(error?.code == .outputUnusable)
    }

    @Test func adoptsAgainWhatWasLost() throws {
        let path = try room.bundle("a")
        let id = try queue.push(path).id
        try FileManager.default.removeItem(atPath: spoolPath(id))
        var outcomes: [Pushed.Outcome] = []
        try queue.adopt(room.path(".")) { outcomes.append(try $1.get().outcome) }
        #expect(outcomes == [.restored])
    }

    @Test func adoptsNoFileWithATemporaryName() throws {
        let path = try room.bundle("a")
        try FileManager.default.moveItem(atPath: path.string, toPath: room.path(".a.bundle.1.tmp").string)
        var outcomes: [Pushed.Outcome] = []
        try queue.adopt(room.path(".")) { outcomes.append(try $1.get().outcome) }
        #expect(outcomes.isEmpty && exists(room.path(".a.bundle.1.tmp")))
    }

    @Test func writesToTheDatabaseThatSalvageMade() throws {
        _ = try queue.push(room.bundle("a"))
        _ = try UploadQueue.salvage(queue.folder, releases: true, isForced: true, clock: manual.clock) { _ in }
        let id = try queue.push(room.bundle("b")).id
        let other = try UploadQueue(at: queue.folder, clock: manual.clock)
        #expect(try other.capture(id).state == .pending)
        #expect(try other.check { Issue.record("\($0)") }.captures == 2)
    }

    @Test func refusesToSalvageASoundDatabase() throws {
        _ = try queue.push(room.bundle("a"))
        let error = #expect(throws: QueueError.self) { try UploadQueue.salvage(queue.folder, releases: false) { _ in } }
        #expect(error?.code == .stateRefused)
    }

    @Test func salvageNamesWhatIsMissing() throws {
        var options = PushOptions()
        options.isByReference = true
        let path = try room.bundle("a")
        let id = try queue.push(path, options).id
        try FileManager.default.moveItem(atPath: path, toPath: room.path("away"))
        let result = try UploadQueue.salvage(queue.folder, releases: false, isForced: true, clock: manual.clock) { _ in
        }
        #expect(result.missing == [id])
        #expect(try queue.capture(id).holding == .missing)
        #expect(try queue.push(room.path("away"), options).outcome == .restored)
        #expect(try queue.capture(id).state == .pending)
    }

    @Test func aPruneWithNothingToDoRemembersTheClock() throws {
        let id = try queue.push(room.bundle("a")).id
        _ = try queue.run()
        manual.restart()
        #expect(try queue.prune().captures == 0)
        manual.jump(30 * 86_400_000)
        #expect(try queue.prune().captures == 0)
        #expect(try exists(spoolPath(id)))
    }

    @Test func oneStuckFileKeepsNobodyElsesRoom() throws {
        let stuck = try queue.push(room.bundle("a")).id
        let other = try queue.push(room.bundle("b")).id
        _ = try queue.run()
        let (path, otherPath) = try (spoolPath(stuck), spoolPath(other))
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: false)
        manual.pass(8 * 86_400_000)
        #expect(try queue.prune().failures.count == 1)
        #expect(!exists(otherPath))
        #expect(try queue.capture(other).holding == .removed && queue.capture(stuck).holding == .removing)
        try FileManager.default.removeItem(atPath: path)
        #expect(try queue.prune().failures.isEmpty)
        #expect(try queue.capture(stuck).holding == .removed)
    }
}
