import CaptureBundle
import CaptureTestSupport
import Foundation
import QueueFiles
import QueueModel
import Testing

@testable import CaptureQueue

/// A capture goes through its whole life, from push to prune.
struct LifeTests {
    private static let day = 86_400_000
    private let queues: QueueRoom
    private var room: BundleRoom { queues.room }
    private var queue: UploadQueue { queues.queue }
    private var manual: ManualClock { queues.manual }

    init() throws { queues = try QueueRoom() }

    @Test func landsIsKeptForAWeekAndGoes() throws {
        let path = try room.bundle("a")
        let id = try queue.push(path).id
        #expect(try queue.run().completed == 1)
        #expect(try room.folder.bytes("disk/\(id).bundle") == path.bytes)
        let record = try queue.captures.find(id)
        #expect(record.state == .completed)
        #expect(record.deliveries.first?.receipt?.contains(record.sha256.description) == true)
        manual.pass(7 * Self.day - 1)
        #expect(try queue.upkeep.prune().captures == 0)
        manual.pass(1)
        #expect(try queue.upkeep.prune().captures == 1)
        #expect(try queue.captures.find(id).holding == .removed)
        #expect(!FileManager.default.fileExists(atPath: queue.folder.bundlePath(record.sha256)))
        #expect(try queue.status().usedBytes == 0)
        // Push acknowledges only what it has stored. So it stores the released capture again; the queue keeps it for
        // another week and does not send it again.
        #expect(try queue.push(path).outcome == .stored)
        #expect(try queue.folder.bundlePath(record.sha256).bytes == path.bytes)
        #expect(try queue.run().completed == 0)
        manual.pass(7 * Self.day - 1)
        #expect(try queue.upkeep.prune().captures == 0)
        manual.pass(1)
        #expect(try queue.upkeep.prune().captures == 1)
    }

    /// A capture that failed, is held or was never sent is the only copy: prune keeps it at any age.
    @Test func keepsWhatHasNotLandedForEver() throws {
        let held = try queues.push("held")
        try queue.captures.change(.hold, held)
        let cancelled = try queues.push("cancelled")
        try queue.captures.change(.cancel, cancelled)
        let waiting = try queues.push("waiting") {
            $0.notBefore = CaptureTime(milliseconds: manual.now + 1000 * Self.day)
        }
        _ = try queue.run()
        manual.pass(900 * Self.day)
        #expect(try queue.upkeep.prune().captures == 0)
        for id in [held, cancelled, waiting] { #expect(try queue.captures.find(id).holding == .spool) }
        var asked = PruneOptions()
        asked.includesCancelled = true
        #expect(try queue.upkeep.prune(asked).captures == 1)
        #expect(try queue.captures.find(cancelled).holding == .removed)
    }

    @Test func tellsAConflictFromASuccess() throws {
        let path = try room.bundle("a")
        let id = try queue.push(path).id
        let other = try room.bundle("b")
        try FileManager.default.copyItem(atPath: other, toPath: room.path("disk/\(id).bundle"))
        _ = try queue.run()
        #expect(try queues.state(id) == .conflict)
        #expect(try room.folder.bytes("disk/\(id).bundle") == room.folder.bytes("b.bundle"))
        try FileManager.default.copyItem(atPath: path, toPath: room.path("disk/same"))
        try FileManager.default.removeItem(atPath: room.path("disk/\(id).bundle"))
        try FileManager.default.moveItem(atPath: room.path("disk/same"), toPath: room.path("disk/\(id).bundle"))
        try queue.captures.change(.retry, id)
        #expect(try queue.run().completed == 1)
    }

    @Test func refusesALateCompletionAndRecordsIt() throws {
        let destination = try queue.destinations.find("disk")
        let id = try queues.push("a")
        let claim = try #require(try Claims(queue).next(for: destination))
        try queue.captures.change(.cancel, id)
        let outcome = SendOutcome.completed(receipt: "r", remoteID: nil, remoteURL: nil)
        #expect(
            try queue.store.write { try Claims(queue).settle(claim, with: outcome, AttemptContext(), in: $0) } == nil)
        #expect(try queues.state(id) == .cancelled)
        let attempts = try queue.captures.history(of: queue.captures.find(id)).compactMap { event -> String? in
            if case .attempt(_, _, let outcome, _, _, _) = event.kind { outcome } else { nil }
        }
        #expect(attempts == ["late completed"])
    }

    /// A capture that was being sent at a crash is sent again.
    @Test func givesBackTheClaimOfADeadRun() throws {
        let destination = try queue.destinations.find("disk")
        let id = try queues.push("a")
        _ = try #require(try Claims(queue).next(for: destination))
        #expect(try Claims(queue).recover() == 1)
        #expect(try Claims(queue).recover() == 0)
        #expect(try queues.state(id) == .pending)
    }
}
