import CaptureBundle
import CaptureTestSupport
import QueueModel
import QueueTransports
import Testing

@testable import CaptureQueue

/// The state of a run as a value: events in any order, without threads. The claims are real ones of a queue.
struct RunStateTests {
    private let destination: Destination
    private let claims: [Claim]

    init() throws { (destination, claims) = try Self.made.get() }

    /// Twelve captures, of which three are of a session. They are made once, because that takes longer than the tests.
    private static let made = Result {
        let room = try QueueRoom()
        try room.queue.destinations.change("disk") { try $0.set(["concurrency": "3"]) }
        let destination = try room.queue.destinations.find("disk")
        for number in 0..<12 { _ = try room.push("\(number)") { $0.session = number % 4 == 0 ? "monday" : nil } }
        var claims: [Claim] = []
        while let claim = try Claims(room.queue).next(for: destination) {
            claims.append(claim)
            // The next member of a session can only be claimed when this one is settled.
            let settled = try room.queue.store.write {
                try Claims(room.queue).settle(claim, with: .rejected(code: "x", message: "x"), AttemptContext(), in: $0)
            }
            #expect(settled != nil)
        }
        #expect(claims.count == 12)
        return (destination, claims)
    }

    private func ended(
        _ claim: Claim, _ outcome: SendOutcome = .failed(code: "http.500", message: "no")
    ) -> RunState.Ended {
        RunState.Ended(claim: claim, outcome: outcome, context: AttemptContext(), at: 0, seconds: 0)
    }

    /// Three busy lanes, each with nothing claimed ahead yet.
    private func busy() -> (state: RunState, pool: Int, lanes: [Int]) {
        var state = RunState()
        _ = state.adopted(destination, at: 0)
        let pool = state.poolStarts(destination, concurrency: 3)
        let lanes = (0..<3).map { state.laneStarts(pool, $0) }
        for lane in lanes { _ = state.sendingBegins(plain[lane], lane) }
        return (state, pool, lanes)
    }

    private var plain: [Claim] { claims.filter { $0.capture.session == nil } }

    @Test func claimsAheadOnceAllLanesAreBusy() {
        var state = RunState()
        _ = state.adopted(destination, at: 0)
        let pool = state.poolStarts(destination, concurrency: 3)
        let lanes = (0..<3).map { state.laneStarts(pool, $0) }
        for lane in lanes.dropLast() { _ = state.sendingBegins(plain[lane], lane) }
        let before = state.storingBegins(hasRoom: true, at: 0).claiming
        state = busy().state
        let withoutRoom = state.storingBegins(hasRoom: false, at: 0).claiming
        state = busy().state
        let claiming = state.storingBegins(hasRoom: true, at: 0).claiming
        #expect(before.isEmpty && withoutRoom.isEmpty && claiming.map(\.lane) == lanes)
    }

    @Test func givesBackWhatWasClaimedForLanesThatMayNotSend() {
        var (state, pool, lanes) = busy()
        let batch = state.storingBegins(hasRoom: true, at: 0)
        state.storingEnded(batch, .success(Dictionary(uniqueKeysWithValues: lanes.map { ($0, plain[3 + $0]) })))
        #expect(Set(state.waiting) == Set(plain[3..<6]))
        var paused = state
        let isNew = paused.pauseIs(true)
        #expect(isNew)
        let whilePaused = paused.storingBegins(hasRoom: true, at: 0).returned
        let ticket = paused.begins(destination, at: 0)
        #expect(Set(whilePaused) == Set(plain[3..<6]) && ticket == nil)
        var changed = state
        changed.poolEnds(pool)
        let afterChange = changed.storingBegins(hasRoom: true, at: 0).returned
        #expect(afterChange.count == 3)
        state.poolIsLimited(pool, to: 1)
        let ofFewer = state.storingBegins(hasRoom: true, at: 0).returned
        #expect(Set(ofFewer) == Set(plain[4..<6]))
    }

