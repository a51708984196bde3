import CaptureNative
import CaptureTestSupport
import Glibc
import Synchronization
import Testing

/// Several threads work, and the results come in the order of the inputs.
struct OrderedWorkTests {
    private struct Refused: Error {}

    /// The numbers below a limit, from which several threads take the next one.
    private final class Numbers: Sendable {
        private let rest: Mutex<Range<Int>>

        init(_ count: Int) { rest = Mutex(0..<count) }

        func next() -> Int? { rest.withLock { $0.popFirst() } }
    }

    @Test(arguments: [0, 2000], [1, 2, 3, 8])
    func deliversInTheOrderOfTheInputs(_ count: Int, _ threads: Int) {
        let inputs = Numbers(count)
        var results: [Int] = []
        OrderedWork.run(
            threads: threads, next: { inputs.next() },
            work: { number in
                // Some inputs take longer, so later inputs are finished first.
                (0..<(number % 7 * 100)).reduce(number) { $0 ^ ($1 & 0) }
            },
            deliver: { result in
                results.append(result)
                return true
            })
        #expect(results == Array(0..<count))
    }

    /// A group is never larger than asked for, and a result never waits for an input that has not arrived.
    @Test func deliversReadyResultsTogether() {
        let inputs = Numbers(500)
        let delivered = Mutex(0)
        var results: [Int] = []
        OrderedWork.run(
            threads: 3, window: 16, group: 8,
            next: {
                let input = inputs.next()
                // Every 50th input arrives only after all results before it were delivered.
                while let input, input % 50 == 0, delivered.withLock({ $0 }) < input { sched_yield() }
                return input
            },
            work: { $0 },
            deliver: { group in
                #expect((1...8).contains(group.count))
                results += group
                delivered.withLock { $0 = results.count }
                return true
            })
        #expect(results == Array(0..<500))
    }

    @Test func takesNoMoreInputsThanItHasRoomFor() {
        let inputs = Numbers(10_000)
        let taken = Mutex(0)
        var (delivered, greatest) = (0, 0)
        OrderedWork.run(
            threads: 2,
            next: {
                taken.withLock { $0 += 1 }
                return inputs.next()
            },
            work: { $0 },
            deliver: { (_: Int) in
                greatest = max(greatest, taken.withLock { $0 } - delivered)
                delivered += 1
                return true
            })
        #expect(delivered == 10_000)
        #expect(greatest <= 2 * OrderedWork.windowPerThread + 2)
    }

    @Test func endsEarlyAndLeavesNothingUnderWay() {
        let inputs = Numbers(1000)
        let working = Mutex(0)
        var results: [Int] = []
        OrderedWork.run(
            threads: 4, next: { inputs.next() },
            work: { number in
                working.withLock { $0 += 1 }
                defer { working.withLock { $0 -= 1 } }
                return number
            },
            deliver: { result in
                results.append(result)
                return result < 10
            })
        #expect(results == Array(0...10))
        #expect(working.withLock { $0 } == 0)
    }

    @Test func throwsWhatTheReceiverThrows() {
        let inputs = Numbers(100)
        #expect(throws: Refused.self) {
            try OrderedWork.run(
                threads: 2, next: { inputs.next() }, work: { $0 },
                deliver: { result throws(Refused) in
                    if result == 50 { throw Refused() }
                    return true
                })
        }
    }
}
