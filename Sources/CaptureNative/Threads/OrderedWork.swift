import Synchronization

/// Runs work on many inputs on several threads and delivers the results in the order of the inputs.
///
/// At most `window` results wait at a time, so memory does not grow with the number of inputs: a slow input makes the
/// other threads wait.
package enum OrderedWork {
    package static let windowPerThread = 2

    /// - Parameters:
    ///   - threads: The number of threads, at least 1.
    ///   - window: The maximum number of inputs that are taken but not delivered yet; it is at least one for each
    ///     thread.
    ///   - next: Returns the next input, or nil at the end. Only one thread at a time calls it.
    ///   - work: Turns an input into a result. Several threads call it at the same time.
    ///   - deliver: Receives the results on the calling thread, in the order of the inputs. Returning false ends the
    ///     work early: work that has begun is finished and its result is dropped.
    /// - Throws: The error that `deliver` throws. When this function returns, no work is running; a thread may still
    ///   wait in `next`.
    package static func run<Input: Sendable, Result: Sendable, Failure: Error>(
        threads: Int, window: Int? = nil, next: @escaping @Sendable () -> Input?,
        work: @escaping @Sendable (Input) -> Result,
        deliver: (Result) throws(Failure) -> Bool
    ) throws(Failure) {
        try run(threads: threads, window: window, group: 1, next: next, work: work) { results throws(Failure) in
            for result in results { guard try deliver(result) else { return false } }
            return true
        }
    }

    /// Does the same, but delivers results together if several are ready. It never waits to make a group larger.
    ///
    /// - Parameters:
    ///   - group: The maximum number of results that are delivered together.
    ///   - deliver: Receives at least one result at each call.
    package static func run<Input: Sendable, Result: Sendable, Failure: Error>(
        threads: Int, window: Int? = nil, group: Int, next: @escaping @Sendable () -> Input?,
        work: @escaping @Sendable (Input) -> Result,
        deliver: ([Result]) throws(Failure) -> Bool
    ) throws(Failure) {
        let line = Line<Result>(window: max(1, threads, window ?? threads * windowPerThread))
        let taking = Mutex(())
        let started = (0..<max(1, threads)).filter { _ in
            Thread.start {
                while true {
                    // Taking an input and reserving its place must be one step, or the places would not match the
                    // inputs.
                    let taken = taking.withLock { _ -> (Input, Int)? in
                        guard let place = line.reserve() else { return nil }
                        guard let input = next() else {
                            line.end(before: place)
                            return nil
                        }
                        return (input, place)
                    }
                    guard let (input, place) = taken, line.begin() else { return }
                    line.put(work(input), at: place)
                }
            }
        }
        defer { line.stop() }
        if started.isEmpty {
            // If no thread could be started, do the work here, one input at a time.
            while let input = next(), try deliver([work(input)]) {}
            return
        }
        while case let results = line.take(group), !results.isEmpty, try deliver(results) {}
    }
}

/// Results that are not delivered yet, each at the place of its input.
private final class Line<Result: Sendable>: Sendable {
    private struct State {
        var waiting: [Int: Result] = [:]
        var reserved = 0
        var taken = 0
        /// The number of inputs; nil until they have ended.
        var count: Int?
        var underWay = 0
        var isStopped = false
    }

    private let state = Mutex(State())
    /// Raised when the next result in order has arrived, the inputs have ended, or work finishes after a stop.
    private let isNext = Signal()
    /// Raised when there is room for another result, or no more results are wanted.
    private let hasRoom = Signal()
    private let window: Int

    init(window: Int) { self.window = window }

    /// Reserves a place for the next input, waiting while too many are in progress; nil if no more inputs are wanted.
    func reserve() -> Int? {
        hasRoom.wait {
            state.withLock { state -> Int?? in
                if state.isStopped || state.count != nil { return .some(nil) }
                guard state.reserved - state.taken < window else { return nil }
                state.reserved += 1
                return .some(state.reserved - 1)
            }
        }
    }

    /// Records that work begins. Returns false if nobody needs the result of the work any more.
    func begin() -> Bool {
        state.withLock { state in
            if state.isStopped { return false }
            state.underWay += 1
            return true
        }
    }

    func end(before place: Int) {
        state.withLock { $0.count = place }
        isNext.raise()
        hasRoom.raise()
    }

    func put(_ result: Result, at place: Int) {
        let matters = state.withLock { state in
            state.underWay -= 1
            if !state.isStopped { state.waiting[place] = result }
            return place == state.taken || state.isStopped
        }
        if matters { isNext.raise() }
    }

    /// Waits for the next result in order and returns it with those after it that are ready, at most `limit`; empty
    /// after the last.
    func take(_ limit: Int) -> [Result] {
        let (results, wasFull) = isNext.wait {
            state.withLock { state -> ([Result], Bool)? in
                let wasFull = state.reserved - state.taken >= window
                var results: [Result] = []
                while results.count < limit, let result = state.waiting.removeValue(forKey: state.taken) {
                    results.append(result)
                    state.taken += 1
                }
                if !results.isEmpty { return (results, wasFull) }
                return state.count == state.taken ? ([], false) : nil
            }
        }
        if wasFull { hasRoom.raise() }
        return results
    }

    /// Drops the waiting results, prevents new work from beginning, and waits for work that is running.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.waiting = [:]
        }
        hasRoom.raise()
        isNext.wait { state.withLock { $0.underWay == 0 ? () : nil } }
    }
}
