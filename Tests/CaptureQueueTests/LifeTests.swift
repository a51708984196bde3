import CaptureBundle
import CaptureQueue
import CaptureTestSupport
import Foundation
import Testing

/// A capture goes through its whole life, from push to prune.
struct LifeTests {
    private static let day = 86_400_000
    private let room: BundleRoom
    private let manual = ManualClock()
    private let queue: UploadQueue

    init() throws {
        room = try BundleRoom()
        queue = try UploadQueue(at: QueueFolder(path: room.path("queue")), createIfMissing: true, clock: manual.clock)
        try FileManager.default.createDirectory(atPath: room.path("disk"), withIntermediateDirectories: true)
        try queue.addFolder("disk", path: room.path("disk"))
    }

    private func run() throws -> RunResult { try queue.run() }

    private func state(_ id: String) throws -> DeliveryState { try queue.capture(id).state }

    @Test func landsIsKeptForAWeekAndGoes() throws {
        let path = try room.bundle("a")
        let id = try queue.push(path).id
        #expect(try run().completed == 1)
        #expect(try room.folder.bytes("disk/\(id).bundle") == URL(filePath: path).bytes)
        let record = try queue.capture(id)
        #expect(record.state == .completed)
        #expect(record.deliveries.first?.receipt?.contains(record.sha256.description) == true)
        manual.pass(7 * Self.day - 1)
        #expect(try queue.prune().captures == 0)
        manual.pass(1)
        #expect(try queue.prune().captures == 1)
        #expect(try queue.capture(id).holding == .removed)
        #expect(!FileManager.default.fileExists(atPath: queue.folder.bundlePath(record.sha256)))
        #expect(try queue.status().usedBytes == 0)
        // Push acknowledges only what it has stored. So it stores the released capture again; the queue keeps it for
        // another week and does not send it again.
        #expect(try queue.push(path).outcome == .stored)
        #expect(try URL(filePath: queue.folder.bundlePath(record.sha256)).bytes == URL(filePath: path).bytes)
        #expect(try run().completed == 0)
        manual.pass(7 * Self.day - 1)
        #expect(try queue.prune().captures == 0)
        manual.pass(1)
        #expect(try queue.prune().captures == 1)
    }

    @Test func keepsEverythingWhenTheClockJumpsAYearAhead() throws {
        let id = try queue.push(room.bundle("a")).id
        _ = try run()
        manual.jump(365 * Self.day)
        #expect(try queue.prune().captures == 0)
        #expect(try queue.capture(id).holding == .spool)
        try queue.acceptClock()
        #expect(try queue.prune().captures == 1)
    }

    /// A capture that failed, is held or was never sent is the only copy: prune keeps it at any age.
    @Test func keepsWhatHasNotLandedForEver() throws {
        let held = try queue.push(room.bundle("held")).id
        try queue.change(.hold, held)
        let cancelled = try queue.push(room.bundle("cancelled")).id
        try queue.change(.cancel, cancelled)
        var later = PushOptions()
        later.notBefore = manual.clock.read(.init(lastSeen: 0)).wall + 1000 * Self.day
        let waiting = try queue.push(room.bundle("waiting"), later).id
        _ = try run()
        manual.pass(900 * Self.day)
        #expect(try queue.prune().captures == 0)
        for id in [held, cancelled, waiting] { #expect(try queue.capture(id).holding == .spool) }
        var asked = PruneOptions()
        asked.includesCancelled = true
        #expect(try queue.prune(asked).captures == 1)
        #expect(try queue.capture(cancelled).holding == .removed)
    }

    @Test func parksWithoutBurningAnAttemptWhileTheDiskIsNotMounted() throws {
        let id = try queue.push(room.bundle("a")).id
        try FileManager.default.moveItem(atPath: room.path("disk"), toPath: room.path("away"))
        try FileManager.default.createDirectory(atPath: room.path("disk"), withIntermediateDirectories: true)
        for _ in 0..<20 {
            #expect(try run() == RunResult())
            #expect(try queue.destination("disk").block?.reason == .offline)
        }
        #expect(try queue.capture(id).deliveries.first?.attempts == 0)
        #expect(try state(id) == .pending)
    }

    @Test func tellsAConflictFromASuccess() throws {
        let path = try room.bundle("a")
        let id = try queue.push(path).id
        try room.folder.write("something else", to: "disk/\(id).bundle")
        _ = try run()
        #expect(try state(id) == .conflict)
        #expect(try room.folder.bytes("disk/\(id).bundle") == Array("something else".utf8))
        try FileManager.default.copyItem(atPath: path, toPath: room.path("disk/same"))
        try FileManager.default.removeItem(atPath: room.path("disk/\(id).bundle"))
        try FileManager.default.moveItem(atPath: room.path("disk/same"), toPath: room.path("disk/\(id).bundle"))
        try queue.change(.retry, id)
        #expect(try run().completed == 1)
    }

    /// If a retry went to the front of the queue, the other captures would never be sent.
    @Test func putsARetryBehindWhatWaited() throws {
        let destination = try queue.destination("disk")
        let poison = try queue.push(room.bundle("poison")).id
        manual.pass(10)
        let other = try queue.push(room.bundle("other")).id
        let claim = try #require(try queue.claim(for: destination))
        #expect(claim.capture.id == poison)
        #expect(try queue.settle(claim, .failed(code: "x", message: "x")) == .failed)
        manual.pass(5000)
        #expect(try queue.claim(for: destination)?.capture.id == other)
    }

    @Test func fallsForGoodAfterTenAttemptsAndStays() throws {
        let destination = try queue.destination("disk")
        let id = try queue.push(room.bundle("a")).id
        for number in 1...10 {
            let claim = try #require(try queue.claim(for: destination), "attempt \(number)")
            let state = try queue.settle(claim, .failed(code: "x", message: "no"))
            #expect(state == (number < 10 ? .failed : .permanentlyFailed))
            manual.pass(300_000)
        }
        #expect(try queue.claim(for: destination) == nil)
        manual.pass(900 * Self.day)
        #expect(try queue.prune().captures == 0)
        try queue.change(.retry, id)
        // The user asked for a retry, so all attempts of the table are allowed again.
        #expect(try queue.capture(id).deliveries.first?.attempts == 0)
    }

    @Test func refusesALateCompletionAndRecordsIt() throws {
        let destination = try queue.destination("disk")
        let id = try queue.push(room.bundle("a")).id
        let claim = try #require(try queue.claim(for: destination))
        try queue.change(.cancel, id)
        let error = #expect(throws: QueueError.self) {
            try queue.settle(claim, .completed(receipt: "r", remoteID: nil, remoteURL: nil))
        }
        #expect(error?.code == .claimLost)
        #expect(try state(id) == .cancelled)
        let attempts = try queue.history(queue.capture(id)).compactMap { event -> String? in
            if case .attempt(_, _, let outcome, _, _, _) = event.kind { outcome } else { nil }
        }
        #expect(attempts == ["late completed"])
    }

