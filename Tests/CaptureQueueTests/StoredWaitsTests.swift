import CaptureBundle
import CaptureNative
import CaptureTestSupport
import GRDB
import QueueFiles
import QueueTransports
import Synchronization
import Testing

@testable import CaptureQueue
@testable import QueueModel

/// No stored time delays longer than its own rule, whatever the clock showed when it was stored (Spec/queue.md
/// section 6.2). QueueFaults/clock_jumps.py shows whole lives with the real tool.
struct StoredWaitsTests {
    private static let day = 86_400_000
    private static let hour = 3_600_000
    private let queues: QueueRoom
    private var queue: UploadQueue { queues.queue }
    private var manual: ManualClock { queues.manual }

    init() throws { queues = try QueueRoom() }

    private func change(_ sql: String, _ arguments: StatementArguments = []) throws {
        try queue.store.write { try $0.run(sql, arguments) }
    }

    private func number(_ sql: String) throws -> Int? { try queue.store.read { try $0.integer(sql) } }

    /// Returns how far `column` of a table is ahead after a run has read it.
    private func left(_ column: String, of table: String) throws -> Int? {
        try queue.store.write { try $0.limitWaits(queue.clock.observe($0), from: manual.now) }
        return try number("SELECT \(column) FROM \(table)").map { $0 - manual.now }
    }

    @Test(arguments: [
        ("pending", 0, 0), ("pending", 1, 8400), ("failed", 0, 8400), ("processing", 0, 300_000),
    ]) func aDeliveryWaitsNoLongerThanItsRule(_ state: String, _ inDoubt: Int, _ longest: Int) throws {
        try queue.destinations.add(
            "web",
            DestinationSettings(
                .put, ["url": "http://127.0.0.1:9/{sha256}", "retry": "0,1,7", "jitter": "20%"]))
        _ = try queues.push("a") { $0.destinations = ["web"] }
        for ahead in [longest - 1, longest, longest + 1, 30 * Self.day] {
            try change(
                "UPDATE deliveries SET state = ?, in_doubt = ?, due = ?", [state, inDoubt, manual.now + ahead])
            #expect(try left("due", of: "deliveries") == min(ahead, longest))
        }
        try queue.upkeep.acceptClock()
        #expect(try number("SELECT due FROM deliveries") ?? .max <= manual.now)
    }

    @Test(arguments: Block.Reason.allCases) func aBlockLastsNoLongerThanItsReason(_ reason: Block.Reason) throws {
        let longest = reason == .wait ? Self.day : reason == .offline ? 60_000 : 300_000
        for (blockedFor, most) in [(nil, longest), (15_000, 15_000)] {
            try change(
                "UPDATE destinations SET blocked_reason = ?, blocked_for = ?, blocked_until = ?",
                [reason.rawValue, blockedFor, manual.now + 30 * Self.day])
            #expect(try left("blocked_until", of: "destinations") == most)
        }
    }

    /// Each run is shorter than the block. So the end of the block has to be stored.
    @Test func shortRunsEndABlockOfAClockThatWasAhead() throws {
        let id = try queues.push("a")
        try change(
            "UPDATE destinations SET blocked_reason = 'refusing', blocked_for = 300000, blocked_until = ?",
            [manual.now + 30 * Self.day])
        for _ in 0..<3 {
            #expect(try queue.run().completed == 0)
            manual.pass(100_000)
        }
        #expect(try queue.run().completed == 1)
        #expect(try queues.state(id) == .completed)
    }

    @Test func theEndOfASessionIsToldAfterTheLastDelayAtMost() throws {
        _ = try queues.push("a") { $0.session = "roof" }
        try change(
            """
            INSERT INTO markers (session, destination, ended_at, key, due)
            SELECT sessions.id, destinations.id, 0, 'key', ? FROM sessions, destinations
            """, [manual.now + 30 * Self.day])
        #expect(try left("due", of: "markers") == 300_000)
    }

    /// In the middle of a run the clock is set right, in either direction, and another command then pushes.
    @Test(arguments: [-30, 30]) func aRunSendsWhatIsPushedAfterTheClockJumped(_ days: Int) throws {
        var options = RunOptions()
        options.mode = .watch
        let other = try UploadQueue(at: queue.folder, clock: manual.clock)
        let run = QueueRun(other, options) { _ in }
        let result = Mutex<RunResult?>(nil)
        let thread = Thread.start {
            let done = try? run.perform()
            result.withLock { $0 = done ?? RunResult() }
        }
        try #require(thread)
        defer { run.stop() }
        let first = try queues.push("a")
        try waitUntil { try queues.state(first) == .completed }
        // Another run in this process is refused at once: only one may recover claims.
        let second = QueueRun(try UploadQueue(at: queue.folder), options) { _ in }
        #expect { try second.perform() } throws: { ($0 as? QueueError)?.code == .busy }
        manual.jump(days * Self.day)
        let last = try queues.push("b")
        try waitUntil { try queues.state(last) == .completed }
        run.stop()
        try waitUntil { result.withLock { $0 != nil } }
        #expect(result.withLock { $0?.completed } == 2)
    }

