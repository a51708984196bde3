/// Decides whether something may be sent to a destination, from how the tries so far ended (Spec/queue.md section 6).
///
/// Pure: times are handed in, in Unix milliseconds. Transfers side by side share one.
package struct DestinationState: Hashable, Sendable {
    package enum Permission: Hashable, Sendable {
        case go
        /// Connect first: nobody was there.
        case connect
        /// nil: until something happens.
        case wait(until: Int?)
        /// The user paused it, or the run is ending.
        case paused
    }

    /// Something that was begun: a transfer, or a connection.
    package struct Ticket: Hashable, Sendable {
        /// How often the destination had been blocked or unblocked by then.
        fileprivate let turn: Int
    }

    /// A change to report.
    package enum Change: Hashable, Sendable {
        case blocked(Block)
        case ready
    }

    /// What a try that ended means.
    package struct Verdict: Hashable, Sendable {
        package var change: Change?
        /// The delivery waits again and the try counts for nothing: the destination is at fault.
        package var isParked = false
        /// Captures (`seq`) that were refused for good, and wait again now.
        package var takenBack: [Int] = []

        package init(change: Change? = nil, isParked: Bool = false, takenBack: [Int] = []) {
            self.change = change
            self.isParked = isParked
            self.takenBack = takenBack
        }
    }

    /// This many tries in a row, of at least this many captures, count against the destination and not a capture.
    private static let tries = 5
    package static let captures = 3

    package private(set) var block: Block?
    package private(set) var isPaused = false
    /// Captures of the last tries that failed, without an answer of any other kind between them; at most 5.
    package private(set) var failures: [Int] = []
    /// Captures of the last tries that were refused for good, without one that landed between them; at most 5.
    package private(set) var refusals: [Int] = []
    /// Captures that it took and does not show, without one that landed between them; at most 3.
    package private(set) var unproven: [Int] = []
    /// How often the user has lifted blocks.
    private var lifts = 0
    private var turn = 0
    private var isOnTrial = false
    /// The last change that was reported, so that it is reported once.
    private var told: Change?
    private var isUnsaved = false

    package init() {}

    private static func isStreak(_ captures: [Int]) -> Bool {
        captures.count == tries && Set(captures).count >= self.captures
    }

    private static func added(_ capture: Int, to captures: [Int]) -> [Int] { captures.suffix(tries - 1) + [capture] }

    private var isFailing: Bool { Self.isStreak(failures) }
    private var isRefusing: Bool { Self.isStreak(refusals) }
    private var isUnproven: Bool { unproven.count == Self.captures }

    /// Whether the refusal of a capture counts for nothing by now: others were refused after it, and the destination is blocked
    /// for that. Its own lane may write it down later than the lane that took the others back.
    package func takesBack(_ capture: Int) -> Bool { isRefusing && refusals.contains(capture) }

    // MARK: - Before a try

    package func permission(at now: Int) -> Permission {
        if isPaused { return .paused }
        guard let block else { return .go }
        if let until = block.until, now < until { return .wait(until: until) }
        if isOnTrial { return .wait(until: nil) }
        // One delivery shows whether all is well again.
        return block.reason == .offline ? .connect : .go
    }

    /// Something is begun. Where the destination is blocked it is the one trial.
    ///
    /// - Returns: nil where nothing may begin.
    package mutating func begin(at now: Int) -> Ticket? {
        switch permission(at: now) {
        case .wait, .paused: return nil
        case .go, .connect:
            isOnTrial = block != nil
            return Ticket(turn: turn)
        }
    }

    // MARK: - After it

    /// A try ended. One that began before the destination was last blocked says nothing of that block.
    ///
    /// - Parameter capture: its number in the queue (`seq`).
    package mutating func ended(_ ticket: Ticket, _ outcome: SendOutcome, capture: Int, at now: Int) -> Verdict {
        guard ticket.turn == turn else { return endedLate(outcome, at: now) }
        isOnTrial = false
        switch outcome {
        case .completed, .accepted:
            forgetStreaks()
            return Verdict(change: unblock())
        case .rejected(_, let message): return refused(capture, message, at: now)
        case .conflict(let message), .failed(_, let message), .unclear(_, let message):
            if isRefusing { return Verdict(change: put(Self.refusing(message), at: now), isParked: true) }
            if case .conflict = outcome {
                failures = []
                return Verdict(change: unblock())
            }
            if outcome.isUnproven, isUnproven(with: capture) {
                let block = Block(.unproven, "\(Self.captures) captures in a row: \(message)")
                return Verdict(change: put(block, at: now), isParked: true)
            }
            return failed(capture, message, isOutage: outcome.isOutage, at: now)
        case .blocked(let found): return Verdict(change: put(found, at: now), isParked: isRefusing)
        case .parked, .damaged: return Verdict()
        }
    }

    private func isParked(_ outcome: SendOutcome) -> Bool {
        switch outcome {
        case .completed, .accepted, .parked, .damaged: false
        case .rejected, .conflict, .blocked: isRefusing
        case .failed, .unclear: isRefusing || isFailing && outcome.isOutage || isUnproven && outcome.isUnproven
        }
    }

    private mutating func endedLate(_ outcome: SendOutcome, at now: Int) -> Verdict {
        // A server that names a longer time is heard all the same.
        if case .blocked(let found) = outcome, found.reason == .wait, let block {
            let longer = found.begun(after: nil, at: now)
            if let end = longer.until, end > block.until ?? now {
                self.block = longer
                isUnsaved = true
            }
        }
        return Verdict(isParked: isParked(outcome))
    }

    private static func refusing(_ message: String) -> Block {
        Block(
            .refusing,
            "it refused all of the last uploads; check its URL and settings; last answer: \(message)")
    }

    private mutating func refused(_ capture: Int, _ message: String, at now: Int) -> Verdict {
        let wasRefusing = isRefusing
        let others = Set(refusals).subtracting([capture])
        refusals = Self.added(capture, to: refusals)
        failures = []
        isUnsaved = true
        guard isRefusing else { return Verdict(change: unblock()) }
        return Verdict(
            change: put(Self.refusing(message), at: now), isParked: true, takenBack: wasRefusing ? [] : others.sorted())
    }

    private mutating func failed(_ capture: Int, _ message: String, isOutage: Bool, at now: Int) -> Verdict {
        let wasFailing = isFailing
        failures = Self.added(capture, to: failures)
        isUnsaved = true
        guard isFailing else { return Verdict(change: unblock()) }
        let change = put(Block(.failing, "the last attempts failed: \(message)"), at: now)
        return Verdict(change: change, isParked: wasFailing && isOutage)
    }

    /// One more that it took and does not show.
    private mutating func isUnproven(with capture: Int) -> Bool {
        if !isUnproven, !unproven.contains(capture) {
            unproven.append(capture)
            isUnsaved = true
        }
        return isUnproven
    }

    /// Connecting ended.
    ///
    /// - Parameter trouble: what was in the way; nil if it worked.
    package mutating func connected(_ ticket: Ticket, _ trouble: Block?, at now: Int) -> Change? {
        guard ticket.turn == turn else { return nil }
        isOnTrial = false
        if let trouble { return put(trouble, at: now) }
        // Somebody is there; what failed or was refused before is not forgotten for that.
        let before = isRefusing ? Block.Reason.refusing : isFailing ? .failing : nil
        guard let before, let block else { return unblock() }
        self.block = Block(before, block.message, milliseconds: before.pauses.first, until: now)
        isUnsaved = true
        return nil
    }

    /// What was begun came to nothing.
    package mutating func abandoned(_ ticket: Ticket) { if ticket.turn == turn { isOnTrial = false } }

    // MARK: - What others say

    /// The network changed: what is offline is connected to at once, and then as if it had just gone.
    ///
    /// - Returns: whether it is offline.
    package mutating func networkChanged(at now: Int) -> Bool {
        guard let block, block.reason == .offline else { return false }
        self.block = Block(.offline, block.message, milliseconds: 0, until: now)
        return true
    }

    // MARK: - Blocks

    private mutating func forgetStreaks() {
        guard !failures.isEmpty || !refusals.isEmpty || !unproven.isEmpty else { return }
        (failures, refusals, unproven) = ([], [], [])
        isUnsaved = true
    }

    private mutating func unblock() -> Change? {
        guard block != nil else { return nil }
        (block, told, isUnsaved) = (nil, nil, true)
        return .ready
    }

    private mutating func put(_ found: Block, at now: Int) -> Change? {
        let new = found.begun(after: block, at: now)
        // Looking each minute whether somebody is there again is not worth a synced write each minute.
        isUnsaved = isUnsaved || new.reason.outlivesRun || new.lasting(until: 0) != block?.lasting(until: 0)
        block = new
        turn += 1
        isOnTrial = false
        let word = Change.blocked(found)
        defer { told = word }
        return told == word && found.reason != .wait ? nil : .blocked(new)
    }
}

