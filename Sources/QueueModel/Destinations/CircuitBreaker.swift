import CaptureBundle

/// Decides whether something may be sent to a destination, given how the tries so far ended (Spec/queue.md section 6).
///
/// It has no clock: each call gets the time in Unix milliseconds. All transfers to a destination share one value.
package struct CircuitBreaker: Hashable, Sendable {
    package enum Permission: Hashable, Sendable {
        case go
        /// Connect without a request first, because the server could not be reached.
        case connect
        /// Wait until this time; nil: until something happens.
        case wait(until: Int?)
        /// The user paused the destination, or the run is ending.
        case paused
    }

    /// Identifies a transfer or a connection that began.
    package struct Ticket: Hashable, Sendable {
        /// How often the destination had been blocked, or its block lifted by the user, before this began.
        fileprivate let turn: Int
    }

    /// A change that is reported to the user.
    package enum Change: Hashable, Sendable {
        case blocked(Block)
        case ready
    }

    /// What a refusal (`Block.isPerhapsOfCapture`) says, by what else was sent to the destination or can be.
    package enum Refusal: Hashable, Sendable {
        /// Nothing else can be tried in place of the capture.
        case ofDestination
        /// Another capture can be tried in its place.
        case unclear
        /// Another capture, tried in its place, has landed.
        case ofCapture
    }

    /// The consequences of a try that ended.
    package struct Verdict: Hashable, Sendable {
        package var change: Change?
        /// Whether the delivery waits again without counting the try, because the destination is at fault.
        package var isParked = false
        /// The captures (`seq`) that were refused for good before, and now wait again.
        package var takenBack: [Int] = []

        package init(change: Change? = nil, isParked: Bool = false, takenBack: [Int] = []) {
            self.change = change
            self.isParked = isParked
            self.takenBack = takenBack
        }
    }

    /// This many failures in a row, with at least this many captures, count against the destination and not a capture.
    private static let tries = 5
    package static let leastCaptures = 3

    /// The part of the state that is stored between runs.
    package struct Saved: Hashable, Sendable {
        package var block: Block?
        /// The captures of the last tries that failed in a row; at most 5.
        package var failures: [Int] = []
        /// The captures that were refused for good since the last one that landed; at most 5.
        package var refusals: [Int] = []
        /// The captures that the server accepted but does not show, since the last one that landed; at most 3.
        package var unproven: [Int] = []
        /// What is known of the outage; nil if there is none.
        package var outage: Outage?

        package init() {}
    }

    package private(set) var saved = Saved()
    package var block: Block? { saved.block }
    package private(set) var isPaused = false
    /// Whether nothing has landed since a refusal that may be the capture's own.
    private var isDoubted = false
    /// How often the user has lifted blocks.
    private var lifts = 0
    private var turn = 0
    private var isOnTrial = false
    /// The last change that was reported, so that each change is reported once.
    private var told: Change?
    private var isUnsaved = false

    package init() {}

    private static func isStreak(_ captures: [Int]) -> Bool {
        captures.count == tries && Set(captures).count >= leastCaptures
    }

    private static func added(_ capture: Int, to captures: [Int]) -> [Int] { captures.suffix(tries - 1) + [capture] }

    private var isFailing: Bool { Self.isStreak(saved.failures) }
    private var isRefusing: Bool { Self.isStreak(saved.refusals) }
    private var isUnproven: Bool { saved.unproven.count == Self.leastCaptures }

    /// Whether a refusal of this capture no longer counts, because the destination refuses everything.
    ///
    /// The thread that sent the capture may record the refusal later than the thread that took back the others.
    package func takesBack(_ capture: Int) -> Bool { isRefusing && saved.refusals.contains(capture) }

    // MARK: - Before a try

    package func permission(at now: Int) -> Permission {
        if isPaused { return .paused }
        guard let block else { return .go }
        if let until = block.until?.milliseconds, now < until { return .wait(until: until) }
        if isOnTrial { return .wait(until: nil) }
        // A single delivery, the trial, shows whether the destination works again.
        return block.reason == .offline ? .connect : .go
    }

    /// Begins a transfer or a connection. If the destination is blocked, this is the trial.
    ///
    /// - Returns: nil if nothing may begin.
    package mutating func begin(at now: Int) -> Ticket? {
        switch permission(at: now) {
        case .wait, .paused: return nil
        case .go, .connect:
            isOnTrial = block != nil
            return Ticket(turn: turn)
        }
    }

    // MARK: - After it

    /// Records the end of a try. A try that began before the last block neither lifts that block nor adds to a streak.
    ///
    /// - Parameters:
    ///   - capture: the number of the capture (`seq`).
    ///   - refusal: what it says if the server refused.
    ///   - hasBody: whether a body was sent.
    package mutating func ended(
        _ ticket: Ticket, _ outcome: SendOutcome, capture: Int, _ refusal: Refusal = .ofDestination,
        hasBody: Bool = true, at now: Int
    ) -> Verdict {
        guard ticket.turn == turn else { return endedLate(outcome, hasBody: hasBody, at: now) }
        isOnTrial = false
        if outcome.endsOutage, saved.outage != nil { (saved.outage, isUnsaved) = (nil, true) }
        switch outcome {
        case .completed:
            forgetStreaks()
            return Verdict(change: unblock())
        case .accepted: return accepted(at: now)
        case .rejected(_, let message): return refused(capture, message, at: now)
        case .conflict(let message), .failed(_, let message), .unclear(_, let message):
            if isRefusing { return Verdict(change: put(Self.refusing(message), at: now), isParked: true) }
            if case .conflict = outcome {
                saved.failures = []
                return Verdict(change: unblock())
            }
            if outcome.isUnproven, isUnproven(with: capture) {
                let block = Block(.unproven, "\(Self.leastCaptures) captures in a row: \(message)")
                return Verdict(change: put(block, at: now), isParked: true)
            }
            return failed(capture, message, isBrokenLine: outcome.isBrokenLine, at: now)
        case .blocked(var found):
            if let code = found.code {
                if refusal == .ofCapture, !isRefusing { return Verdict() }
                found = goesOn(found, code, hasBody: hasBody, at: now)
            } else if doubts(refusal) {
                return Verdict()
            }
            return Verdict(change: put(found, at: now), isParked: isRefusing)
        case .parked, .damaged: return Verdict()
        }
    }

    /// Records an outage, and how long nothing is sent because of it.
    private mutating func goesOn(_ found: Block, _ code: String, hasBody: Bool, at now: Int) -> Block {
        var known = saved.outage ?? Outage(code, at: now)
        known.goesOn(code, hasBody: hasBody, at: now)
        (saved.outage, isUnsaved) = (known, true)
        return Block(.failing, found.message, cause: found.cause, pause: known.pause(at: now))
    }

    /// Whether a refusal blocks nothing: it is the capture's own, or another capture is tried first.
    private mutating func doubts(_ refusal: Refusal) -> Bool {
        if isRefusing || refusal == .ofDestination { return false }
        if refusal == .ofCapture { return true }
        let wasDoubted = exchange(&isDoubted, with: true)
        return block == nil && !wasDoubted
    }

    private func isParked(_ outcome: SendOutcome) -> Bool {
        switch outcome {
        case .completed, .accepted, .parked, .damaged: false
        case .rejected, .conflict, .blocked: isRefusing
        case .failed, .unclear: isRefusing || isFailing && outcome.isBrokenLine || isUnproven && outcome.isUnproven
        }
    }

    private mutating func endedLate(_ outcome: SendOutcome, hasBody: Bool, at now: Int) -> Verdict {
        // Its bytes count although it began before the block.
        if let code = outcome.outage?.code, saved.outage != nil, hasBody {
            saved.outage?.goesOn(code, hasBody: true, at: now)
            isUnsaved = true
        }
        // Even a late answer counts if its server asks for a longer wait.
        if case .blocked(let found) = outcome, found.reason == .wait, let block {
            let longer = found.begun(after: nil, at: now)
            if let end = longer.until, end > block.until ?? CaptureTime(clamping: now) {
                saved.block = longer
                isUnsaved = true
            }
        }
        return Verdict(isParked: isParked(outcome))
    }

    /// The server may still refuse the capture when it is asked, so the streak of refusals goes on.
    private mutating func accepted(at now: Int) -> Verdict {
        isDoubted = false
        if !saved.failures.isEmpty || !saved.unproven.isEmpty {
            (saved.failures, saved.unproven, isUnsaved) = ([], [], true)
        }
        guard isRefusing, let block else { return Verdict(change: unblock()) }
        return Verdict(change: put(Block(.refusing, block.message), at: now))
    }

    /// Records the answer to a poll: the server's decision about a capture that it had accepted, or none.
    package mutating func polled(
        _ ticket: Ticket, _ outcome: SendOutcome, capture: Int, _ refusal: Refusal = .ofDestination, at now: Int
    ) -> Verdict {
        switch outcome {
        case .completed, .rejected: return ended(ticket, outcome, capture: capture, at: now)
        case .blocked(let found) where ticket.turn != turn || !doubts(refusal):
            return Verdict(change: connected(ticket, found, at: now))
        default:
            abandoned(ticket)
            return Verdict()
        }
    }

    private static func refusing(_ message: String) -> Block {
        Block(
            .refusing,
            "the destination refused all of the last uploads; check its URL and settings; last answer: \(message)")
    }

    private mutating func refused(_ capture: Int, _ message: String, at now: Int) -> Verdict {
        let wasRefusing = isRefusing
        let others = Set(saved.refusals).subtracting([capture])
        saved.refusals = Self.added(capture, to: saved.refusals)
        saved.failures = []
        isUnsaved = true
        guard isRefusing else { return Verdict(change: unblock()) }
        return Verdict(
            change: put(Self.refusing(message), at: now), isParked: true, takenBack: wasRefusing ? [] : others.sorted())
    }

    private mutating func failed(_ capture: Int, _ message: String, isBrokenLine: Bool, at now: Int) -> Verdict {
        let wasFailing = isFailing
        saved.failures = Self.added(capture, to: saved.failures)
        isUnsaved = true
        guard isFailing else { return Verdict(change: unblock()) }
        let change = put(Block(.failing, "the last attempts failed: \(message)"), at: now)
        return Verdict(change: change, isParked: wasFailing && isBrokenLine)
    }

    /// Records another capture that the server accepted but does not show.
    private mutating func isUnproven(with capture: Int) -> Bool {
        if !isUnproven, !saved.unproven.contains(capture) {
            saved.unproven.append(capture)
            isUnsaved = true
        }
        return isUnproven
    }

    /// Records the end of a connection attempt.
    ///
    /// - Parameter trouble: what prevented the connection; nil if it worked.
    package mutating func connected(_ ticket: Ticket, _ trouble: Block?, at now: Int) -> Change? {
        guard ticket.turn == turn else { return nil }
        isOnTrial = false
        if let trouble { return put(trouble, at: now) }
        // The server can be reached, but the earlier failures or refusals still count.
        let before = isRefusing ? Block.Reason.refusing : isFailing || saved.outage != nil ? .failing : nil
        guard let before, let block else { return unblock() }
        saved.block = Block(
            before, block.message, pause: before.pauses.first, until: CaptureTime(clamping: now))
        isUnsaved = true
        return nil
    }

    /// Gives back a ticket that was not used.
    package mutating func abandoned(_ ticket: Ticket) { if ticket.turn == turn { isOnTrial = false } }

    // MARK: - What others say

    /// Handles a change of the network: an offline destination is connected to at once, and its delays start again from
    /// the first. An outage may be over: its trial is due at once.
    ///
    /// - Returns: whether the destination is tried at once.
    package mutating func networkChanged(at now: Int) -> Bool {
        guard let block else { return false }
        if block.reason == .offline {
            saved.block = Block(.offline, block.message, pause: .zero, until: CaptureTime(clamping: now))
            return true
        }
        guard let outage = saved.outage, block.reason == .failing, outage.nextBody <= now else { return false }
        saved.block = block.lasting(until: CaptureTime(clamping: now))
        return true
    }

    /// Handles a clock that was set: a certificate may be valid now, so the trial of what TLS blocked is due at once.
    package mutating func clockWasSet(at now: Int) {
        guard let block, block.reason == .tls else { return }
        saved.block = block.lasting(until: CaptureTime(clamping: now))
    }

    // MARK: - Blocks

    private mutating func forgetStreaks() {
        isDoubted = false
        guard !saved.failures.isEmpty || !saved.refusals.isEmpty || !saved.unproven.isEmpty else { return }
        (saved.failures, saved.refusals, saved.unproven) = ([], [], [])
        isUnsaved = true
    }

    private mutating func unblock() -> Change? {
        guard block != nil else { return nil }
        (saved.block, told, isUnsaved) = (nil, nil, true)
        return .ready
    }

    private mutating func put(_ found: Block, at now: Int) -> Change? {
        let new = found.begun(after: block, at: now)
        // The offline check repeats each minute; it is not worth a synced write each time.
        isUnsaved = isUnsaved || new.reason.outlivesRun || new.lasting(until: nil) != block?.lasting(until: nil)
        saved.block = new
        turn += 1
        (isOnTrial, isDoubted) = (false, false)
        var same = found
        // Each trial uses another capture, and the block stays the same.
        same.capture = nil
        let word = Change.blocked(same)
        return exchange(&told, with: word) == word && found.reason != .wait ? nil : .blocked(new)
    }
}