    /// New settings mean new lanes, which may look before the old ones give claims back.
    @Test func lanesLookAgainForWhatWasGivenBack() {
        var (state, pool, lanes) = busy()
        let batch = state.storingBegins(hasRoom: true, at: 0)
        state.storingEnded(batch, .success([lanes[0]: plain[3]]))
        let movedBefore = state.takeMoved()
        state.poolEnds(pool)
        let other = state.poolStarts(destination, concurrency: 1)
        let lane = state.laneStarts(other, 0)
        _ = state.laneDoes(.waiting(until: nil), lane)
        let worksBefore = state.isWorking(other)
        let given = state.storingBegins(hasRoom: true, at: 0)
        state.storingEnded(given, .success([:]))
        let moved = state.takeMoved()
        state.poolIsWoken(other)
        #expect(!movedBefore && !worksBefore && given.returned == [plain[3]] && moved && state.isWorking(other))
        _ = state.stepBegins(lane)
        #expect(!state.isWorking(other))
    }

    @Test func letsAFreeLaneTakeWhatWasClaimedForABusyOne() throws {
        var (state, _, lanes) = busy()
        let batch = state.storingBegins(hasRoom: true, at: 0)
        state.storingEnded(batch, .success([lanes[0]: plain[3]]))
        state.sendingEnded(ended(plain[1]), lanes[1])
        // Its own result is not stored yet.
        let early = state.nextAsked(lanes[1], begins: true)
        #expect(early == nil)
        state.storingEnded(state.storingBegins(hasRoom: true, at: 0), .success([:]))
        let (taken, nothing) = (
            try state.nextAsked(lanes[1], begins: true)?.get(), try state.nextAsked(lanes[1], begins: true)?.get()
        )
        #expect(taken?.claim == plain[3] && nothing == nil)
    }

    /// The next member is for the lane that sends the one before, and begins only if that lands.
    @Test func keepsTheNextMemberOfASessionForItsLane() throws {
        var (state, _, lanes) = busy()
        let members = claims.filter { $0.capture.session != nil }
        state.sendingEnded(ended(plain[2]), lanes[2])
        state.storingEnded(state.storingBegins(hasRoom: true, at: 0), .success([:]))
        _ = state.sendingBegins(members[0], lanes[2])
        let batch = state.storingBegins(hasRoom: true, at: 0)
        #expect(batch.claiming.map(\.lane) == [lanes[2]] && batch.claiming.map(\.sent) == [members[0]])
        state.storingEnded(batch, .success([lanes[2]: members[1]]))
        state.sendingEnded(ended(plain[0]), lanes[0])
        state.storingEnded(state.storingBegins(hasRoom: true, at: 0), .success([:]))
        let lent = try state.nextAsked(lanes[0], begins: true)?.get()
        #expect(lent == nil)
        // An answer that is not decided yet closes the member, too.
        let taken: [SendOutcome] = [
            .completed(receipt: "{}", remoteID: nil, remoteURL: nil), .accepted(remoteID: nil, remoteURL: nil),
        ]
        for outcome in taken {
            var landed = state
            landed.sendingEnded(ended(members[0], outcome), lanes[2])
            let next = try landed.nextAsked(lanes[2], begins: true)?.get()
            #expect(next?.claim == members[1])
        }
        state.sendingEnded(ended(members[0]), lanes[2])
        let early = state.nextAsked(lanes[2], begins: true)
        let returned = state.storingBegins(hasRoom: true, at: 0).returned
        #expect(early == nil && returned == [members[1]])
    }

    /// The one before is left out only while it is being sent.
    @Test func aMemberWaitsIfTheOneBeforeIsOpenAgain() throws {
        let room = try QueueRoom()
        let claims = Claims(room.queue)
        let disk = try room.queue.destinations.find("disk")
        for name in ["a", "b"] { _ = try room.push(name) { $0.session = "monday" } }
        let first = try #require(try claims.next(for: disk))
        let second = try room.queue.store.write { db in
            try claims.next(
                for: disk, after: first, dueBefore: nil, at: room.queue.clock.observe(db).time(in: nil), db)
        }
        let next = try #require(second)
        #expect(try claims.isStillNext(next, after: first, dueBefore: nil, at: .max))
        _ = try room.queue.store.write { db in
            try claims.settle(first, with: .failed(code: "x", message: "x"), AttemptContext(), in: db)
        }
        #expect(try !claims.isStillNext(next, after: first, dueBefore: nil, at: .max))
    }

