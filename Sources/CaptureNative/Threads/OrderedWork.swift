import Synchronization

/// Work on many inputs by several threads, with the results handed over in the order of the inputs.
///
/// At most `window` results wait at a time, so memory does not grow with the number of inputs, and one slow input holds the
/// others back rather than filling it.
package enum OrderedWork {
    package static let windowPerThread = 2

    /// - Parameters:
    ///   - threads: at least 1.
    ///   - window: how many results may be made and not delivered yet; at least one a thread.
    ///   - next: the next input, nil at the end; called by one thread at a time.
    ///   - work: called by several threads at once.
    ///   - deliver: called on the calling thread, in the order of the inputs. False ends the work early: what was begun
    ///     is finished and dropped.
    /// - Throws: what `deliver` throws. No work is under way when this returns; a thread may still wait for `next`.
    package static func run<Input: Sendable, Result: Sendable, Failure: Error>(
        threads: Int, window: Int? = nil, next: @escaping @Sendable () -> Input?,
        work: @escaping @Sendable (Input) -> Result,
        deliver: (Result) throws(Failure) -> Bool
    ) throws(Failure) {
        let line = Line<Result>(window: max(1, threads, window ?? threads * windowPerThread))
        let taking = Mutex(())
        let started = (0..<max(1, threads)).filter { _ in
            Thread.start {
                while true {
                    // Taking the input and its place in line is one step, or places and inputs would not agree.
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
            // No thread could be had: do it here, one at a time.
            while let input = next() {
                guard try deliver(work(input)) else { return }
            }
            return
        }
        while let result = line.take() {
            guard try deliver(result) else { return }
        }
    }
}

/// Results on their way, each at its place.
private final class Line<Result: Sendable>: Sendable {
    private struct State {
        var waiting: [Int: Result] = [:]
        var reserved = 0
        var taken = 0
        /// Known once the inputs have ended.
        var count: Int?
        var underWay = 0
        var isStopped = false
    }

    private let state = Mutex(State())
    /// The next result in order is there, or the last was taken, or work came to rest.
    private let isNext = Signal()
    /// There is room for a result more, or nothing more is wanted.
    private let hasRoom = Signal()
    private let window: Int

    init(window: Int) { self.window = window }

    /// A place for the next input; waits while too many results are out. nil when there is nothing more to do.
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

    /// Says that work begins; false when it is not wanted any more.
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

    /// The next result in order; nil after the last.
    func take() -> Result? {
        let (result, wasFull) = isNext.wait {
            state.withLock { state -> (Result?, Bool)? in
                if let result = state.waiting.removeValue(forKey: state.taken) {
                    let wasFull = state.reserved - state.taken >= window
                    state.taken += 1
                    return (result, wasFull)
                }
                return state.count == state.taken ? (nil, false) : nil
            }
        }
        if wasFull { hasRoom.raise() }
        return result
    }

    /// Drops what waits, lets nothing begin any more, and waits for what is under way.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.waiting = [:]
        }
        hasRoom.raise()
        isNext.wait { state.withLock { $0.underWay == 0 ? () : nil } }
    }
}
