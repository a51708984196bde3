import CaptureNative
import CaptureTestSupport
import Glibc
import Synchronization
import Testing

/// Several threads work, and the results come in the order of the inputs.
struct OrderedWorkTests {
    private struct Refused: Error {}

    @Test(arguments: [1, 2, 3, 8])
    func deliversInTheOrderOfTheInputs(_ threads: Int) {
        let inputs = Mutex((0..<2000).makeIterator())
        var results: [Int] = []
        OrderedWork.run(
            threads: threads, next: { inputs.withLock { $0.next() } },
            work: { number in
                // Some inputs take longer, so later inputs are finished first.
                (0..<(number % 7 * 500)).reduce(number) { $0 ^ ($1 & 0) }
            },
            deliver: { result in
                results.append(result)
                return true
            })
        #expect(results == Array(0..<2000))
    }

    /// A group is never larger than asked for, and a result never waits for an input that has not arrived.
    @Test func deliversReadyResultsTogether() {
        let inputs = Mutex((0..<500).makeIterator())
        let delivered = Mutex(0)
        var results: [Int] = []
        OrderedWork.run(
            threads: 3, window: 16, group: 8,
            next: {
                inputs.withLock { inputs in
                    let input = inputs.next()
                    // Every 50th input arrives only after all results before it were delivered.
                    while let input, input % 50 == 0, delivered.withLock({ $0 }) < input { sched_yield() }
                    return input
                }
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
        let inputs = Mutex((0..<10_000).makeIterator())
        let taken = Mutex(0)
        var delivered = 0
        var greatest = 0
        OrderedWork.run(
            threads: 2,
            next: {
                taken.withLock { $0 += 1 }
                return inputs.withLock { $0.next() }
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
        let inputs = Mutex((0..<1000).makeIterator())
        let working = Mutex(0)
        var results: [Int] = []
        OrderedWork.run(
            threads: 4, next: { inputs.withLock { $0.next() } },
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
        let inputs = Mutex((0..<100).makeIterator())
        #expect(throws: Refused.self) {
            try OrderedWork.run(
                threads: 2, next: { inputs.withLock { $0.next() } }, work: { $0 },
                deliver: { result throws(Refused) in
                    if result == 50 { throw Refused() }
                    return true
                })
        }
    }

    @Test func hasNothingToDoWithoutInputs() {
        var count = 0
        OrderedWork.run(
            threads: 3, next: { nil }, work: { (number: Int) in number },
            deliver: { _ in
                count += 1
                return true
            })
        #expect(count == 0)
    }
}