    /// One transaction stores its last result and makes its next claim.
    @Test func storesOnceALaneHasBegunWhatWasClaimedAhead() {
        var (state, _, lanes) = busy()
        state.storingEnded(state.storingBegins(hasRoom: true, at: 0), .success([lanes[0]: plain[3]]))
        state.sendingEnded(ended(plain[0]), lanes[0])
        let early = state.writerGoesOn
        var pausing = state
        pausing.lanePauses(lanes[0])
        #expect(early == nil && pausing.writerGoesOn == true)
        let next = state.nextAsked(lanes[0], begins: true)
        let stillEarly = state.writerGoesOn
        #expect(next != nil && stillEarly == nil)
        _ = state.sendingBegins(plain[3], lanes[0])
        #expect(state.writerGoesOn == true)
        let batch = state.storingBegins(hasRoom: true, at: 0)
        #expect(batch.ended.map(\.claim) == [plain[0]] && batch.claiming.map(\.lane) == [lanes[0]])
    }

    /// A lane that waits for a claim begins it at once, so the results of others wait for that.
    @Test func waitsForALaneThatGetsAClaim() {
        var (state, _, lanes) = busy()
        let batch = state.storingBegins(hasRoom: true, at: 0)
        state.sendingEnded(ended(plain[0]), lanes[0])
        state.sendingEnded(ended(plain[1]), lanes[1])
        let waits = state.nextAsked(lanes[0], begins: true)
        state.storingEnded(batch, .success([lanes[0]: plain[3]]))
        #expect(waits == nil && state.writerGoesOn == nil)
        _ = state.nextAsked(lanes[0], begins: true)
        _ = state.sendingBegins(plain[3], lanes[0])
        #expect(state.writerGoesOn == true)
        #expect(state.storingBegins(hasRoom: true, at: 0).ended.count == 2)
    }

    /// What was claimed meanwhile for a lane without bytes does not begin: it is given back with the lane's result.
    @Test func doesNotWaitForALaneWithoutBytes() {
        var (state, _, lanes) = busy()
        let batch = state.storingBegins(hasRoom: true, at: 0)
        state.sendingEnded(ended(plain[0], .damaged(message: "x")), lanes[0])
        let waits = state.nextAsked(lanes[0], begins: true)
        state.storingEnded(batch, .success([lanes[0]: plain[3]]))
        #expect(waits == nil && state.writerGoesOn == true)
        let next = state.storingBegins(hasRoom: true, at: 0)
        #expect(next.returned == [plain[3]])
    }

    /// Neither the lane that gives its claim back nor one that met an error keeps the others from being stored.
    @Test func doesNotWaitForALaneThatWillNotBegin() {
        var (state, _, lanes) = busy()
        state.storingEnded(
            state.storingBegins(hasRoom: true, at: 0), .success([lanes[0]: plain[3], lanes[1]: plain[4]]))
        let batch = state.storingBegins(hasRoom: true, at: 0)
        state.sendingEnded(ended(plain[0]), lanes[0])
        state.sendingEnded(ended(plain[1]), lanes[1])
        let given = state.nextAsked(lanes[0], begins: false)
        state.storingEnded(batch, .failure(QueueError(.busy, "busy", of: "a")))
        let failed = state.nextAsked(lanes[1], begins: true)
        #expect(given != nil && failed != nil && state.writerGoesOn == true)
    }

