/// Leaves a destination alone that fails whatever it is sent (Spec/queue.md section 6). Pure: the time is handed in.
///
/// It opens when the last 5 tries failed, of 3 captures at least: one capture that always fails does not open it. While
/// it is open nothing is sent; when the pause is over, one delivery is, the trial. Times are Unix milliseconds.
package struct CircuitBreaker: Hashable, Sendable {
    package enum Permission: Hashable, Sendable {
        case yes
        /// One delivery, and `begin(at:)` with it.
        case trial
        /// Nothing may start. It is worth asking again then, or when a try has ended.
        case no(until: Int)
    }

    private enum State: Hashable {
        case closed
        case open(until: Int, pause: Int)
        case onTrial(pause: Int)
    }

    private static let tries = 5
    private static let captures = 3
    private static let shortestPause = 15_000
    private static let longestPause = 300_000

    private var state = State.closed
    /// The captures of the last tries that failed without one between that did not, at most 5, the latest last.
    private var failures: [Int] = []

    package init() {}

    /// A delivery arrived: everything before it is forgotten. What a server refused for good (`final`) is told here as
    /// well, since the destination was at work.
    package mutating func succeeded() { self = CircuitBreaker() }

    /// A try failed (`retry`, `unclear`). One that was begun before the breaker opened and ends while it is open
    /// changes nothing, and while a trial is under way cannot be told from it.
    ///
    /// - Parameter capture: its number in the queue (`seq`).
    package mutating func failed(capture: Int, at now: Int) {
        switch state {
        case .closed:
            failures = failures.suffix(Self.tries - 1) + [capture]
            if failures.count == Self.tries && Set(failures).count >= Self.captures {
                state = .open(until: now + Self.shortestPause, pause: Self.shortestPause)
            }
        case .open: break
        case .onTrial(let pause):
            let longer = min(2 * pause, Self.longestPause)
            state = .open(until: now + longer, pause: longer)
        }
    }

    package func mayStart(at now: Int) -> Permission {
        switch state {
        case .closed: .yes
        // Further ahead than the pause is long: the clock was set back, and nobody waits for that.
        case .open(let until, let pause): now >= until || until - now > pause ? .trial : .no(until: until)
        case .onTrial(let pause): .no(until: now + pause)
        }
    }

    /// A delivery is begun. If it is the trial, no other is until this one has ended.
    package mutating func begin(at now: Int) {
        if case .open(_, let pause) = state, mayStart(at: now) == .trial { state = .onTrial(pause: pause) }
    }

    /// The delivery that was begun ended without saying anything of the destination: stopped, offline, a file of ours.
    /// If it was the trial, the next one may be at once.
    package mutating func abandoned() {
        if case .onTrial(let pause) = state { state = .open(until: .min, pause: pause) }
    }
}
