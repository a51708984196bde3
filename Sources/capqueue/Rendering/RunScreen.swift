import CaptureBundle
import CaptureNative
import CapturePages
import CaptureQueue
import CommandSupport
import QueueModel
import QueueTransports
import Synchronization

/// Shows a run: one line for each event on standard output and, on a terminal, one for each transfer on standard error.
final class RunScreen: Sendable {
    enum Style { case lines, json, quiet }

    private struct State {
        /// The number of lines with transfers on the terminal.
        var shown = 0
        var summary = RunSummary()
        var backlog: (value: RunBacklog, summary: RunSummary)?
        var rate = RecentRate()
        var isOver = false
        var fault: BundleError?
        /// The destinations whose pause was said before the run began; an empty name for the whole queue.
        var pausesTold: [String: Bool] = [:]
        /// The reason for which each destination is blocked. It is printed once, and not again for each capture.
        var blocks: [String: String] = [:]
    }

    private let style: Style
    private let mode: RunOptions.Mode
    private let isLive: Bool
    private let kinds: [String: String]
    private let started = MonotonicClock.seconds
    private let state = Mutex(State())

    /// - Parameters:
    ///   - kinds: the kinds of the destinations, by name.
    ///   - pausesTold: the destinations whose pause was already said; an empty name for the whole queue.
    init(style: Style, mode: RunOptions.Mode, kinds: [String: String], pausesTold: [String: Bool]) {
        self.style = style
        self.mode = mode
        self.kinds = kinds
        state.withLock { $0.pausesTold = pausesTold }
        isLive = style != .quiet && FileHandle.standardError.isTerminal && ProcessEnvironment.value("TERM") != "dumb"
    }

    /// Draws the transfers until `end` is called.
    ///
    /// - Parameter backlog: counts what is left to send. It is called rarely enough to take at most 1 % of the time.
    func watch(_ run: QueueRun, backlog: @escaping @Sendable () -> RunBacklog?) {
        guard isLive else { return }
        _ = Thread.start {
            var nextReading = 0.0
            while !self.state.withLock(\.isOver) {
                let start = MonotonicClock.seconds
                if start >= nextReading {
                    let backlog = backlog()
                    self.state.withLock { state in state.backlog = backlog.map { ($0, state.summary) } }
                    let end = MonotonicClock.seconds
                    nextReading = end + max(1, 100 * (end - start))
                }
                self.draw(run.transfers)
                MonotonicClock.sleep(0.2)
            }
        }
    }

    func warn(_ text: String) { show(QueueEvent(.warning, at: Environment.now, message: text)) }

    func show(_ event: QueueEvent) {
        state.withLock { state in
            Self.clear(&state)
            state.summary.handle(event)
            do throws(BundleError) {
                switch style {
                case .quiet: break
                case .json: try Output.json(event.json)
                case .lines: try write(event, &state)
                }
            } catch {
                state.fault = state.fault ?? error
            }
        }
    }

    private func write(_ event: QueueEvent, _ state: inout State) throws(BundleError) {
        let destination = event.destination ?? ""
        if let id = event.id, let new = event.state { try Output.line("\(id) \(destination) \(new.rawValue)") }
        let place = event.destination.map { "\($0): " } ?? ""
        let name = event.id.map { "\($0): " } ?? place
        let message = event.message ?? ""
        let reason = event.code.flatMap(Block.Reason.init)
        switch event.name {
        case .pending where reason != nil && state.blocks[destination] == event.code: break
        case .failed:
            let hints = NextSteps.of(Block(.unproven, message), destination, kind: kinds[destination])
            diagnostic.warning(
                "\(name)\(message)\(nextTry(event.until, isKept: true))",
                hints: event.code == SendOutcome.unproven ? Array(hints.prefix(1)) : [])
        case .permanentlyFailed, .conflict, .quarantined, .pending: diagnostic.warning("\(name)\(message)")
        case .blocked, .offline:
            state.blocks[destination] = event.code
            let block = reason.map { Block($0, message, cause: event.cause) }
            let hints = block.map { NextSteps.of($0, destination, kind: kinds[destination]) } ?? []
            let isLeft = mode == .untilEmpty && !hints.isEmpty
            let next = isLeft ? "" : nextTry(event.until, isKept: reason?.outlivesRun ?? false)
            diagnostic.warning("\(place)\(message)\(next)", hints: hints)
        case .ready:
            state.blocks[destination] = nil
            diagnostic.note("\(place)sending is resumed")
        case .paused where state.pausesTold.removeValue(forKey: destination) != nil: break
        case .paused, .resumed: diagnostic.note("\(place)\(event.name.rawValue)")
        case .session: diagnostic.note("\(place)accepted the end of session \(event.session ?? "")")
        case .quota, .warning: diagnostic.warning("\(place)\(message)")
        case .started, .ended, .attempt, .completed, .processing: break
        }
    }

    /// - Parameter isKept: whether a later run also waits until then.
    private func nextTry(_ until: CaptureTime?, isKept: Bool) -> String {
        guard let until else { return "" }
        if mode != .once { return "; next try at \(until.description)" }
        return "; will be tried by the next run" + (isKept ? " after \(until.description)" : "")
    }

