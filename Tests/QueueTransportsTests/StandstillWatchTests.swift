import CurlClient
import Testing

/// When a transfer is given up (Spec/upload.md section 4.6).
struct StandstillWatchTests {
    /// Asks the watch at each step: the bytes that moved, whether the request has left, the time, and whether the
    /// transfer is given up then.
    private func feed(
        _ watch: inout StandstillWatch, _ steps: [(moved: Int, isDrained: Bool, at: Double, isOver: Bool)]
    ) {
        for (moved, isDrained, at, isOver) in steps {
            let verdict = watch.verdict(moved: moved, isDrained: isDrained, at: at)
            #expect((verdict != nil) == isOver, "\(moved) bytes after \(at) s: \(verdict ?? "nothing")")
        }
    }

    /// The upload moves 1 kB a minute for a day, and a download 2 kB.
    @Test func whatMovesIsNeverGivenUp() {
        var upload = StandstillWatch(TransferTimes(), at: 0)
        feed(&upload, (1...1440).map { ($0 * 1000, false, Double($0) * 60, false) })
        var download = StandstillWatch(TransferTimes(), waitsForAnswer: false, at: 0)
        feed(
            &download, (1...600).map { ($0 * 2000, true, Double($0) * 60, false) } + [(1_200_000, true, 36_061, true)])
    }

    @Test func lessThanAKilobyteInAMinuteIsAStandstill() {
        var watch = StandstillWatch(TransferTimes(), at: 0)
        feed(&watch, [(1000, false, 30, false)])
        feed(&watch, (31...90).map { (1000 + ($0 - 30) * 16, false, Double($0), false) })
        let verdict = watch.verdict(moved: 1976, isDrained: false, at: 91)
        #expect(verdict == "fewer than 1000 bytes moved in 60 s (stall-timeout)")
    }

    @Test func aShorterTimeAsksForLessInIt() {
        var short = TransferTimes()
        short.stall = 3
        var watch = StandstillWatch(short, at: 0)
        feed(&watch, (1...100).map { ($0 * 50, false, Double($0) * 3, false) })
        let verdict = watch.verdict(moved: 5049, isDrained: false, at: 303.5)
        #expect(verdict == "fewer than 50 bytes moved in 3 s (stall-timeout)")
    }

    @Test func whatIsHeldBackHereIsNoStandstill() {
        var watch = StandstillWatch(TransferTimes(), at: 0)
        watch.heldBack(seconds: 600)
        feed(&watch, [(0, false, 659, false), (0, false, 661, true)])
    }

    @Test func theTimeForTheAnswerStartsWhenTheRequestHasLeft() {
        var watch = StandstillWatch(TransferTimes(), at: 0)
        feed(&watch, (1...60).map { ($0 * 1000, false, Double($0) * 60, false) })
        feed(&watch, [(60_001, true, 3610, false), (60_001, true, 3730, false)])
        let verdict = watch.verdict(moved: 60_001, isDrained: true, at: 3731)
        #expect(verdict == "no complete answer within 120 s (answer-timeout)")
        // An answer that drips has the time of an answer.
        var dripping = StandstillWatch(TransferTimes(), at: 0)
        feed(&dripping, [(0, true, 0, false), (500_000, true, 121, true)])
    }

    /// libcurl wrote 2 MB; the kernel still holds all of it and the bytes that TLS added.
    @Test func bytesThatWaitInTheKernelHaveNotMoved() {
        var watch = StandstillWatch(TransferTimes(), at: 0)
        feed(&watch, [(-4000, false, 59, false), (-4000, false, 61, true)])
    }

    @Test func aRequestThatBeginsAnewHasItsTimeAnew() {
        var watch = StandstillWatch(TransferTimes(), at: 0)
        feed(&watch, [(500_000, true, 59, false)])
        watch.restart(at: 170)
        feed(&watch, [(0, false, 229, false), (1000, true, 230, false), (1000, true, 349, false)])
    }
}
