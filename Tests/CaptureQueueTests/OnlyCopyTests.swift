import CaptureBundle
import CaptureQueue
import CaptureTestSupport
import Foundation
import QueueModel
import SystemPackage
import Testing

/// Each test is a way in which the only copy was once lost. The queue no longer allows it.
struct OnlyCopyTests {
    private let queues: QueueRoom
    private var room: BundleRoom { queues.room }
    private var queue: UploadQueue { queues.queue }
    private var manual: ManualClock { queues.manual }

    init() throws { queues = try QueueRoom() }

    private static let moving = PushOptions.with { $0.moves = true }

    private func exists(_ path: FilePath) -> Bool { FileManager.default.fileExists(atPath: path) }

    private func spoolPath(_ id: String) throws -> FilePath {
        try queue.folder.bundlePath(queue.captures.find(id).sha256)
    }

    private func all(_ paths: [FilePath], _ options: PushOptions) throws -> [Result<Pushed, any Error>] {
        let feed = Feed(paths.map { .success(.file($0)) })
        var results: [Result<Pushed, any Error>] = []
        try queue.push(next: { feed.next() }, options: options) { results.append($1) }
        return results
    }

    @Test func neverMovesAFileOfTheQueueOrADeliveredCopy() throws {
        let id = try queues.push("a")
        _ = try queue.run()
        let copies: [FilePath] = [try spoolPath(id), room.path("disk/\(id).bundle")]
        for path in copies {
            let pushed = try queue.push(path, Self.moving)
            #expect(pushed.id == id && exists(path))
        }
    }

    @Test func neverGivesARowToTheSecondOfTwoWhenTheFirstIsRefused() throws {
        try queue.set(.limit, "1kB")
        let path = try room.bundle("a")
        let results = try all([path, path], Self.moving)
        #expect(results.allSatisfy { (try? $0.get()) == nil })
        #expect(try queue.status().totals.isEmpty && exists(path))
    }

    @Test func addsADestinationOnceForTwoOfTheSame() throws {
        try queues.addFolder("b")
        let path = try room.bundle("a")
        let id = try queue.push(path).id
        let options = PushOptions.with { $0.destinations = ["b"] }
        #expect(try all([path, path], options).map { try $0.get().id } == [id, id])
        #expect(try queue.captures.find(id).deliveries.map(\.destination) == ["disk", "b"])
    }

    @Test func healsWhatARunFoundDamaged() throws {
        let path = try room.bundle("a")
        let id = try queue.push(path).id
        try spoolPath(id).damage()
        _ = try queue.run()
        #expect(try queue.captures.find(id).holding == .quarantined && queue.captures.find(id).state == .quarantined)
        #expect(!exists(room.path("disk/\(id).bundle")))
        #expect(try queue.push(path).outcome == .restored)
        #expect(try queue.run().completed == 1)
    }

    @Test func neverRevivesADeliveryWithoutItsBytes() throws {
        try queues.addFolder("b")
        var both = PushOptions.with { $0.destinations = ["disk", "b"] }
        let path = try room.bundle("a")
        let id = try queue.push(path, both).id
        var only = ChangeOptions()
        only.destination = "b"
        try queue.captures.change(.cancel, id, only)
        _ = try queue.run()
        #expect(try queue.upkeep.prune(.atOnce).captures == 1)
        both.destinations = ["b"]
        #expect(try queue.push(path, both).outcome == .stored)
        #expect(try exists(spoolPath(id)) && queue.captures.find(id).holding == .spool)
        #expect(try queue.run().completed == 1)
    }

    @Test func takesNoLinkToItsOwnFileForACopy() throws {
        let id = try queues.push("a")
        try FileManager.default.createSymbolicLink(
            atPath: room.path("disk/\(id).bundle"), withDestinationPath: spoolPath(id).string)
        _ = try queue.run()
        #expect(try queue.captures.find(id).state == .conflict)
        #expect(
            refusal { try queue.destinations.add("self", .folder(FolderSettings(path: queue.folder.spool))) }?.code
                == .outputUnusable)
    }

    @Test func adoptsNoFileWithATemporaryName() throws {
        let path = try room.bundle("a")
        try FileManager.default.moveItem(atPath: path.string, toPath: room.path(".a.bundle.1.tmp").string)
        var outcomes: [Pushed.Outcome] = []
        try queue.captures.adopt(room.path(".")) { outcomes.append(try $1.get().outcome) }
        #expect(outcomes.isEmpty && exists(room.path(".a.bundle.1.tmp")))
    }

    @Test func salvageNamesWhatIsMissing() throws {
        let options = PushOptions.with { $0.isByReference = true }
        let path = try room.bundle("a")
        let id = try queue.push(path, options).id
        try FileManager.default.moveItem(atPath: path, toPath: room.path("away"))
        let result = try UploadQueue.salvage(queue.folder, releases: false, isForced: true, clock: manual.clock) { _ in
        }
        #expect(result.missing == [id])
        #expect(try queue.captures.find(id).holding == .missing)
        #expect(try queue.push(room.path("away"), options).outcome == .restored)
        #expect(try queue.captures.find(id).state == .pending)
    }

    @Test func salvagePrefersItsOwnCopyToALeftoverReference() throws {
        // What a killed push leaves: the sidecar of a reference to the same capture, signed again.
        let other = try QueueRoom()
        let twin = try other.queue.push(room.bundle("a", name: "twin"), .with { $0.isByReference = true })
        let name = "\(twin.sha256).json"
        let leftover = try FilePath(other.room.path("queue/spool/\(name.prefix(2))/\(name)")).bytes
        manual.jump(1000)
        let id = try queues.push("a")
        let own = try queue.captures.find(id).sha256
        try room.folder.write(leftover, to: "queue/spool/\(name.prefix(2))/\(name)")
        _ = try UploadQueue.salvage(queue.folder, releases: false, isForced: true, clock: manual.clock) { _ in }
        #expect(own != twin.sha256)
        #expect(try queue.captures.find(id).sha256 == own && queue.captures.find(id).holding == .spool)
    }

    @Test func aPruneWithNothingToDoRemembersTheClock() throws {
        let id = try queues.push("a")
        _ = try queue.run()
        manual.restart()
        #expect(try queue.upkeep.prune().captures == 0)
        manual.jump(30 * 86_400_000)
        #expect(try queue.upkeep.prune().captures == 0)
        #expect(try exists(spoolPath(id)))
    }

    @Test func oneStuckFileKeepsNobodyElsesRoom() throws {
        let stuck = try queues.push("a")
        let other = try queues.push("b")
        _ = try queue.run()
        let (path, otherPath) = try (spoolPath(stuck), spoolPath(other))
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: false)
        manual.pass(8 * 86_400_000)
        #expect(try queue.upkeep.prune().failures.count == 1)
        #expect(!exists(otherPath))
        #expect(try queue.captures.find(other).holding == .removed && queue.captures.find(stuck).holding == .removing)
        try FileManager.default.removeItem(atPath: path)
        #expect(try queue.upkeep.prune().failures.isEmpty)
        #expect(try queue.captures.find(stuck).holding == .removed)
    }
}
