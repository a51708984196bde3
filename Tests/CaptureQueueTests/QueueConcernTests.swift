import CaptureBundle
import CaptureNative
import Testing

@testable import CaptureQueue
@testable import QueueModel

/// What needs a person, computed from the state of a queue (Spec/capqueue.md section 3).
struct QueueConcernTests {
    private static let hour = 3_600_000

    private func work(
        _ name: String?, _ counts: [DeliveryState: Int], _ reason: Block.Reason? = nil, isPaused: Bool = false,
        salvaged: Int = 0, absent: Int = 0, untold: Int = 0, waited: Duration? = nil
    ) -> DestinationWork {
        var saved = CircuitBreaker.Saved()
        saved.block = reason.map { Block($0, "found") }
        var work = DestinationWork(
            name.map { name in
                Destination(
                    name: name, settings: DestinationSettings(stored: "put", [:]), isDefault: false,
                    addedAt: CaptureTime(clamping: 0),
                    saved: saved, isPaused: isPaused, isPausedAtOnce: false, lifts: 0, number: 1)
            })
        work.totals = counts.mapValues { .init(captures: $0, bytes: 10 * $0) }
        (work.heldBySalvage, work.absent, work.untoldSessions) = (salvaged, absent, untold)
        work.oldestWaiting = waited.map { .init(id: "oldest", pushedAt: CaptureTime(clamping: 0), age: $0) }
        work.rate = SendingRate(bytesPerSecond: 5)
        return work
    }

    private func status(
        _ work: [DestinationWork], isPaused: Bool = false, usedBytes: Int = 0, clockDoubt: Duration? = nil,
        settings: QueueSettings = QueueSettings(), freeBytes: Int = 1_000_000, next: Int = 0,
        isSpoolAbsent: Bool = false
    ) -> QueueStatus {
        var status = QueueStatus(settings)
        (status.work, status.isPaused, status.clockDoubt) = (work, isPaused, clockDoubt)
        (status.usedBytes, status.nextBytes, status.isSpoolAbsent) = (usedBytes, next, isSpoolAbsent)
        status.room = DiskRoom(settings.freeFloor, free: freeBytes + 20_000, size: 2_000_000, next: next)
        return status
    }

    @Test func anEmptyQueueIsWellWithoutADestinationAndWhilePaused() {
        #expect(status([]).concerns().isEmpty)
        #expect(status([], isPaused: true).concerns(maxAge: .zero).isEmpty)
        #expect(status([work("a", [.completed: 3, .cancelled: 2], .endpoint, isPaused: true)]).concerns().isEmpty)
        #expect(status([work(nil, [.completed: 1])]).concerns().isEmpty)
    }

    @Test(arguments: Block.Reason.allCases)
    func whatOnlyTheUserCanEndIsAConcern(_ reason: Block.Reason) {
        let waiting: [DeliveryState: Int] = [.pending: 1, .failed: 2, .uploading: 3, .processing: 4]
        let found = status([work("a", waiting, reason)]).concerns()
        let needsUser: Set<Block.Reason> = [.credentials, .endpoint, .tls, .local, .refusing, .unproven, .address]
        #expect(found == (needsUser.contains(reason) ? [QueueConcern(.blocked, 10, "a")] : []))
    }

