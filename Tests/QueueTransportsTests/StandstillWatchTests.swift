import CurlClient
import Testing

/// When a transfer is given up (Spec/upload.md section 4.6).
struct StandstillWatchTests {
    private let times = TransferTimes()

    @Test func whatMovesIsNeverGivenUp() {
        var watch = StandstillWatch(times, at: 0)
        // The upload moves 1 kB a minute for a day.
        for minute in 1...1440 {
            #expect(watch.verdict(moved: minute * 1000, isDrained: false, at: Double(minute) * 60) == nil)
        }
    }

    @Test func lessThanAKilobyteInAMinuteIsAStandstill() {
        var watch = StandstillWatch(times, at: 0)
        #expect(watch.verdict(moved: 1000, isDrained: false, at: 30) == nil)
        for second in 31...90 {
            #expect(watch.verdict(moved: 1000 + (second - 30) * 16, isDrained: false, at: Double(second)) == nil)
        }
        #expect(
            watch.verdict(moved: 1976, isDrained: false, at: 91)
                == "fewer than 1000 bytes moved in 60 s (stall-timeout)")
    }

    @Test func aShorterTimeAsksForLessInIt() {
        var short = TransferTimes()
        short.stall = 3
        var watch = StandstillWatch(short, at: 0)
        for step in 1...100 {
            #expect(watch.verdict(moved: step * 50, isDrained: false, at: Double(step) * 3) == nil)
        }
        #expect(
            watch.verdict(moved: 5049, isDrained: false, at: 303.5)
                == "fewer than 50 bytes moved in 3 s (stall-timeout)")
    }

    @Test func whatIsHeldBackHereIsNoStandstill() {
        var watch = StandstillWatch(times, at: 0)
        watch.heldBack(seconds: 600)
        #expect(watch.verdict(moved: 0, isDrained: false, at: 659) == nil)
        #expect(watch.verdict(moved: 0, isDrained: false, at: 661) != nil)
    }

    @Test func theTimeForTheAnswerStartsWhenTheRequestHasLeft() {
        var watch = StandstillWatch(times, at: 0)
        for minute in 1...60 {
            #expect(watch.verdict(moved: minute * 1000, isDrained: false, at: Double(minute) * 60) == nil)
        }
        #expect(watch.verdict(moved: 60_001, isDrained: true, at: 3610) == nil)
        #expect(watch.verdict(moved: 60_001, isDrained: true, at: 3730) == nil)
        #expect(
            watch.verdict(moved: 60_001, isDrained: true, at: 3731)
                == "no complete answer within 120 s (answer-timeout)")
    }

    @Test func anAnswerThatDripsHasTheTimeOfAnAnswer() {
        var watch = StandstillWatch(times, at: 0)
        #expect(watch.verdict(moved: 0, isDrained: true, at: 0) == nil)
        #expect(watch.verdict(moved: 500_000, isDrained: true, at: 121) != nil)
    }

    @Test func aDownloadMayTakeAsLongAsItMoves() {
        var watch = StandstillWatch(times, waitsForAnswer: false, at: 0)
        for minute in 1...600 {
            #expect(watch.verdict(moved: minute * 2000, isDrained: true, at: Double(minute) * 60) == nil)
        }
        #expect(watch.verdict(moved: 1_200_000, isDrained: true, at: 36_061) != nil)
    }

    @Test func bytesThatWaitInTheKernelHaveNotMoved() {
        var watch = StandstillWatch(times, at: 0)
        // libcurl wrote 2 MB; the kernel still holds all of it and the bytes that TLS added.
        #expect(watch.verdict(moved: -4000, isDrained: false, at: 59) == nil)
        #expect(watch.verdict(moved: -4000, isDrained: false, at: 61) != nil)
    }

    @Test func aRequestThatBeginsAnewHasItsTimeAnew() {
        var watch = StandstillWatch(times, at: 0)
        #expect(watch.verdict(moved: 500_000, isDrained: true, at: 59) == nil)
        watch.restart(at: 170)
        #expect(watch.verdict(moved: 0, isDrained: false, at: 229) == nil)
        #expect(watch.verdict(moved: 1000, isDrained: true, at: 230) == nil)
        #expect(watch.verdict(moved: 1000, isDrained: true, at: 349) == nil)
    }
}
