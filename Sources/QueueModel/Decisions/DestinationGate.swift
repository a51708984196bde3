import Synchronization

/// Decides whether something may be sent to a destination now. The time is handed in; transfers side by side share it.
package final class DestinationGate: Sendable {
    package enum Permission: Hashable {
        case go
        /// Connect first: the destination was not there.
        case connect
        /// nil: until something happens.
        case wait(until: Int?)
        case paused
    }

    /// A change that is worth a word.
    package enum Change: Hashable {
        case held(Destination.Hold)
        case ready
    }

    private struct State {
        package var hold: Destination.Hold?
        var breaker = CircuitBreaker()
        /// What was last said of it in this run, so that it is said once.
        var told: [String]?
        var isOnTrial = false
        var isPaused = false
        /// How often it was connected to in vain.
        var connections = 0
    }

    /// Seconds between connections to a destination that is offline.
    package static let connectDelays = [1, 2, 4, 8, 16, 32, 60]
    /// For what holds a destination without saying how long.
    package static let usualHold = 300_000

    private let state: Mutex<State>

    /// - Parameter now: what a run before this one wrote down is tried at once, unless the server named a time.
    package init(_ destination: Destination, at now: Int) {
        var state = State()
        state.isPaused = destination.isPaused
        if let hold = destination.hold {
            let waits = hold.code == AnswerClass.wait.rawValue
            let until = waits ? min(hold.until, now + RetryAfter.longest) : now
            state.hold = Destination.Hold(code: hold.code, reason: hold.reason, until: until)
        }
        self.state = Mutex(state)
    }

    package func permission(at now: Int) -> Permission {
        state.withLock { state in
            if state.isPaused { return .paused }
            if let hold = state.hold {
                if now < hold.until { return .wait(until: hold.until) }
                if hold.code == AnswerClass.offline.rawValue { return .connect }
                // One delivery shows whether all is well again.
                return state.isOnTrial ? .wait(until: nil) : .go
            }
            switch state.breaker.mayStart(at: now) {
            case .yes, .trial: return .go
            case .no(let until): return .wait(until: until)
            }
        }
    }

    /// A delivery is begun; false where another took the one trial meanwhile.
    package func begin(at now: Int) -> Bool {
        state.withLock { state in
            if let hold = state.hold {
                guard now >= hold.until, !state.isOnTrial else { return false }
                state.isOnTrial = true
                return true
            }
            if case .no = state.breaker.mayStart(at: now) { return false }
            state.breaker.begin(at: now)
            return true
        }
    }

    /// Nothing came of what was begun.
    package func abandon() {
        state.withLock { state in
            state.isOnTrial = false
            state.breaker.abandoned()
        }
    }

    package func note(_ outcome: SendOutcome, capture: Int, at now: Int) -> Change? {
        state.withLock { state in
            state.isOnTrial = false
            switch outcome {
            case .completed, .accepted, .rejected, .conflict:
                state.breaker.succeeded()
                return Self.clear(&state)
            case .failed, .unclear:
                state.breaker.failed(capture: capture, at: now)
                if case .no(let until) = state.breaker.mayStart(at: now) {
                    state.hold = nil
                    state.told = ["breaker"]
                    return .held(
                        Destination.Hold(
                            code: "breaker", reason: "the last tries failed: \(outcome.trouble ?? "")", until: until))
                }
                return state.hold == nil ? nil : Self.clear(&state)
            case .held(let hold):
                state.breaker.abandoned()
                return Self.set(hold, &state, at: now)
            case .parked, .damaged:
                state.breaker.abandoned()
                return nil
            }
        }
    }

    /// What came of connecting.
    package func connected(_ trouble: DestinationHold?, at now: Int) -> Change? {
        state.withLock { state in trouble.map { Self.set($0, &state, at: now) } ?? Self.clear(&state) }
    }

    private static func clear(_ state: inout State) -> Change? {
        defer {
            state.hold = nil
            state.told = nil
            state.connections = 0
        }
        return state.hold != nil || state.told != nil ? .ready : nil
    }

    private static func set(_ hold: DestinationHold, _ state: inout State, at now: Int) -> Change? {
        var delay = hold.milliseconds ?? usualHold
        if hold.code == AnswerClass.offline.rawValue {
            delay = connectDelays[min(state.connections, connectDelays.count - 1)] * 1000
            state.connections += 1
        }
        let new = Destination.Hold(code: hold.code, reason: hold.message, until: now + delay)
        state.hold = new
        let words = [hold.code, hold.message]
        defer { state.told = words }
        return state.told == words && hold.code != AnswerClass.wait.rawValue ? nil : .held(new)
    }

    /// The network changed: what is offline is connected to at once, and then as if it had just gone.
    ///
    /// - Returns: whether it is offline.
    package func networkChanged(at now: Int) -> Bool {
        state.withLock { state in
            guard let hold = state.hold, hold.code == AnswerClass.offline.rawValue else { return false }
            state.connections = 0
            state.hold = Destination.Hold(code: hold.code, reason: hold.reason, until: now)
            return true
        }
    }

    /// What the database says now: the user may have paused, resumed, or lifted what holds it.
    package func adopt(_ destination: Destination) -> Change? {
        state.withLock { state in
            state.isPaused = destination.isPaused
            guard destination.isLifted, state.hold != nil || state.told != nil else { return nil }
            state.breaker = CircuitBreaker()
            return Self.clear(&state)
        }
    }

    /// What holds it may be one capture: the next trial is another's.
    package var isTrial: Bool {
        state.withLock { state in
            state.hold.map { DestinationHold(code: $0.code, message: "").mayBeOfOne } ?? false
        }
    }

    package var hold: Destination.Hold? { state.withLock(\.hold) }
    package var isPaused: Bool { state.withLock(\.isPaused) }
}