extension CircuitBreaker {
    /// Restores the state that an earlier run stored. Only blocks with `outlivesRun` last; the others are over at once, and
    /// so is that of an outage into which another body may go: its trial has none.
    ///
    /// - Parameter lifts: how often the user has lifted blocks.
    package init(_ saved: Saved, lifts: Int = 0, isPaused: Bool = false, at now: Int) {
        (self.saved, self.lifts, self.isPaused) = (saved, lifts, isPaused)
        let mayTry = saved.outage.map { $0.nextBody <= now } ?? false
        guard let block, !block.reason.outlivesRun || block.until == nil || mayTry else { return }
        self.saved.block = block.lasting(until: CaptureTime(clamping: now))
    }

    /// Returns what must be stored now; nil if nothing has changed since the last call.
    package mutating func takeUnsaved() -> Saved? {
        guard isUnsaved else { return nil }
        isUnsaved = false
        return saved
    }

    /// Takes over what the database says now: the user may have paused or resumed the destination, or lifted its block.
    package mutating func adopt(isPaused: Bool, lifts: Int) -> Change? {
        self.isPaused = isPaused
        guard lifts != self.lifts else { return nil }
        self.lifts = lifts
        (saved.failures, saved.refusals, saved.unproven, saved.outage) = ([], [], [], nil)
        (isOnTrial, isDoubted, isUnsaved) = (false, false, true)
        turn += 1
        return unblock()
    }
}
