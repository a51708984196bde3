import CaptureBundle
import CaptureTestSupport
import Foundation
import QueueFiles
import QueueModel
import Testing

@testable import CaptureQueue

/// The times of all attempts over hours and weeks, by a clock that the test sets.
struct SimulatedRunTests {
    private static let minute = 60_000
    private static let day = 86_400_000
    private let room: BundleRoom
    private let manual = ManualClock()
    private let queue: UploadQueue
    private let run: SimulatedRun

    init() throws {
        room = try BundleRoom()
        queue = try UploadQueue(at: QueueFolder(path: room.path("queue")), createIfMissing: true, clock: manual.clock)
        try queue.destinations.add("server", .put(PutSettings(.url(URLTemplate("http://127.0.0.1:9/{sha256}")))))
        run = try SimulatedRun(queue, "server", manual)
    }

    private func push(_ name: String, _ options: PushOptions = PushOptions()) throws -> String {
        try queue.push(room.bundle(name), options).id
    }

    private func delivery(_ id: String) throws -> DeliveryRecord {
        try #require(queue.captures.find(id).deliveries.first)
    }

    /// Checks every line of the table in Spec/queue.md section 6, because a formula could match its first lines alone.
    @Test func triesAtTheTimesOfTheTableAndThenNoMore() throws {
        let id = try push("a")
        try run.pass(Self.day)
        #expect(
            run.destination.sent.map { $0.at / 1000 } == [0, 1, 3, 7, 15, 315, 615, 915, 1215, 1515])
        #expect(run.destination.sent.map(\.attempt) == Array(1...10))
        #expect(try delivery(id).state == .permanentlyFailed)
        #expect(try delivery(id).errorCode == "http.500")
        // The attempts start at the first line of the table again.
        try queue.captures.change(.retry, id)
        try run.pass(Self.day)
        #expect(run.destination.sent.count == 20)
    }

    /// With one timer for all captures, the second failure would cancel the retry of the first.
    @Test func keepsATimeForEachCapture() throws {
        let first = try push("first")
        try run.pass(500)
        let second = try push("second")
        try run.pass(2000)
        let times = Dictionary(grouping: run.destination.sent, by: \.id).mapValues { $0.map { $0.at } }
        #expect(times[first]?.prefix(2) == [0, 1000])
        #expect(times[second]?.prefix(2) == [500, 1500])
    }

    /// If a failed capture went to the front of the queue, the other captures would never be sent.
    @Test func letsAPoisonedCaptureBlockNobody() throws {
        let poison = try push("poison")
        let others = try (0..<8).map { try push("other-\($0)") }
        run.destination.answer = { capture, _ in
            capture.id == poison ? .failed(code: "http.500", message: "always") : ScriptedDestination.landed
        }
        try run.pass(100)
        for id in others { #expect(try delivery(id).state == .completed) }
        try run.pass(Self.day)
        #expect(try delivery(poison).state == .permanentlyFailed)
        #expect(!run.events.contains { $0.name == .blocked })
    }

    /// A store that asks for fewer requests takes each third one.
    @Test(arguments: [1, 10]) func burnsNoAttemptForSlowDown(_ count: Int) throws {
        let ids = try (0..<count).map { try push("capture-\($0)") }
        var number = 0
        run.destination.answer = { _, _ in
            number += 1
            var block = Block(.wait, "the store answered 503 (SlowDown)")
            block.isOfRate = true
            return number % 3 == 0 ? ScriptedDestination.landed : .blocked(block)
        }
        try run.pass(Self.day)
        for id in ids { #expect(try delivery(id).state == .completed && delivery(id).attempts == 1) }
        #expect(number == 3 * count)
    }

    // MARK: - Refusals that may be the capture's own

    private static let forbidden: SendOutcome = {
        var block = Block(.credentials, "the server answered 403")
        block.isPerhapsOfCapture = true
        return .blocked(block)
    }()

    /// Lets the server refuse these captures and take all others. Each answer takes a millisecond.
    private func refuse(_ bad: [String]) {
        let manual = manual
        run.destination.answer = { capture, _ in
            manual.pass(1)
            return bad.contains(capture.id) ? Self.forbidden : ScriptedDestination.landed
        }
    }

    @Test(arguments: [1, 5]) func letsRefusedCapturesBlockNobodyAndFailByTheTable(_ count: Int) throws {
        let ids = try (0..<20).map { try push("capture-\($0)") }
        let bad = (0..<count).map { ids[$0 * 4] }
        refuse(bad)
        try run.pass(900)
        for id in ids where !bad.contains(id) { #expect(try delivery(id).state == .completed) }
        // What comes while only refused ones wait is sent at once.
        try run.pass(10 * Self.minute)
        let late = try push("late")
        try run.pass(10)
        #expect(try delivery(late).state == .completed)
        try run.pass(Self.day)
        for id in bad {
            #expect(try delivery(id).state == .permanentlyFailed && delivery(id).errorCode == "credentials")
            // The first try did not count yet.
            #expect(run.destination.sent.count { $0.id == id } == 11)
        }
        #expect(!run.events.contains { $0.name == .blocked })
        let concerns = try queue.status().concerns(of: "server").map(\.code)
        #expect(concerns == [.failed])
    }

    @Test func burnsNothingWhereTheServerRefusesAll() throws {
        let ids = try (0..<20).map { try push("capture-\($0)") }
        refuse(ids)
        try run.pass(6 * Self.minute)
        #expect(run.destination.sent.count == 3)
        #expect(Set(run.destination.sent.map { Array($0.id.utf8) }).count == 3)
        for id in ids { #expect(try delivery(id).state == .pending && delivery(id).attempts == 0) }
        #expect(try queue.destinations.find("server").block?.reason == .credentials)
        refuse([])
        try run.pass(5 * Self.minute)
        #expect(try queue.status().totals[.completed]?.captures == 20)
    }

    @Test func countsForAMemberOfASessionWhatLandsOutsideIt() throws {
        let ids = try (0..<4).map { try push("member-\($0)", .with { $0.session = "monday" }) }
        refuse([ids[1]])
        try run.pass(4 * Self.minute)
        // Those before it in its session have landed, and nothing else waits: the cause is unknown.
        #expect(try queue.destinations.find("server").block?.reason == .credentials)
        #expect(try delivery(ids[1]).attempts == 0)
        let others = try (0..<2).map { try push("other-\($0)") }
        try run.pass(2 * Self.minute)
        for id in others { #expect(try delivery(id).state == .completed) }
        #expect(try queue.destinations.find("server").block == nil)
        try run.pass(Self.day)
        #expect(try delivery(ids[1]).state == .permanentlyFailed)
        #expect(try delivery(ids[3]).state == .completed)
    }

    /// Once tried, a capture waits behind all that were not, whatever its priority.
    @Test func sendsWhatFailedAfterWhatWasNotTried() throws {
        let high = try push("high", .with { $0.priority = 10 })
        for number in 0..<8 { _ = try push("low-\(number)", .with { $0.priority = -10 }) }
        run.destination.answer = { [manual] capture, delivery in
            manual.pass(500)
            return capture.id == high && delivery.attempts == 1
                ? .failed(code: "http.500", message: "no") : ScriptedDestination.landed
        }
        try run.pass(Self.minute)
        let order = run.destination.sent.map(\.id)
        #expect(order.count == 10 && order.first == high && order.last == high)
    }

    @Test func leavesADestinationAloneThatFailsForAll() throws {
        for number in 0..<10 { _ = try push("capture-\(number)") }
        try run.pass(Self.minute)
        // Five failures, then single trials after 15 and 30 seconds.
        #expect(run.destination.sent.count <= 8)
        #expect(run.events.contains { $0.name == .blocked && $0.code == "failing" })
        run.destination.answer = { _, _ in ScriptedDestination.landed }
        try run.pass(30 * Self.minute)
        #expect(try queue.status().totals[.completed]?.captures == 10)
        #expect(run.events.contains { $0.name == .ready })
        #expect(try queue.destinations.find("server").block == nil)
    }

    /// A longer Retry-After is not shortened to five minutes.
    @Test func waitsAsLongAsTheServerSaysAndBurnsNothing() throws {
        let ids = try [push("a"), push("b")]
        let hour = Block(.wait, "later", pause: .seconds(3600))
        run.destination.answer = { _, _ in .blocked(hour) }
        try run.pass(3_599_000)
        #expect(run.destination.sent.count == 1)
        for id in ids { #expect(try delivery(id).attempts == 0) }
        run.destination.answer = { _, _ in ScriptedDestination.landed }
        try run.pass(2000)
        for id in ids { #expect(try delivery(id).state == .completed) }
    }

    @Test func countsNothingWhileItIsOffline() throws {
        let id = try push("a")
        run.destination.answer = { _, _ in ScriptedDestination.landed }
        run.destination.isThere = { false }
        try run.pass(60 * Self.day)
        #expect(try delivery(id).state == .pending && delivery(id).attempts == 0)
        #expect(run.destination.sent.isEmpty)
        // It connects after 1, 2, 4, 8, 16, 32 and then every 60 seconds.
        #expect((80_000...90_000).contains(run.destination.connections))
        run.destination.isThere = { true }
        try run.pass(Self.minute)
        #expect(try delivery(id).state == .completed)
        #expect(try delivery(id).attempts == 1)
    }

    /// The network goes away and comes back for two weeks and the server sometimes fails, yet every capture is
    /// delivered.
    @Test(arguments: isLongRun ? [1, 2, 3] : [1] as [UInt64]) func landsEverythingOverTwoWeeksOfAFlappingNetwork(
        _ seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        let start = manual.now
        // The times at which the network goes away or comes back, 0.1 s to 6 h apart.
        var flips: [Int] = []
        var at = 0
        while at < 14 * Self.day {
            at +=
                Bool.random(using: &generator)
                ? Int.random(in: 100...5000, using: &generator)
                : Int.random(in: Self.minute...6 * 60 * Self.minute, using: &generator)
            flips.append(at)
        }
        let manual = manual
        run.destination.isThere = { flips.count(where: { $0 <= manual.now - start }) % 2 == 1 }
        var failures = SeededGenerator(seed: seed + 100)
        run.destination.answer = { _, _ in
            Int.random(in: 0..<4, using: &failures) == 0
                ? .unclear(code: "curl.56", message: "it broke") : ScriptedDestination.landed
        }
        var ids: [String] = []
        let captures = isLongRun ? 42 : 8
        for number in 0..<captures {
            ids.append(try push("capture-\(number)"))
            try run.pass(14 * Self.day / captures)
        }
        try run.pass(Self.day)
        for id in ids { #expect(try delivery(id).state == .completed) }
        #expect(run.destination.sent.count < 100)
    }

    @Test func keepsItsTimesWhenTheWallClockJumps() throws {
        let id = try push("a")
        try run.pass(20_000)
        #expect(try delivery(id).attempts == 5)
        manual.jump(-Self.day)
        let later = try SimulatedRun(queue, "server", manual)
        later.destination.answer = { _, _ in ScriptedDestination.landed }
        try queue.store.write { try $0.limitWaits(queue.clock.observe($0), from: manual.now) }
        // It tries again five minutes later, the longest delay of the table.
        try later.pass(300_000)
        #expect(try delivery(id).state != .completed)
        try later.pass(1)
        #expect(try delivery(id).state == .completed)
    }

    @Test func endsWithTheLifetime() throws {
        try queue.destinations.change("server") { try $0.set(["lifetime": "10m", "retry": "0,60x50"]) }
        let short = try SimulatedRun(queue, "server", manual)
        let id = try push("a")
        try short.pass(Self.day)
        #expect(try delivery(id).state == .permanentlyFailed)
        #expect((9...12).contains(short.destination.sent.count))
    }

    @Test func keepsTheOrderOfASession() throws {
        let ids = try (0..<4).map { try push("member-\($0)", .with { $0.session = "monday" }) }
        let other = try push("other")
        let first = ids[0]
        run.destination.answer = { capture, delivery in
            capture.id == first && delivery.attempts < 3
                ? .failed(code: "http.503", message: "not yet") : ScriptedDestination.landed
        }
        try run.pass(Self.minute)
        let order = run.destination.sent.map(\.id)
        #expect(order.filter(ids.contains) == [first, first] + ids)
        // A capture without a session does not wait for the session.
        #expect(order.firstIndex(of: other) == 1)
        #expect(try queue.captures.find(ids[3]).state == .completed)
    }

    @Test func goesOnWithASessionWhoseMemberFailedForGood() throws {
        let ids = try (0..<3).map { try push("member-\($0)", .with { $0.session = "monday" }) }
        let first = ids[0]
        run.destination.answer = { capture, _ in
            capture.id == first ? .rejected(code: "http.400", message: "no") : ScriptedDestination.landed
        }
        try run.pass(1000)
        #expect(try delivery(first).state == .permanentlyFailed)
        #expect(try delivery(ids[2]).state == .completed)
    }

    @Test func asksBeforeItSendsAgainWhatMayHaveLanded() throws {
        let id = try push("a")
        var doubts: [Bool] = []
        run.destination.answer = { _, delivery in
            doubts.append(delivery.isInDoubt)
            return doubts.count == 1 ? .unclear(code: "curl.56", message: "it broke") : ScriptedDestination.landed
        }
        try run.pass(5000)
        #expect(doubts == [false, true])
        #expect(try delivery(id).state == .completed && !delivery(id).isInDoubt)
    }
}
