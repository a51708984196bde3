import CaptureNative
import CaptureTestSupport
import QueueModel
import SystemPackage
import Testing

@testable import CaptureQueue
@testable import QueueFiles

/// What `hold` and `cancel` interrupt is in doubt until its own claim says that nothing can have arrived.
struct InterruptedClaimTests {
    private let queues: QueueRoom
    private var queue: UploadQueue { queues.queue }
    private var claims: Claims { Claims(queue) }

    init() throws { queues = try QueueRoom() }

    private func claim() throws -> Claim {
        try #require(try claims.next(for: queue.destinations.find("disk")))
    }

    private func settle(_ claim: Claim, _ outcome: SendOutcome) throws {
        _ = try queue.store.write { try claims.settle(claim, with: outcome, AttemptContext(), in: $0) }
    }

    private func isInDoubt(_ id: String) throws -> Bool? { try queue.captures.find(id).deliveries.first?.isInDoubt }

    @Test(arguments: [
        (SendOutcome.failed(code: "curl.7", message: "no connection"), false),
        (.parked(cause: "stopped", isInDoubt: false), false), (.parked(cause: "stopped", isInDoubt: true), true),
        (.unclear(code: "http.500", message: "500"), true), (.accepted(remoteID: "x", remoteURL: nil), true),
        (.completed(receipt: "r", remoteID: nil, remoteURL: nil), true),
    ]) func itsOwnSettlingEndsTheDoubtIfNothingArrived(_ outcome: SendOutcome, _ stays: Bool) throws {
        for (change, back) in [(UserChange.hold, UserChange.release), (.cancel, .retry)] {
            let id = try queues.push("\(change) \(outcome.words.outcome)")
            let claim = try claim()
            try queue.captures.change(change, id)
            #expect(try isInDoubt(id) == true)
            try queue.captures.change(back, id)
            #expect(try isInDoubt(id) == true)
            try settle(claim, outcome)
            #expect(try isInDoubt(id) == stays)
            try queue.captures.change(.cancel, id)
        }
    }

    @Test func aDoubtFromBeforeStays() throws {
        let id = try queues.push("a")
        try settle(claim(), .parked(cause: "stopped", isInDoubt: true))
        let second = try claim()
        try queue.captures.change(.hold, id)
        try settle(second, .failed(code: "curl.7", message: "no connection"))
        #expect(try isInDoubt(id) == true)
    }

    @Test func aLaterClaimKeepsTheDoubt() throws {
        let id = try queues.push("a")
        let first = try claim()
        try queue.captures.change(.hold, id)
        try queue.captures.change(.release, id)
        let second = try claim()
        #expect(second.delivery.isInDoubt)
        try settle(first, .failed(code: "curl.7", message: "no connection"))
        #expect(try isInDoubt(id) == true)
        try claims.giveBack(second)
        #expect(try isInDoubt(id) == true)
    }

    @Test func aClaimThatIsGivenBackEndsTheDoubt() throws {
        let id = try queues.push("a")
        let claim = try claim()
        try queue.captures.change(.cancel, id)
        try claims.giveBack(claim)
        #expect(try isInDoubt(id) == false)
        #expect(try queues.state(id) == .cancelled)
    }

    /// The writer slept, and the lane waited for it.
    @Test(.timeLimit(.minutes(1))) func aBeginThatCannotBeRecordedLeavesNoLaneWaiting() throws {
        _ = try queues.push("a")
        let destination = try queue.destinations.find("disk")
        let owner = RunOwner(clock: { 0 }, onEvent: { _ in })
        let full = try FileHandle.open("/dev/full", FileHandle.newOrExistingFile, mode: 0o600)
        let writer = ResultWriter(queue, owner, begun: BegunClaims(file: full))
        #expect(writer.start())
        let pool = owner.with { $0.poolStarts(destination, concurrency: 1) }
        let lane = owner.with { $0.laneStarts(pool, 0) }
        let claim = try claim()
        MonotonicClock.sleep(0.1)
        #expect(throws: QueueError.self) { try writer.begins(claim, lane) }
        _ = try writer.takeNext(lane)
        owner.with { $0.laneEnded(lane) }
        writer.end()
    }
}
