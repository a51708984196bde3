import CaptureBundle
import CaptureTestSupport
import QueueModel
import Testing

/// A wrong clock delays deletion and never hastens it (Spec/queue.md section 8).
struct QueueClockTests {
    private static let day = 86_400_000
    private static let start = 1_700_000_000_000

    private func times(_ wall: Int, _ sinceBoot: Int, boot: String = "one") -> QueueClock.Times {
        .init(wall: CaptureTime(clamping: wall), boot: boot, sinceBoot: .milliseconds(sinceBoot))
    }

    /// The queue saw this machine first at `start`, an hour after the machine was started.
    private var memory: QueueClock.Memory {
        QueueClock.evaluate(times(Self.start, 3_600_000), .init(lastSeen: 0)).memory
    }

    @Test func believesAClockThatGoesOn() {
        let reading = QueueClock.evaluate(times(Self.start + Self.day, 3_600_000 + Self.day), memory)
        #expect(reading.believed == Self.start + Self.day)
        #expect(reading.recordTime == reading.believed)
        #expect(reading.doubt == nil)
    }

    @Test func doesNotBelieveAJumpForwardOnTheSameBoot() {
        let reading = QueueClock.evaluate(times(Self.start + 365 * Self.day, 3_600_000 + Self.day), memory)
        #expect(reading.believed == Self.start + Self.day)
        #expect(reading.recordTime == Self.start + 365 * Self.day)
        #expect(reading.memory.lastSeen == Self.start + Self.day)
        #expect(reading.doubt == .milliseconds(364 * Self.day))
    }

    @Test func stampsNothingEarlierThanWhatWasSeenWhenTheClockIsSetBack() {
        let later = QueueClock.evaluate(times(Self.start + 5 * Self.day, 3_600_000 + 5 * Self.day), memory).memory
        let reading = QueueClock.evaluate(times(Self.start - Self.day, 3_600_000 + 6 * Self.day), later)
        #expect(reading.recordTime == Self.start + 6 * Self.day)
        #expect(reading.believed == Self.start - Self.day)
        #expect(reading.doubt != nil)
    }

    /// What has elapsed goes by the boot clock, and across a start of the machine only by what is certain.
    @Test func countsTheTimeThatHasPassedByTheBootClock() {
        var memory = memory
        for (wall, sinceBoot, boot, elapsed) in [
            (Self.day, 3_600_000 + 1000, "one", 1000), (-Self.day, 3_600_000 + 3000, "one", 3000),
            (0, 3_600_000, "one", 3000), (Self.day, 500, "two", 3500), (0, 700, "two", 3700),
        ] {
            memory = QueueClock.evaluate(times(Self.start + wall, sinceBoot, boot: boot), memory).memory
            #expect(memory.elapsed == elapsed)
        }
    }

    @Test func waitsForAClockBelowTheLastTimeSeenOnAnotherBoot() {
        let reading = QueueClock.evaluate(times(0, 1000, boot: "two"), memory)
        #expect(reading.memory.anchor == nil)
        #expect(reading.believed == 0)
        #expect(reading.recordTime == Self.start)
        // Once the network has set the clock, its time is the reference for this boot.
        let set = QueueClock.evaluate(times(Self.start + Self.day, 60_000, boot: "two"), reading.memory)
        #expect(set.believed == Self.start + Self.day)
        #expect(set.memory.anchor?.boot == "two")
    }

    @Test func neverBelievesMoreThanAnyClockSays() {
        var generator = SeededGenerator(seed: 8)
        var memory = QueueClock.Memory(lastSeen: 0)
        for _ in 0..<2000 {
            let wall = Int.random(in: 0...(4 * Self.start), using: &generator)
            let boot = Bool.random(using: &generator) ? "one" : "two"
            let reading = QueueClock.evaluate(
                times(wall, Int.random(in: 0...Self.day, using: &generator), boot: boot), memory)
            #expect(reading.believed <= reading.wall && reading.wall <= reading.recordTime)
            #expect(reading.memory.lastSeen >= memory.lastSeen && reading.recordTime >= memory.lastSeen)
            memory = reading.memory
        }
    }

    @Test func worksWhereTheSystemDoesNotNameItsBoots() {
        let reading = QueueClock.evaluate(times(Self.start, 0, boot: ""), .init(lastSeen: 0))
        #expect(reading.believed == Self.start && reading.memory.anchor == nil)
    }
}