    /// Answers a signal that asks the run to end.
    ///
    /// - Parameter isAgain: whether this is the second signal, which stops transfers at once.
    func showStop(_ signal: Int32, _ transfers: Int, grace: Duration, isAgain: Bool) {
        guard style != .quiet, transfers > 0 else { return }
        state.withLock { state in
            Self.clear(&state)
            let what = Quantity.count(transfers, "transfer", on: .messages)
            let again = signal == StopSignals.interrupt ? "^C again" : "a second signal"
            diagnostic.note(
                isAgain
                    ? "stopping \(what); the next run sends what was not sent"
                    : "letting \(what) end (\(grace.words)); \(again) stops them")
        }
    }

    /// Prints the last line.
    func showSummary(_ status: QueueStatus) {
        guard style == .lines else { return }
        diagnostic.note(
            state.withLock(\.summary).line(status, seconds: MonotonicClock.seconds - started),
            hints: NextSteps.ofFailures(status))
    }

    /// Whether the lines of this run already said it: a block when it began, failures in the last line.
    func hasShown(_ concern: QueueConcern) -> Bool {
        guard style == .lines else { return false }
        return concern.code == .failed || concern.code == .blocked && concern.destination.map(hasShownBlock) ?? false
    }

    func hasShownBlock(of destination: String) -> Bool {
        style == .lines && state.withLock { $0.blocks[destination] != nil }
    }

    func end() {
        state.withLock { state in
            Self.clear(&state)
            state.isOver = true
        }
    }

    /// - Throws: `io.failed` if standard output could not be written.
    func requireWritten() throws(BundleError) {
        if let fault = state.withLock(\.fault) { throw fault }
    }

    // MARK: - Transfers

    private static func clear(_ state: inout State) {
        guard state.shown > 0 else { return }
        Output.message("\r\u{1b}[\(state.shown)A\u{1b}[J", end: "")
        state.shown = 0
    }

    private func draw(_ transfers: [TransferProgress]) {
        let columns = FileHandle.standardError.columns ?? 80
        state.withLock { state in
            Self.clear(&state)
            let underWay = transfers.reduce(0) { $0 + $1.sent }
            let rate = state.rate.update(state.summary.sentBytes + underWay, at: MonotonicClock.seconds)
            guard !state.isOver, !transfers.isEmpty else { return }
            // More lines than the terminal has would scroll and could not be cleared.
            let rows = max(1, min(20, (FileHandle.standardError.rows ?? 24) - 3))
            let now = MonotonicClock.seconds
            let lines = TransferLines(columns: columns, now: now)
            let backlog = state.backlog.map { known in
                known.value.without(
                    state.summary.sentCaptures - known.summary.sentCaptures,
                    bytes: state.summary.sentBytes - known.summary.sentBytes)
            }
            for transfer in transfers.prefix(rows) { Output.message(lines.line(transfer)) }
            Output.message(lines.total(state.summary, backlog, underWay: underWay, rate: rate))
            state.shown = min(rows, transfers.count) + 1
        }
    }
}

/// Counts what a run sent, for its last line.
struct RunSummary {
    private(set) var sentCaptures = 0
    private(set) var sentBytes = 0
    private(set) var failed = 0
    private var destinations: [String] = []

    mutating func handle(_ event: QueueEvent) {
        switch event.name {
        case .completed:
            sentCaptures += 1
            sentBytes += event.bytes ?? 0
            if let name = event.destination, !destinations.contains(name) { destinations.append(name) }
        case .failed, .permanentlyFailed, .conflict, .quarantined: failed += 1
        default: break
        }
    }

    /// - Parameter seconds: how long the run took.
    func line(_ status: QueueStatus, seconds: Double) -> String {
        let isIdle = status.waiting == 0 && status.failedForGood == 0
        var parts = [isIdle ? "nothing to send" : "sent nothing"]
        if sentCaptures > 0 {
            let names = destinations.joined(separator: " and ")
            let places = destinations.count > 2 ? "\(destinations.count) destinations" : names
            let time = seconds < 60 ? "\(Rounded.decimal(seconds, places: 1)) s" : Duration.seconds(seconds).words
            let what = Quantity.count(sentCaptures, "capture", on: .messages)
            parts = ["sent \(what), \(Quantity.bytes(sentBytes, on: .messages)), to \(places) in \(time)"]
        }
        if status.waiting > 0 {
            parts.append("\(Quantity.number(status.waiting, on: .messages)) \(status.waiting == 1 ? "waits" : "wait")")
        }
        if status.failedForGood > 0 {
            parts.append("\(Quantity.number(status.failedForGood, on: .messages)) failed for good")
        }
        return parts.joined(separator: "; ")
    }
}

extension QueueEvent {
    /// The event as the JSON object of Spec/capqueue.md section 4.
    var json: JSONValue {
        .members([
            "event": .string(name.rawValue), "at": .text(at), "destination": .text(destination), "id": .text(id),
            "sha256": .text(sha256), "bytes": .count(bytes), "session": .text(session), "attempt": .count(attempt),
            "state": .text(state?.rawValue), "code": .text(code), "message": .text(message), "until": .text(until),
            "receipt": receipt.map { text in (try? JSONParser.parse(Array(text.utf8), nesting: 8)) ?? .string(text) },
            "remote_id": .text(remoteID), "remote_url": remoteURL.map { .string(URLTemplate($0).shown) },
            "milliseconds": .count(time?.milliseconds), "bytes_sent": .count(bytesSent),
            "completed": .count(completedCount),
            "failed": .count(failedCount),
        ])
    }
}