extension DestinationState {
    /// What outlives a run.
    package struct Saved: Hashable, Sendable {
        package var block: Block?
        package var failures: [Int] = []
        package var refusals: [Int] = []
        package var unproven: [Int] = []

        package init(block: Block? = nil, failures: [Int] = [], refusals: [Int] = [], unproven: [Int] = []) {
            self.block = block
            self.failures = failures
            self.refusals = refusals
            self.unproven = unproven
        }
    }

    /// As an earlier run left it. What only waits for somebody to put it right is tried at once.
    ///
    /// - Parameter lifts: how often the user has lifted blocks.
    package init(_ saved: Saved, lifts: Int = 0, isPaused: Bool = false, at now: Int) {
        self.lifts = lifts
        self.isPaused = isPaused
        (failures, refusals, unproven) = (saved.failures, saved.refusals, saved.unproven)
        block = saved.block.map { block in
            guard block.reason.outlivesRun else { return block.lasting(until: now) }
            // Further ahead than it lasts: the clock was set back, and nobody waits for that.
            let longest = now + (block.milliseconds ?? block.reason.pauses.longest)
            return block.lasting(until: min(block.until ?? now, longest))
        }
    }

    /// What has to be written down now; nil where nothing has changed since the last call.
    package mutating func takeUnsaved() -> Saved? {
        guard isUnsaved else { return nil }
        isUnsaved = false
        return Saved(block: block, failures: failures, refusals: refusals, unproven: unproven)
    }

    /// What the database says now: the user may have paused, resumed, or lifted what blocks it.
    package mutating func adopt(isPaused: Bool, lifts: Int) -> Change? {
        self.isPaused = isPaused
        guard lifts != self.lifts else { return nil }
        self.lifts = lifts
        (failures, refusals, unproven) = ([], [], [])
        (isOnTrial, isUnsaved) = (false, true)
        turn += 1
        return unblock()
    }
}