    /// A capture that was being sent at a crash is sent again.
    @Test func givesBackAClaimWhoseLeaseIsOver() throws {
        let destination = try queue.destination("disk")
        let id = try queue.push(room.bundle("a")).id
        _ = try #require(try queue.claim(for: destination))
        #expect(try queue.recoverClaims() == 0)
        manual.pass(UploadQueue.lease)
        #expect(try queue.recoverClaims() == 1)
        #expect(try state(id) == .pending)
    }

    @Test func isDueOnceAllOfASessionHasLanded() throws {
        var options = PushOptions()
        options.session = "monday"
        let first = try queue.push(room.bundle("a"), options).id
        _ = try queue.push(room.bundle("b"), options)
        #expect(try !queue.endSession("monday").isDue)
        #expect(throws: QueueError.self) { try queue.push(room.bundle("c"), options) }
        try queue.change(.cancel, first)
        _ = try run()
        #expect(try queue.sessions().first?.isDue == false)
        #expect(try queue.endSession("monday", isIncomplete: true).isDue)
        #expect(try queue.status().sessions.due == 1)
    }

    @Test func countsWhatIsThere() throws {
        var bytes = 0
        for name in ["a", "b", "c"] { bytes += try queue.push(room.bundle(name)).byteCount }
        try queue.change(.hold, queue.capture(records()[0]).id)
        _ = try run()
        let status = try queue.status()
        #expect(status.usedBytes == bytes)
        #expect(status.totals[.completed]?.captures == 2 && status.totals[.held]?.captures == 1)
        #expect(status.totals.values.reduce(0) { $0 + $1.bytes } == bytes)
        #expect(status.waiting == 0 && status.failedForGood == 0)
    }

    private func records() throws -> [String] {
        var ids: [String] = []
        try queue.list {
            ids.append($0.id)
            return true
        }
        return ids
    }

    @Test func bindsWhatNamesNoDestinationOnce() throws {
        let path = try room.bundle("a")
        let id = try queue.push(path).id
        var named = PushOptions()
        named.destinations = ["disk"]
        _ = try queue.push(path, named)
        #expect(try queue.capture(id).deliveries.map(\.destination) == ["disk"])
        #expect(try run().completed == 1)
        #expect(try state(id) == .completed)
    }

    @Test func sendsToEachPlaceOnceWhenTheDefaultChanges() throws {
        let path = try room.bundle("a")
        let id = try queue.push(path).id
        try FileManager.default.createDirectory(atPath: room.path("other"), withIntermediateDirectories: true)
        try queue.addFolder("other", path: room.path("other"))
        var named = PushOptions()
        named.destinations = ["other"]
        _ = try queue.push(path, named)
        #expect(try queue.capture(id).deliveries.count == 2)
        try queue.setDefaultDestination("other")
        #expect(try run().completed == 2)
        #expect(try queue.capture(id).deliveries.map(\.state) == [.completed, .completed])
        #expect(try run().completed == 0)
    }

    @Test func salvagesWhatTheSpoolHolds() throws {
        var options = PushOptions()
        options.session = "monday"
        options.priority = 3
        let id = try queue.push(room.bundle("a"), options).id
        queue.close()
        try FileManager.default.removeItem(atPath: queue.folder.database)
        let error = #expect(throws: QueueError.self) { try UploadQueue(at: queue.folder, createIfMissing: true) }
        #expect(error?.code == .damaged)
        let result = try UploadQueue.salvage(queue.folder, releases: false, clock: manual.clock) { #expect($0 == id) }
        #expect(result.captures == 1 && result.damaged.isEmpty)
        let again = try UploadQueue(at: queue.folder, clock: manual.clock)
        let record = try again.capture(id)
        #expect(record.state == .held && record.session == "monday" && record.priority == 3)
        #expect(try again.destinations().map(\.name) == ["disk"])
    }
}
