import CaptureTestSupport
import QueueModel
import Testing

/// Failed deliveries are tried again at the times of the table in Spec/queue.md section 6. Every line is checked, because
/// a formula could match its first lines alone.
struct RetryTimesTests {
    @Test func waitsAsThePageSays() throws {
        let page = try SpecTables("queue.md").page
        let match = try #require(page.firstMatch(of: /Attempts 1 to 10 wait ([0-9, ]+) seconds after the one before/))
        let delays = match.1.split(separator: ", ").compactMap { Int($0) }
        #expect(
            delays == [0, 1, 2, 4, 8, 300, 300, 300, 300, 300] && RetryPolicy.standard == RetryPolicy(seconds: delays))
        for (attempts, delay) in delays.enumerated() {
            #expect(RetryPolicy.standard.delay(afterAttempt: attempts) == .seconds(delay))
        }
    }

    @Test func triesTenTimesAndNeverAgain() {
        #expect(RetryPolicy.standard.delay(afterAttempt: 9) == .seconds(300))
        for attempts in [10, 11, 1000, .max, -1, .min] {
            #expect(RetryPolicy.standard.delay(afterAttempt: attempts) == nil)
        }
        #expect(RetryPolicy(delays: []).delay(afterAttempt: 0) == nil)
    }

    @Test(arguments: [1, 20, 50, 100])
    func addsNoMoreThanItsJitterAndTakesNothingAway(percent: Int) throws {
        let policy = RetryPolicy(delays: RetryPolicy.standard.delays, jitter: percent)
        var generator = SeededGenerator(seed: UInt64(percent))
        for (attempts, delay) in policy.delays.enumerated() {
            let range = delay...delay + delay * percent / 100
            var seen: Set<Duration> = []
            for _ in 0..<500 {
                let wait = try #require(policy.delay(afterAttempt: attempts, using: &generator))
                #expect(range.contains(wait))
                seen.insert(wait)
            }
            // The whole jitter is used: of 500 draws some lie in the last tenth of the range.
            if delay == .seconds(300) { #expect(seen.contains { $0 > range.upperBound - delay * percent / 1000 }) }
            if delay > .zero { #expect(seen.count > 1) }
        }
        #expect(policy.delay(afterAttempt: 10, using: &generator) == nil)
    }

    @Test func takesTheNearerEndForWhatIsOutOfRange() {
        let policy = RetryPolicy(
            delays: [.seconds(-1), .milliseconds(5999), .seconds(Int64.max), .seconds(Int64.min)], jitter: 1000,
            lifetime: .seconds(-5))
        #expect(policy.delays == [0, 5, 604_800, 0].map { .seconds($0) })
        #expect(policy.jitter == 100)
        #expect(policy.lifetime == .zero)
        #expect(RetryPolicy(delays: [], jitter: -1).jitter == 0)
        var generator = SeededGenerator(seed: 3)
        #expect(policy.delay(afterAttempt: 2, using: &generator).map { $0 <= .seconds(2 * 604_800) } == true)
    }

    @Test func endsWithTheFirstTryThatEndsAfterItsLifetime() {
        let month = Duration.seconds(30 * 86_400)
        let policy = RetryPolicy(delays: [.zero, .seconds(1)], lifetime: month)
        #expect(!policy.isOver(after: month))
        #expect(policy.isOver(after: month + .milliseconds(1)))
        #expect(!RetryPolicy.standard.isOver(after: .seconds(Int64.max)))
    }
}

/// The text form of `--retry`.
struct RetryTextTests {
    @Test(arguments: [
        ("0,1,2,4,8,300x5", [0, 1, 2, 4, 8, 300, 300, 300, 300, 300]),
        ("0", [0]), ("604800", [604_800]), ("5x1", [5]), ("0x3", [0, 0, 0]), ("1x2,1", [1, 1, 1]), ("007", [7]),
        ("1,2,1", [1, 2, 1]),
    ])
    func reads(text: String, delays: [Int]) {
        #expect(RetryPolicy(text: text) == RetryPolicy(seconds: delays))
    }

    @Test func reads100AttemptsAndNoMore() {
        let most = [String](repeating: "1", count: 100).joined(separator: ",")
        for text in ["300x100", "0,300x99", "300x99,0", "1x50,2x50", most] {
            #expect(RetryPolicy(text: text)?.delays.count == 100, "\(text)")
        }
        for text in ["300x101", "0,300x100", "300x100,0", "1x50,2x51", most + ",1", "1x999999999999999999"] {
            #expect(RetryPolicy(text: text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        "", ",", "1,", ",1", "1,,2", " 1", "1 ", "1, 2", "a", "1s", "1.5", "1e3", "+1", "0x", "x", "x5", "5x0", "5x-1",
        "5x+1", "5x2x2", "5xx2", "5X2", "-1", "0,-1", "-0", "5*2", "0x1F", "604801", "1x100x",
        "99999999999999999999", "1\n", "1;2", "٣", "1×5", "1\u{301}", "1\r\n,2", "-", "∞",
    ])
    func refuses(text: String) {
        #expect(RetryPolicy(text: text) == nil)
    }

    @Test func keepsJitterAndLifetimeApartFromTheText() {
        let policy = RetryPolicy(text: "0,300x2", jitter: 20, lifetime: .seconds(1))
        #expect(policy?.delays == RetryPolicy(seconds: [0, 300, 300]).delays)
        #expect(policy?.jitter == 20 && policy?.lifetime == .seconds(1))
        #expect(policy?.text == "0,300x2")
    }

    @Test func writesTheShortestForm() {
        #expect(RetryPolicy.standard.text == "0,1,2,4,8,300x5")
        #expect(RetryPolicy(seconds: [1, 1, 2, 1]).text == "1x2,2,1")
    }

    @Test func readsWhatItWrites() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<200 {
            let count = Int.random(in: 1...100, using: &generator)
            let delays = (0..<count).map { _ in Int.random(in: 0...2, using: &generator) * 302_400 }
            let policy = RetryPolicy(seconds: delays)
            #expect(RetryPolicy(text: policy.text) == policy)
        }
    }
}

extension RetryPolicy {
    fileprivate init(seconds: [Int]) { self.init(delays: seconds.map { .seconds($0) }) }
}
