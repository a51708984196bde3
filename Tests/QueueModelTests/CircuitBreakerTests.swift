import CaptureTestSupport
import QueueModel
import Testing

/// When a destination is left alone (Spec/queue.md section 6).
struct CircuitBreakerTests {
    private static let start = 1_700_000_000_000

    /// Open since `start`, by failures of the given captures in turn.
    private func opened(by captures: [Int] = [1, 2, 3, 4, 5]) -> CircuitBreaker {
        var breaker = CircuitBreaker()
        for capture in captures { breaker.failed(capture: capture, at: Self.start) }
        return breaker
    }

    @Test func isClosedAtFirst() {
        #expect(CircuitBreaker().mayStart(at: Self.start) == .yes)
        #expect(CircuitBreaker().mayStart(at: 0) == .yes)
    }

    @Test func opensWithTheFifthFailureAndNotBefore() {
        #expect(opened(by: [1, 2, 3, 4]).mayStart(at: Self.start) == .yes)
        #expect(opened().mayStart(at: Self.start) == .no(until: Self.start + 15_000))
    }

    @Test func opensForThreeCapturesAndNotForTwo() {
        #expect(opened(by: [1, 2, 1, 2, 1, 2, 1, 2, 1, 2]).mayStart(at: Self.start) == .yes)
        #expect(opened(by: [1, 1, 1, 2, 3]).mayStart(at: Self.start) != .yes)
        // Of the last five, not of all there were.
        #expect(opened(by: [1, 2, 2, 2, 2, 3, 3, 3, 3, 4]).mayStart(at: Self.start) == .yes)
        #expect(opened(by: [1, 2, 2, 2, 2, 3, 4]).mayStart(at: Self.start) != .yes)
    }

    @Test func staysClosedForOneCaptureThatAlwaysFails() {
        var breaker = CircuitBreaker()
        for _ in 0..<1000 {
            breaker.failed(capture: 7, at: Self.start)
            #expect(breaker.mayStart(at: Self.start) == .yes)
        }
    }

    @Test func staysClosedWhileOthersArrive() {
        var breaker = CircuitBreaker()
        for capture in 0..<1000 {
            if capture % 5 == 4 { breaker.succeeded() } else { breaker.failed(capture: capture, at: Self.start) }
            #expect(breaker.mayStart(at: Self.start) == .yes)
        }
    }

    @Test func allowsOneTrialWhenThePauseIsOver() {
        var breaker = opened()
        #expect(breaker.mayStart(at: Self.start + 14_999) == .no(until: Self.start + 15_000))
        #expect(breaker.mayStart(at: Self.start + 15_000) == .trial)
        #expect(breaker.mayStart(at: Self.start + 86_400_000) == .trial)
        let now = Self.start + 16_000
        breaker.begin(at: now)
        #expect(breaker.mayStart(at: now) == .no(until: now + 15_000))
        #expect(breaker.mayStart(at: now + 3_600_000) == .no(until: now + 3_615_000))
    }

    @Test func beginsNoTrialBeforeItsTime() {
        var breaker = opened()
        breaker.begin(at: Self.start + 1)
        #expect(breaker.mayStart(at: Self.start + 15_000) == .trial)
    }

    @Test func waitsTwiceAsLongEachTimeUpToFiveMinutes() {
        var breaker = opened()
        var (now, pauses) = (Self.start, [Int]())
        for capture in 0..<8 {
            guard case .no(let until) = breaker.mayStart(at: now) else { break }
            pauses.append(until - now)
            now = until
            #expect(breaker.mayStart(at: now - 1) == .no(until: until))
            breaker.begin(at: now)
            now += 700
            // The same capture again or another: a trial is a trial.
            breaker.failed(capture: capture / 4, at: now)
        }
        #expect(pauses == [15, 30, 60, 120, 240, 300, 300, 300].map { $0 * 1000 })
    }

    @Test func closesWithTheFirstThatArrivesAndForgetsTheRest() {
        var breaker = opened()
        breaker.begin(at: Self.start + 15_000)
        breaker.failed(capture: 1, at: Self.start + 16_000)
        breaker.begin(at: Self.start + 46_000)
        breaker.succeeded()
        #expect(breaker == CircuitBreaker())
        for capture in 1...4 {
            breaker.failed(capture: capture, at: Self.start)
            #expect(breaker.mayStart(at: Self.start) == .yes)
        }
        breaker.failed(capture: 5, at: Self.start)
        #expect(breaker.mayStart(at: Self.start) == .no(until: Self.start + 15_000))
    }

    @Test func triesAgainAtOnceWhenTheTrialWasGivenUp() {
        var breaker = opened()
        breaker.begin(at: Self.start + 15_000)
        breaker.abandoned()
        #expect(breaker.mayStart(at: Self.start + 15_001) == .trial)
        breaker.begin(at: Self.start + 15_001)
        breaker.failed(capture: 1, at: Self.start + 15_002)
        #expect(breaker.mayStart(at: Self.start + 15_003) == .no(until: Self.start + 45_002))
    }

    @Test func takesWhatWasGivenUpForNothing() {
        var breaker = opened(by: [1, 2, 3, 4])
        breaker.abandoned()
        #expect(breaker.mayStart(at: Self.start) == .yes)
        breaker.failed(capture: 5, at: Self.start)
        breaker.abandoned()
        #expect(breaker.mayStart(at: Self.start + 1) == .no(until: Self.start + 15_000))
    }

    /// Several were under way when it opened.
    @Test func isNotPutOffByWhatWasBegunBefore() {
        var breaker = opened()
        breaker.failed(capture: 6, at: Self.start + 10_000)
        breaker.failed(capture: 7, at: Self.start + 20_000)
        #expect(breaker.mayStart(at: Self.start + 15_000) == .trial)
        breaker.succeeded()
        #expect(breaker.mayStart(at: Self.start + 15_000) == .yes)
    }

    @Test func doesNotWaitForAClockThatWasSetBack() {
        #expect(opened().mayStart(at: Self.start - 1) == .trial)
        #expect(opened().mayStart(at: 0) == .trial)
    }

    /// Whatever happens: never two trials, never a pause of more than five minutes, and it opens again.
    @Test func neverLosesItsWayInWhateverOrderThingsHappen() {
        var generator = SeededGenerator(seed: 11)
        var (breaker, now, isOnTrial) = (CircuitBreaker(), Self.start, false)
        for _ in 0..<20_000 {
            now += Int.random(in: 0...20_000, using: &generator)
            switch breaker.mayStart(at: now) {
            case .yes: #expect(!isOnTrial)
            case .trial:
                #expect(!isOnTrial)
                breaker.begin(at: now)
                isOnTrial = true
            case .no(let until): #expect(until > now && until - now <= 300_000)
            }
            switch Int.random(in: 0..<8, using: &generator) {
            case 0:
                breaker.succeeded()
                isOnTrial = false
            case 1:
                breaker.abandoned()
                isOnTrial = false
            case 2...5:
                breaker.failed(capture: Int.random(in: 0..<4, using: &generator), at: now)
                isOnTrial = false
            default: break
            }
        }
    }
}
