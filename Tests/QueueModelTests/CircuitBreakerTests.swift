import CaptureBundle
import CaptureTestSupport
import QueueModel
import Testing

/// When the queue leaves a destination alone, and what its answers mean for a capture (Spec/queue.md section 6).
struct CircuitBreakerTests {
    private static let start = 1_700_000_000_000
    private static let landed = SendOutcome.completed(receipt: "", remoteID: nil, remoteURL: nil)
    private static let failed = SendOutcome.failed(code: "http.500", message: "no")
    private static let broken = SendOutcome.unclear(code: "curl.56", message: "it broke")
    private static let refused = SendOutcome.rejected(code: "http.400", message: "not this one")
    private static let offline = SendOutcome.blocked(Block(.offline, "nobody there"))
    private static let forbidden = SendOutcome.blocked(Block(.credentials, "403"))
    private static let later = SendOutcome.blocked(Block(.wait, "later", pause: .seconds(60)))

    /// Begins one attempt and ends it at once; nil if none may begin.
    @discardableResult
    private func `try`(
        _ outcome: SendOutcome, _ capture: Int, _ state: inout CircuitBreaker,
        _ refusal: CircuitBreaker.Refusal = .ofDestination, at now: Int = start
    ) -> CircuitBreaker.Verdict? {
        state.begin(at: now).map { state.ended($0, outcome, capture: capture, refusal, at: now) }
    }

    private func begun(_ state: inout CircuitBreaker, at now: Int = start) throws -> CircuitBreaker.Ticket {
        let ticket = state.begin(at: now)
        return try #require(ticket)
    }

    /// Takes the values that must be saved, and checks that they are returned only once.
    private func saved(_ state: inout CircuitBreaker) throws -> CircuitBreaker.Saved {
        let (saved, again) = (state.takeUnsaved(), state.takeUnsaved())
        #expect(again == nil)
        return try #require(saved)
    }

    private func after(_ outcome: SendOutcome, of captures: [Int]) -> CircuitBreaker {
        var state = CircuitBreaker()
        for capture in captures { `try`(outcome, capture, &state) }
        return state
    }

    // MARK: - SlowDown

