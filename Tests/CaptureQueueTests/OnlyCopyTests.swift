import CaptureBundle
import CaptureQueue
import CaptureTestSupport
import Foundation
import QueueFiles
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
        // The user may have cancelled it before.
        #expect(try queue.captures.find(id).state == .held)
    }

    /// Salvages a queue that has a copy of a capture, and before it got the sidecar of a reference to the same capture
    /// under another signature, which a killed push may leave.
    private func salvage(_ change: (_ own: FilePath, _ reference: FilePath) throws -> Void) throws -> CaptureRecord {
        let other = try QueueRoom()
        let twin = try room.bundle("a", name: "twin")
        let sha256 = try other.queue.push(twin, .with { $0.isByReference = true }).sha256
        let sidecar = "queue/spool/\("\(sha256)".prefix(2))/\(sha256).json"
        manual.jump(1000)
        let id = try queues.push("a")
        try room.folder.write(FilePath(other.room.path(sidecar)).bytes, to: sidecar)
        try change(spoolPath(id), twin)
        _ = try UploadQueue.salvage(queue.folder, releases: false, isForced: true, clock: manual.clock) { _ in }
        let record = try queue.captures.find(id)
        #expect(record.state == .held && (record.holding == .reference) == (record.sha256 == sha256))
        return record
    }

    @Test func salvagePrefersItsOwnCopyToAReference() throws {
        #expect(try salvage { _, _ in }.holding == .spool)
        #expect(try salvage { _, twin in try Data([0]).write(to: URL(filePath: twin)) }.holding == .spool)
    }

    @Test func salvagePrefersAWholeReferenceToDamage() throws {
        #expect(try salvage { own, _ in try Data([0]).write(to: URL(filePath: own)) }.holding == .reference)
    }

    @Test func salvagePrefersAWholeReferenceToAnAbsentOne() throws {
        let options = PushOptions.with { $0.isByReference = true }
        let whole = try room.bundle("a", name: "twin")
        try room.folder.write(room.bundle("a").bytes, to: "card/a.bundle")
        for (first, second) in [("card/a.bundle", "twin.bundle"), ("twin.bundle", "card/a.bundle")] {
            let (one, two) = try (QueueRoom(), QueueRoom())
            let id = try one.queue.push(room.path(first), options).id
            two.manual.jump(1000)
            let sidecar = try two.queue.push(room.path(second), options).sha256.description
            let name = "queue/spool/\(sidecar.prefix(2))/\(sidecar).json"
            try one.room.folder.write(FilePath(two.room.path(name)).bytes, to: name)
            try FileManager.default.moveItem(atPath: room.path("card/a.bundle"), toPath: room.path("away"))
            _ = try UploadQueue.salvage(one.queue.folder, releases: false, isForced: true) { _ in }
            #expect(try one.queue.captures.find(id).reference == whole.string)
            try FileManager.default.moveItem(atPath: room.path("away"), toPath: room.path("card/a.bundle"))
        }
    }

    @Test func aLinkInThePlaceOfAMissingFileStopsNoCheck() throws {
        let paths = try [spoolPath(queues.push("a")), spoolPath(queues.push("b"))]
        let away = room.path("away") as String
        try FileManager.default.moveItem(atPath: paths[0].string, toPath: away)
        #expect(try queue.upkeep.check { _ in }.open == [.missing: 1])
        try FileManager.default.createSymbolicLink(atPath: paths[0].string, withDestinationPath: away)
        try FileManager.default.removeItem(atPath: paths[1])
        #expect(try queue.upkeep.check { _ in }.open[.missing] == 2)
    }

    @Test func salvageKeepsAReferenceOnADiskThatIsNotMounted() throws {
        try room.folder.write(room.bundle("a").bytes, to: "card/a.bundle")
        let id = try queue.push(room.path("card/a.bundle"), .with { $0.isByReference = true }).id
        try FileManager.default.removeItem(atPath: room.path("card/a.bundle"))
        let result = try UploadQueue.salvage(queue.folder, releases: false, isForced: true, clock: manual.clock) { _ in
        }
        #expect(result.missing.isEmpty)
        #expect(try queue.captures.find(id).holding == .reference)
    }

    @Test func salvageNamesASidecarThatItCannotRead() throws {
        let id = try queue.push(room.bundle("a"), .with { $0.isByReference = true }).id
        let sidecar = try spoolPath(id).string.replacing(".bundle", with: ".json")
        try Data(FilePath(sidecar).bytes.prefix(300)).write(to: URL(filePath: sidecar))
        let result = try UploadQueue.salvage(queue.folder, releases: false, isForced: true, clock: manual.clock) { _ in
        }
        #expect(result.unreadable.map(\.string) == [sidecar] && result.captures == 0)
    }

    @Test func aMissingFileIsTakenBackAfterItsUploadToo() throws {
        let id = try queues.push("a")
        let path = try spoolPath(id)
        let bytes = try path.bytes
        try FileManager.default.removeItem(atPath: path)
        _ = try queue.upkeep.check { _ in }
        _ = try queue.captures.markUploaded(id, receipt: queue.captures.find(id).sha256.description)
        try Data(bytes).write(to: URL(filePath: path))
        #expect(try queue.upkeep.check { _ in }.open.isEmpty)
        #expect(try queue.captures.find(id).holding == .spool)
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