    /// An end that is due waits like a capture. What only waits for a run is not a concern.
    @Test func aPauseOrABlockIsAConcernWhileAnEndWaits() {
        func due(_ reason: Block.Reason? = nil, isPaused: Bool = false) -> DestinationWork {
            var work = work("a", [.completed: 3, .cancelled: 1, .pending: 2], reason, isPaused: isPaused)
            (work.dueSessions, work.keptBackSessions) = (4, ["roof"])
            return work
        }
        let kept = QueueConcern(.keptBack, 1, "a")
        #expect(status([due()]).concerns() == [kept])
        #expect(status([due(.offline)]).concerns() == [kept])
        #expect(status([due(.tls)]).concerns() == [QueueConcern(.blocked, 6, "a", ends: 4), kept])
        #expect(
            status([due(isPaused: true)], isPaused: true).concerns() == [
                QueueConcern(.destinationPaused, 6, "a", ends: 4), QueueConcern(.queuePaused, 6, ends: 4), kept,
            ])
    }

    @Test func eachStateThatNeedsAPersonIsNamedOnceForEachDestination() {
        let queue = status(
            [
                work(nil, [.pending: 1, .held: 2], salvaged: 2),
                work("a", [.permanentlyFailed: 1, .conflict: 2, .quarantined: 3, .completed: 9]),
                work("b", [.pending: 4, .held: 5], isPaused: true, salvaged: 2, absent: 3, untold: 1),
            ], isPaused: true, usedBytes: 500_000_001, clockDoubt: .seconds(1), isSpoolAbsent: true)
        #expect(
            queue.concerns() == [
                .init(.failed, 6, "a"), .init(.spoolAbsent, 1), .init(.absent, 3, "b"), .init(.overMark, 1),
                .init(.unassigned, 1), .init(.held, 3, "b"),
                .init(.salvaged, 2), .init(.salvaged, 2, "b"), .init(.destinationPaused, 4, "b"),
                .init(.queuePaused, 5), .init(.untold, 1, "b"), .init(.clock, 1),
            ])
        #expect(queue.concerns(of: "a") == [.init(.failed, 6, "a")])
        #expect(
            queue.concerns(of: "b") == [
                .init(.absent, 3, "b"), .init(.held, 3, "b"), .init(.salvaged, 2, "b"),
                .init(.destinationPaused, 4, "b"), .init(.queuePaused, 4), .init(.untold, 1, "b"),
            ])
    }

    @Test(arguments: [
        (999, 11, 0, false, false), (1000, 11, 0, true, false), (999, 10, 0, false, true), (1001, 9, 0, true, true),
        (900, 110, 100, false, false), (901, 109, 100, true, true),
    ])
    func whatMakesPushRefuseIsAConcern(_ used: Int, _ free: Int, _ next: Int, _ isAtLimit: Bool, _ isDiskLow: Bool) {
        var settings = QueueSettings()
        (settings.limit, settings.freeFloor) = (1000, .bytes(10))
        let queue = status([work("a", [.pending: 1])], usedBytes: used, settings: settings, freeBytes: free, next: next)
        let expected = (isAtLimit ? [QueueConcern(.atLimit, 1)] : []) + (isDiskLow ? [QueueConcern(.lowDisk, 1)] : [])
        #expect(queue.concerns() == expected)
        #expect(queue.concerns(of: "a").isEmpty)
        #expect(status([], usedBytes: used).concerns().isEmpty)
    }

    @Test(arguments: [(999, true), (1000, false), (nil, false)])
    func fewInodesAreAConcern(_ inodes: Int?, _ isConcern: Bool) {
        var queue = status([])
        queue.freeInodes = inodes
        #expect(queue.concerns() == (isConcern ? [.init(.lowInodes, 1)] : []))
    }

    @Test(
        arguments: [
            (.usual, nil), (.fat, .fat), (.withoutJournal, .noJournal), (.exfat, nil), (.fuse, nil), (.network, nil),
            (.memory, nil),
        ] as [(DiskKind, QueueConcern.Code?)])
    func aDiskThatLosesWhatWasSyncedIsAConcern(_ disk: DiskKind, _ code: QueueConcern.Code?) {
        var queue = status([])
        queue.disk = disk
        #expect(queue.concerns().map(\.code) == [code].compactMap(\.self))
    }

    @Test func aDiskThatTakesNothingIsAConcern() {
        var queue = status([])
        (queue.isQuotaFull, queue.isDiskReadOnly, queue.isUnencrypted) = (true, true, true)
        #expect(queue.concerns() == [.init(.lowDisk, 1), .init(.readOnlyDisk, 1), .init(.unencryptedDisk, 1)])
        #expect(queue.concerns(of: "a").isEmpty)
    }

    /// On a disk of 2 MB 5 % are left free; without a floor a full disk is a concern too.
    @Test(arguments: [FreeFloor.standard, .none])
    func aFullDiskIsAConcernWithoutAnySetting(_ floor: FreeFloor) {
        var settings = QueueSettings()
        settings.freeFloor = floor
        #expect(status([], settings: settings, freeBytes: 100_001).concerns().isEmpty)
        #expect(status([], settings: settings, freeBytes: 100_000).concerns() == [.init(.lowDisk, 1)])
        #expect(DiskRoom(floor, free: 0, size: 1 << 50, next: 0).floor == (floor == .none ? nil : 1_000_000_000))
    }

    @Test func aCaptureIsTooOldWhenItHasWaitedForLongerThanTheUserAllows() {
        let queue = status([
            work("a", [.pending: 1], waited: .seconds(3600)),
            work("b", [.pending: 1], waited: .milliseconds(Self.hour + 1)),
        ])
        #expect(queue.concerns().isEmpty)
        #expect(queue.concerns(maxAge: .milliseconds(Self.hour)) == [.init(.old, 1, "b")])
        #expect(queue.concerns(maxAge: .milliseconds(Self.hour + 1)).isEmpty)
        #expect(queue.oldestWaiting?.age == .milliseconds(Self.hour + 1))
    }

    // MARK: - How long it takes

    @Test func destinationsWorkSideBySide() {
        let queue = status([work("a", [.pending: 1]), work("b", [.failed: 4, .held: 100]), work("c", [:])])
        #expect(queue.backlog == .init(captures: 5, bytes: 50))
        #expect(queue.work.map(\.remaining) == [.seconds(2), .seconds(8), nil])
        #expect(queue.remaining == .seconds(8))
    }

    @Test func nothingIsEstimatedWhereNothingIsSent() {
        let stopped = [
            work("a", [.pending: 1], .offline), work("a", [.pending: 1], isPaused: true), work(nil, [.pending: 1]),
        ]
        for one in stopped {
            #expect(one.remaining == nil)
            #expect(status([work("b", [.pending: 1]), one]).remaining == nil)
        }
        #expect(status([work("b", [.pending: 1])], isPaused: true).remaining == nil)
    }

    /// Two transfers side by side, a break of an hour, and one whose first attempt failed.
    @Test func theRateCountsTheTimeInWhichSomethingWasSent() {
        let attempts: [SendingRate.Attempt] = [
            (delivery: 1, bytes: 4000, start: 0, end: 3000),
            (delivery: 2, bytes: 4000, start: 1000, end: 4000),
            (delivery: 3, bytes: 2000, start: Self.hour, end: Self.hour + 500),
            (delivery: 3, bytes: 2000, start: Self.hour + 600, end: Self.hour + 1100),
        ]
        #expect(SendingRate(attempts)?.bytesPerSecond == 2000)
        #expect(SendingRate(attempts.reversed())?.bytesPerSecond == 2000)
        #expect(SendingRate([]) == nil)
        #expect(SendingRate([(delivery: 1, bytes: 9, start: 5, end: 5)])?.bytesPerSecond == 9000)
    }

    @Test func theLargestBacklogOverflowsNothing() {
        #expect(SendingRate(bytesPerSecond: 1)?.time(for: .max) == .milliseconds(1_000_000_000_000_000))
    }
}