    @Test func waitsLongerWithEachSlowDownUntilOneLands() throws {
        var block = Block(.wait, "SlowDown")
        block.isOfRate = true
        var (state, now) = (CircuitBreaker(), Self.start)
        for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            `try`(.blocked(block), 1, &state, at: now)
            #expect(state.permission(at: now) == .wait(until: now + seconds * 1000))
            now += seconds * 1000
        }
        `try`(Self.landed, 1, &state, at: now)
        `try`(.blocked(block), 1, &state, at: now)
        #expect(state.permission(at: now) == .wait(until: now + 1000))
        // A time that the server gave counts as it is, and no later pause grows from it.
        now += 1000
        `try`(.blocked(Block(.wait, "later", pause: .seconds(3600))), 1, &state, at: now)
        now += 3_600_000
        `try`(.blocked(block), 1, &state, at: now)
        #expect(state.permission(at: now) == .wait(until: now + 1000))
    }

    // MARK: - Failures

    @Test func blocksWithTheFifthFailureOfThreeCapturesAndNotBefore() {
        #expect(after(Self.failed, of: [1, 2, 3, 4]).block == nil)
        let state = after(Self.failed, of: [1, 2, 3, 4, 5])
        #expect(state.block?.reason == .failing)
        #expect(state.permission(at: Self.start) == .wait(until: Self.start + 15_000))
        #expect(after(Self.failed, of: [1, 2, 1, 2, 1, 2, 1, 2, 1, 2]).block == nil)
        #expect(after(Self.failed, of: [1, 1, 1, 2, 3]).block != nil)
        #expect(after(Self.failed, of: Array(repeating: 7, count: 1000)).block == nil)
    }

    @Test func doesNotBlockWhileOthersLand() {
        var state = CircuitBreaker()
        for capture in 0..<1000 {
            `try`(capture % 5 == 4 ? Self.landed : Self.failed, capture, &state)
            #expect(state.block == nil)
        }
    }

    @Test func waitsTwiceAsLongAfterEachTrialUpToFiveMinutes() throws {
        var state = after(Self.failed, of: [1, 2, 3, 4, 5])
        var now = Self.start
        var pauses: [Int] = []
        for capture in 6..<14 {
            let until = try #require(state.block?.until?.milliseconds)
            pauses.append((until - now) / 1000)
            #expect(state.permission(at: until - 1) == .wait(until: until))
            now = until
            let ticket = try begun(&state, at: now)
            // A second transfer must wait for the trial.
            #expect(state.permission(at: now + 3_600_000) == .wait(until: nil))
            _ = state.ended(ticket, Self.failed, capture: capture, at: now)
        }
        #expect(pauses == [15, 30, 60, 120, 240, 300, 300, 300])
        `try`(Self.landed, 20, &state, at: now + 300_000)
        #expect(state.block == nil && state.saved.failures.isEmpty)
    }

    @Test func burnsNoAttemptForABrokenLineWhileTheDestinationFails() throws {
        var state = after(Self.broken, of: [1, 2, 3, 4])
        // Attempts count until it is known that all captures fail.
        let fifth = `try`(Self.broken, 5, &state)
        #expect(fifth?.isParked == false)
        var now = Self.start
        for (capture, outcome, isParked) in [(6, Self.broken, true), (7, Self.failed, false), (8, Self.broken, true)] {
            now += 300_000
            let verdict = `try`(outcome, capture, &state, at: now)
            #expect(verdict?.isParked == isParked)
        }
    }

    /// A connection that goes away during an outage does not begin a new outage.
    @Test func burnsNothingWhereItIsOfflineAmidAnOutage() throws {
        var state = after(Self.broken, of: [1, 2, 3, 4, 5])
        var now = Self.start + 15_000
        `try`(Self.offline, 6, &state, at: now)
        #expect(state.block?.reason == .offline)
        now += 1000
        #expect(state.permission(at: now) == .connect)
        let ticket = try begun(&state, at: now)
        let change = state.connected(ticket, nil, at: now)
        #expect(change == nil)
        #expect(state.block?.reason == .failing && state.permission(at: now) == .go)
        let verdict = `try`(Self.broken, 7, &state, at: now)
        #expect(verdict?.isParked == true)
    }

    @Test func countsAgainForACaptureThatIsAlone() {
        var state = after(Self.broken, of: [1, 2, 3, 4, 5])
        var verdicts: [Bool?] = []
        for number in 1...6 {
            verdicts.append(`try`(Self.broken, 9, &state, at: Self.start + number * 300_000)?.isParked)
        }
        #expect(verdicts == [true, true, true, false, false, false])
        #expect(state.block == nil)
    }

    // MARK: - Outages

    private static let outage: SendOutcome = {
        var block = Block(.failing, "a proxy answered 502")
        block.code = "edge.502"
        return .blocked(block)
    }()
    private static let hour = 3_600_000

    /// The pauses in seconds between trials, each of which ends at once.
    private func pauses(_ state: inout CircuitBreaker, _ count: Int, hasBody: Bool) -> [Int] {
        var now = Self.start
        return (0..<count).map { _ in
            if let ticket = state.begin(at: now) {
                _ = state.ended(ticket, Self.outage, capture: 1, hasBody: hasBody, at: now)
            }
            let until = state.block?.until?.milliseconds ?? now
            defer { now = until }
            return (until - now) / 1000
        }
    }

    @Test func waitsInAnOutageFromTheFirstTryAndAnHourAfterAnHour() {
        var state = CircuitBreaker()
        let found = pauses(&state, 19, hasBody: false)
        #expect(found == [15, 30, 60, 120, 240] + Array(repeating: 300, count: 11) + [3600, 3600, 3600])
        // 15 + 30 + 60 + 120 + 240 seconds, and 11 times 300, are more than an hour: then only a person can end it.
        #expect(state.block?.reason == .failing && state.block?.needsUser == true)
        var young = CircuitBreaker()
        _ = pauses(&young, 15, hasBody: false)
        #expect(young.block?.needsUser == false)
    }

    @Test func sendsFiveBodiesAnHourIntoAnOutage() {
        var state = CircuitBreaker()
        // The fifth body was sent 225 seconds after the first; an hour after that the next may follow.
        #expect(pauses(&state, 6, hasBody: true) == [15, 30, 60, 120, 3600 - 225, 3600])
    }

    @Test func remembersAnOutageAndTriesAtOnceInTheNextRun() throws {
        var state = after(Self.outage, of: [1])
        let saved = try saved(&state)
        #expect(saved.outage?.code == "edge.502" && saved.outage == saved.outage.flatMap { Outage(text: $0.text) })
        var next = CircuitBreaker(saved, at: Self.start + 1000)
        #expect(next.permission(at: Self.start + 1000) == .go && next.saved.outage == saved.outage)
        // The outage has lasted for an hour, although most of it passed between the runs.
        `try`(Self.outage, 1, &next, at: Self.start + Self.hour)
        #expect(next.block?.needsUser == true)
        // Five bodies were sent: a new run waits, too.
        var tired = CircuitBreaker()
        _ = pauses(&tired, 5, hasBody: true)
        let late = CircuitBreaker(try self.saved(&tired), at: Self.start + 600_000)
        #expect(late.permission(at: Self.start + 600_000) == .wait(until: Self.start + Self.hour))
    }

    @Test(arguments: [failed, landed, refused, later, .conflict(message: "other")])
    func endsAnOutageOnceTheServerAnswers(_ outcome: SendOutcome) {
        var state = after(Self.outage, of: [1])
        `try`(outcome, 1, &state, at: Self.start + 15_000)
        #expect(state.saved.outage == nil)
    }

    @Test func keepsAnOutageWhileTheServerCannotBeReached() throws {
        var state = after(Self.outage, of: [1])
        let now = Self.start + 15_000
        `try`(Self.offline, 1, &state, at: now)
        #expect(state.block?.reason == .offline && state.saved.outage != nil)
        let ticket = try begun(&state, at: now + 1000)
        _ = state.connected(ticket, nil, at: now + 1000)
        #expect(state.block?.reason == .failing && state.permission(at: now + 1000) == .go)
        let isTried = state.networkChanged(at: now + 1000)
        #expect(isTried)
    }

    @Test func blocksNothingForAnOutageThatIsTheCapturesOwn() {
        var state = CircuitBreaker()
        `try`(Self.outage, 1, &state, .ofCapture)
        #expect(state.block == nil && state.saved.outage == nil)
    }

    /// The clock is set back by a year in an outage.
    @Test func waitsNoLongerThanAnHourAfterAClockThatWasAhead() throws {
        var state = CircuitBreaker()
        _ = pauses(&state, 5, hasBody: true)
        let now = Self.start - 365 * 24 * Self.hour
        var known = CircuitBreaker.Saved()
        known.outage = try saved(&state).outage
        var next = CircuitBreaker(known, at: now)
        `try`(Self.outage, 1, &next, at: now)
        #expect(next.permission(at: now) == .wait(until: now + 15_000))
    }

    // MARK: - Refusals

    @Test func takesRefusalsBackOnceFiveInARowAreOfThreeCaptures() throws {
        var state = after(Self.refused, of: [1, 2, 3, 4])
        #expect(state.block == nil)
        let fifth = `try`(Self.refused, 5, &state)
        #expect(fifth?.isParked == true && fifth?.takenBack == [1, 2, 3, 4])
        #expect(state.block?.reason == .refusing && state.block?.needsUser == true)
        #expect(state.permission(at: Self.start) == .wait(until: Self.start + 300_000))
        // One attempt is allowed every five minutes, and each capture waits again after any of these answers.
        var now = Self.start
        let heard = [Self.refused, Self.failed, .conflict(message: "other bytes"), Self.later]
        for (capture, outcome) in heard.enumerated() {
            now += 300_000
            let verdict = `try`(outcome, capture + 6, &state, at: now)
            #expect(verdict?.isParked == true && verdict?.takenBack == [])
        }
        let end = `try`(Self.landed, 10, &state, at: now + 300_000)
        #expect(end?.change == .ready && end?.isParked == false && state.saved.refusals.isEmpty)
        let next = `try`(Self.refused, 11, &state)
        #expect(next?.isParked == false)
    }

    @Test func takesBackARefusalThatItsOwnTransferWritesDownLater() {
        var state = after(Self.refused, of: [1, 2, 3, 4])
        #expect(!state.takesBack(1))
        `try`(Self.refused, 5, &state)
        #expect(state.takesBack(1) && state.takesBack(4) && !state.takesBack(9))
    }

    @Test func obeysRefusalsOfFewCapturesAndThoseBetweenWhichOthersLand() {
        #expect(after(Self.refused, of: [1, 2, 1, 2, 1, 2]).block == nil)
        var state = CircuitBreaker()
        for capture in 0..<100 {
            let verdict = `try`(capture % 5 == 4 ? Self.landed : Self.refused, capture, &state)
            #expect(verdict?.isParked == false)
        }
    }

    @Test func knowsInTheNextRunWhatWasRefusedInTheLast() throws {
        var state = after(Self.refused, of: [1, 2])
        for capture in 3...5 {
            state = CircuitBreaker(try saved(&state), at: Self.start)
            `try`(Self.refused, capture, &state)
        }
        let saved = try saved(&state)
        #expect(saved.block?.reason == .refusing)
        // A new run does not try any sooner.
        state = CircuitBreaker(saved, at: Self.start + 1000)
        #expect(state.permission(at: Self.start + 1000) == .wait(until: Self.start + 300_000))
    }

    @Test func triesAtOnceInANewRunWhatOnlyTheUserCanMend() {
        var saved = CircuitBreaker.Saved()
        saved.block = Block(
            .credentials, "401", pause: .seconds(300), until: CaptureTime(clamping: Self.start + 300_000))
        #expect(CircuitBreaker(saved, at: Self.start).permission(at: Self.start) == .go)
    }

    // MARK: - Refusals that may be the capture's own

    @Test func blocksOnceAnotherCaptureIsRefusedInPlaceOfTheFirst() {
        var state = CircuitBreaker()
        let first = `try`(Self.forbidden, 1, &state, .unclear)
        #expect(first == CircuitBreaker.Verdict() && state.block == nil && state.takeUnsaved() == nil)
        // A failure tells nothing about it.
        `try`(Self.failed, 2, &state)
        let second = `try`(Self.forbidden, 3, &state, .unclear)
        #expect(second?.change == state.block.map { .blocked($0) } && state.block?.reason == .credentials)
        #expect(state.permission(at: Self.start) == .wait(until: Self.start + 300_000))
        // While it is blocked, the trial alone decides.
        `try`(Self.forbidden, 4, &state, .unclear, at: Self.start + 300_000)
        #expect(state.permission(at: Self.start + 300_000) == .wait(until: Self.start + 600_000))
    }

    @Test(arguments: [landed, .accepted(remoteID: nil, remoteURL: nil)]) func doesNotBlockWhileOthersLandInTheirPlace(
        _ outcome: SendOutcome
    ) {
        var state = CircuitBreaker()
        for capture in 0..<1000 {
            `try`(capture % 2 == 0 ? Self.forbidden : outcome, capture, &state, .unclear)
            #expect(state.block == nil)
        }
    }

    @Test func blocksAtOnceWhereNothingElseCanBeTried() {
        #expect(after(Self.forbidden, of: [1]).block?.reason == .credentials)
    }

    @Test func learnsNothingFromARefusalThatIsTheCapturesOwn() {
        var state = CircuitBreaker()
        for _ in 0..<10 { `try`(Self.forbidden, 1, &state, .ofCapture) }
        #expect(state.block == nil)
        for capture in [2, 3] { `try`(Self.forbidden, capture, &state, .unclear) }
        let until = Self.start + 300_000
        let own = `try`(Self.forbidden, 1, &state, .ofCapture, at: until)
        // The next trial is another capture's, at once.
        #expect(own == CircuitBreaker.Verdict() && state.block != nil && state.permission(at: until) == .go)
        var refusing = after(Self.refused, of: [1, 2, 3, 4, 5])
        let parked = `try`(Self.forbidden, 6, &refusing, .ofCapture, at: until)
        #expect(parked?.isParked == true)
    }

    @Test func doubtsARefusalInAPoll() throws {
        var state = CircuitBreaker()
        for isBlocked in [false, true] {
            let ticket = try begun(&state)
            _ = state.polled(ticket, Self.forbidden, capture: 1, .unclear, at: Self.start)
            #expect((state.block != nil) == isBlocked)
        }
    }

    // MARK: - Old transfers

    @Test func isNotUnblockedByATransferThatBeganBefore() throws {
        for outcome in [Self.landed, Self.refused, Self.failed, .conflict(message: "other"), Self.offline] {
            var state = CircuitBreaker()
            let old = try begun(&state)
            `try`(Self.later, 1, &state)
            let verdict = state.ended(old, outcome, capture: 2, at: Self.start + 3000)
            #expect(verdict.change == nil)
            #expect(state.permission(at: Self.start + 3000) == .wait(until: Self.start + 60_000))
        }
    }

    /// A server that takes all captures and refuses them when it is asked.
    @Test func countsRefusalsInPollsAlthoughTheServerTookTheCaptures() throws {
        var state = CircuitBreaker()
        for capture in 1...5 {
            `try`(.accepted(remoteID: nil, remoteURL: nil), capture, &state)
            let ticket = try begun(&state)
            let verdict = state.polled(ticket, Self.refused, capture: capture, at: Self.start)
            #expect(verdict.takenBack == (capture == 5 ? [1, 2, 3, 4] : []) && verdict.isParked == (capture == 5))
        }
        let until = try #require(state.block?.until?.milliseconds)
        `try`(.accepted(remoteID: nil, remoteURL: nil), 6, &state, at: until)
        #expect(state.block?.reason == .refusing && state.permission(at: until) == .wait(until: until + 300_000))
        let ticket = try begun(&state, at: until + 300_000)
        _ = state.polled(ticket, Self.landed, capture: 6, at: until + 300_000)
        #expect(state.block == nil && state.saved.refusals.isEmpty)
    }

    @Test func takesTheLongerWaitOfTwoTransfers() throws {
        var state = CircuitBreaker()
        let old = try begun(&state)
        `try`(Self.later, 1, &state)
        let longer = SendOutcome.blocked(Block(.wait, "much later", pause: .seconds(3600)))
        _ = state.ended(old, longer, capture: 2, at: Self.start)
        #expect(state.block?.until?.milliseconds == Self.start + 3_600_000)
    }

    @Test func isNotBlockedByATransferOfTheOldSettings() throws {
        var state = CircuitBreaker()
        let old = try begun(&state)
        _ = state.adopt(isPaused: false, lifts: 1)
        _ = state.ended(old, .blocked(Block(.credentials, "401")), capture: 1, at: Self.start)
        #expect(state.block == nil)
    }

    @Test func countsConnectionsForTheDestinationAndNotForEachTransfer() throws {
        var state = CircuitBreaker()
        let tickets = try (0..<8).map { _ in try begun(&state) }
        for (number, ticket) in tickets.enumerated() {
            _ = state.ended(ticket, Self.offline, capture: number, at: Self.start)
        }
        var (now, waits) = (Self.start, [Int]())
        for _ in 0..<8 {
            let until = try #require(state.block?.until?.milliseconds)
            waits.append((until - now) / 1000)
            now = until
            let ticket = try begun(&state, at: now)
            // Only one transfer connects.
            #expect(state.permission(at: now) == .wait(until: nil))
            _ = state.connected(ticket, Block(.offline, "nobody there"), at: now)
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60])
        let isOffline = state.networkChanged(at: now)
        #expect(isOffline && state.permission(at: now) == .connect)
        let ticket = try begun(&state, at: now)
        _ = state.connected(ticket, Block(.offline, "nobody there"), at: now)
        #expect(state.block?.until?.milliseconds == now + 1000)
    }

    // MARK: - Random events

    /// In any order of events there are never two trials at once, and never an unrequested pause of over five minutes.
    @Test(arguments: isLongRun ? [1, 2, 3] : [1] as [UInt64]) func neverLosesItsWayInWhateverOrderThingsHappen(
        _ seed: UInt64
    ) {
        var generator = SeededGenerator(seed: seed)
        var (state, now) = (CircuitBreaker(), Self.start)
        var open: [CircuitBreaker.Ticket] = []
        let outcomes = [
            Self.landed, Self.failed, Self.broken, Self.refused, Self.offline, .conflict(message: "other"),
            .parked(cause: "stopped", isInDoubt: false), .blocked(Block(.full, "no room")), Self.forbidden, Self.outage,
        ]
        for _ in 0..<(isLongRun ? 20_000 : 5000) {
            now += Int.random(in: 0...20_000, using: &generator)
            let wasBlocked = state.block != nil
            if open.count < 4, let ticket = state.begin(at: now) {
                open.append(ticket)
                #expect(!wasBlocked || state.permission(at: now) == .wait(until: nil))
            }
            if let until = state.block?.until?.milliseconds {
                #expect(until - now <= (state.saved.outage == nil ? 300_000 : Self.hour))
            }
            guard !open.isEmpty, Bool.random(using: &generator) else { continue }
            let ticket = open.remove(at: Int.random(in: 0..<open.count, using: &generator))
            let outcome = outcomes[Int.random(in: 0..<outcomes.count, using: &generator)]
            let refusals = [CircuitBreaker.Refusal.ofDestination, .unclear, .ofCapture]
            let refusal = refusals[Int.random(in: 0..<3, using: &generator)]
            _ = state.ended(ticket, outcome, capture: Int.random(in: 0..<4, using: &generator), refusal, at: now)
        }
        // The destination can always recover: with no transfer under way, one success ends all blocks.
        for ticket in open { state.abandoned(ticket) }
        if let ticket = state.begin(at: now + Self.hour) {
            _ = state.ended(ticket, Self.landed, capture: 1, at: now + Self.hour)
        }
        #expect(state.block == nil)
    }
}