    /// Waits for what another thread does, for a minute at most.
    private func waitUntil(_ isTrue: () throws -> Bool) throws {
        for _ in 0..<6000 {
            if try isTrue() { return }
            MonotonicClock.sleep(0.01)
        }
        throw QueueError(.busy, "waited in vain", of: queue.folder.path)
    }

    // MARK: - What the user wants to wait

    private enum Event {
        /// Only the wall clock.
        case jump(Int)
        case pass(Int)
        /// The machine starts again, and meanwhile its clock went on by so much.
        case restart(Int)
    }

    private func play(_ events: [Event]) {
        for event in events {
            switch event {
            case .jump(let time): manual.jump(time)
            case .pass(let time): manual.pass(time)
            case .restart(let time):
                manual.restart()
                manual.jump(time)
            }
        }
    }

    /// - Parameters:
    ///   - before: what happens before the push.
    ///   - early: what happens after it, and leaves two hours or a little less to wait.
    ///   - late: what then ends the span.
    private static let spans: [(before: [Event], early: [Event], late: [Event])] = [
        ([], [.pass(hour)], [.pass(hour)]),
        ([], [.jump(30 * day)], [.pass(2 * hour)]),
        ([], [.jump(-30 * day)], [.pass(2 * hour)]),
        ([], [.jump(30 * day), .pass(hour), .jump(-30 * day)], [.pass(hour)]),
        ([.jump(30 * day)], [.jump(-30 * day)], [.pass(2 * hour)]),
        ([.jump(-30 * day)], [.jump(30 * day)], [.pass(2 * hour)]),
        ([.restart(30 * day)], [.jump(-30 * day), .pass(hour)], [.pass(hour)]),
        ([.restart(30 * day)], [.restart(-30 * day), .pass(hour)], [.pass(hour)]),
        ([], [.restart(-30 * day), .pass(hour)], [.pass(hour)]),
        ([], [.pass(hour)], [.restart(hour)]),
    ]

    @Test(arguments: spans.indices) func aSpanIsKeptWhateverTheClockShows(_ index: Int) throws {
        let (before, early, late) = Self.spans[index]
        play(before)
        let id = try queues.push("a") { $0.delay = .milliseconds(2 * Self.hour) }
        play(early)
        for _ in 0..<2 { #expect(try queue.run().completed == 0, "sent too early") }
        play(late)
        #expect(try queue.run().completed == 1, "not sent in time")
        #expect(try queues.state(id) == .completed)
    }

    @Test func aTimeIsTheUsersWord() throws {
        let id = try queues.push("a") { $0.notBefore = CaptureTime(milliseconds: manual.now + Self.day) }
        manual.jump(Self.day - 1)
        try queue.captures.change(.hold, id)
        try queue.captures.change(.release, id)
        #expect(try queue.run().completed == 0)
        manual.jump(-30 * Self.day)
        #expect(try queue.run().completed == 0)
        manual.jump(30 * Self.day + 1)
        #expect(try queue.run().completed == 1)
    }

    private static let lifetimes: [(events: [Event], isOver: Bool)] = [
        ([.jump(30 * day)], false), ([.jump(-30 * day), .jump(30 * day)], false), ([.restart(30 * day)], false),
        ([.pass(5 * day), .restart(0), .pass(5 * day)], false), ([.pass(10 * day + 1)], true),
    ]

    /// A lifetime counts the time that has passed by the boot clock.
    @Test(arguments: lifetimes.indices) func aJumpOfTheClockEndsNoLifetime(_ index: Int) throws {
        let (events, isOver) = Self.lifetimes[index]
        try queue.destinations.add(
            "web",
            DestinationSettings(
                .put, ["url": "http://127.0.0.1:9/{sha256}", "lifetime": "10d", "retry": "0x9"]))
        _ = try queues.push("a") { $0.destinations = ["web"] }
        play(events)
        let destination = try queue.destinations.find("web")
        let claim = try #require(try Claims(queue).next(for: destination))
        let policy = destination.pace.retry
        let context = AttemptContext(retry: policy)
        let result = try queue.store.write {
            try Claims(queue).settle(claim, with: .failed(code: "http.500", message: "no"), context, in: $0)
        }
        #expect(result?.state == (isOver ? .permanentlyFailed : .failed))
    }

    /// A stamp in the future is a concern until the clock has reached it, or the user trusts the clock.
    @Test func aStampInTheFutureIsAConcern() throws {
        manual.jump(30 * Self.day)
        let id = try queues.push("a")
        manual.jump(-30 * Self.day)
        #expect(try queue.status().concerns().map(\.code) == [.clock])
        #expect(try queue.run().completed == 1)
        #expect(try queue.status().concerns().map(\.code) == [.clock])
        try queue.upkeep.acceptClock()
        #expect(try queue.status().concerns().isEmpty)
        #expect(try queue.captures.find(id).pushedAt.milliseconds <= manual.now)
        #expect(try queue.upkeep.prune().captures == 0)
        manual.pass(7 * Self.day)
        #expect(try queue.upkeep.prune().captures == 1)
    }
}