    @Test func stopsAtOnceWhenAskedTwiceAndKeepsTheFirstFault() {
        var state = RunState()
        state.stopAsked(atOnce: false)
        #expect(state.stop == .graceful)
        state.stopAsked(atOnce: false)
        #expect(state.stop == .atOnce)
        state.failed(QueueError(.busy, "first", of: "a"))
        state.failed(QueueError(.busy, "second", of: "a"))
        #expect((state.fault as? QueueError)?.message == "first")
    }

    @Test func sendsAgainWhenItIsPerformedAgain() throws {
        let room = try QueueRoom()
        let run = QueueRun(room.queue, RunOptions()) { _ in }
        for (count, name) in ["a", "b"].enumerated() {
            let id = try room.push(name)
            #expect(try run.perform().completed == count + 1)
            #expect(try room.state(id) == .completed)
        }
    }

    /// Whatever happens in whatever order: a claim is in one place, nothing begins after the end, and at the end every claim
    /// was handed in or given back.
    @Test(arguments: 1...(isLongRun ? 60 : 5)) func losesNoClaim(_ seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        func chance(_ outOf: Int) -> Bool { Int.random(in: 0..<outOf, using: &generator) == 0 }
        var (state, pool, free) = (RunState(), 0, claims)
        _ = state.adopted(destination, at: 0)
        pool = state.poolStarts(destination, concurrency: 3)
        var sending: [Int: Claim?] = [:]
        for number in 0..<3 { sending[state.laneStarts(pool, number)] = .some(nil) }
        var (open, isOver) = (nil as RunState.Batch?, false)
        func check(_ state: RunState, _ free: [Claim]) {
            let all = (state.waiting + sending.values.compactMap(\.self) + free).map(\.token)
            #expect(all.count == claims.count && Set(all).count == all.count)
            // The writer waits only for a lane that does not send.
            let waits = open == nil && state.writer.isAsked && state.writerGoesOn == nil
            #expect(!waits || sending.values.contains { $0 == nil })
        }
        for step in 0..<200 {
            if step == 150 {
                state.ends()
                state.poolEnds(pool)
                isOver = true
            }
            let lane = Int.random(in: 0..<3, using: &generator)
            if let batch = open, chance(2) {
                // The transaction ends: what was handed in or given back is free again, and lanes get what they asked for.
                var claimed: [Int: Claim] = [:]
                for (lane, _, _) in batch.claiming where !free.isEmpty && !chance(5) {
                    claimed[lane] = free.removeFirst()
                }
                state.storingEnded(batch, .success(claimed))
                free += batch.ended.map(\.claim) + batch.returned
                open = nil
            } else if open == nil, state.writerGoesOn == true {
                let batch = state.storingBegins(hasRoom: !chance(6), at: 0)
                #expect(!isOver || batch.claiming.isEmpty)
                open = batch
            } else if let claim = sending[lane] ?? nil {
                if chance(2) { continue }
                state.sendingEnded(ended(claim), lane)
                sending[lane] = .some(nil)
            } else if let next = state.nextAsked(lane, begins: true) {
                let ahead = try next.get()?.claim
                guard let claim = ahead ?? (free.isEmpty || isOver ? nil : free.removeFirst()) else { continue }
                if state.begins(destination, at: 0) == nil {
                    state.lanePauses(lane)
                    free.append(claim)
                } else {
                    #expect(!isOver)
                    _ = state.sendingBegins(claim, lane)
                    sending[lane] = claim
                }
            }
            if chance(20), !isOver { _ = state.pauseIs(chance(2)) }
            if chance(4) { state.writerIsWoken() }
            check(state, free)
        }
        if let open {
            state.storingEnded(open, .success([:]))
            free += open.ended.map(\.claim) + open.returned
        }
        for (lane, claim) in sending { if let claim { state.sendingEnded(ended(claim), lane) } }
        sending = [:]
        let last = state.storingBegins(hasRoom: true, at: 0)
        state.storingEnded(last, .success([:]))
        #expect(state.waiting.isEmpty && free.count + last.ended.count + last.returned.count == claims.count)
    }
}
