import CaptureBundle
import CaptureNative
import CaptureQueue
import CommandSupport
import Synchronization

/// Shows a run: one line for each event on standard output and, on a terminal, one for each transfer on standard error.
final class RunScreen: Sendable {
    enum Style { case lines, json, quiet }

    private struct State {
        /// The number of lines with transfers on the terminal.
        var shown = 0
        var completed = 0
        var failed = 0
        var sentBytes = 0
        var isOver = false
        var fault: BundleError?
        /// The message of each blocked destination, which is printed once and not again for each capture.
        var waits: [String: String] = [:]
    }

    private let style: Style
    private let isLive: Bool
    private let started = MonotonicClock.seconds
    private let state = Mutex(State())

    init(style: Style) {
        self.style = style
        isLive = style != .quiet && FileHandle.standardError.isTerminal && ProcessEnvironment.value("TERM") != "dumb"
    }

    /// Draws the transfers until `end` is called.
    func watch(_ runner: QueueRunner) {
        guard isLive else { return }
        _ = Thread.start {
            while !self.state.withLock(\.isOver) {
                self.draw(runner.transfers)
                MonotonicClock.sleep(0.2)
            }
        }
    }

    func show(_ event: QueueEvent) {
        state.withLock { state in
            Self.clear(&state)
            switch event.name {
            case .completed:
                state.completed += 1
                state.sentBytes += event.bytesSent ?? 0
            case .failed, .permanentlyFailed, .conflict, .quarantined: state.failed += 1
            default: break
            }
            do throws(BundleError) {
                switch style {
                case .quiet: break
                case .json: try Output.json(event.json)
                case .lines: try Self.write(event, &state)
                }
            } catch {
                state.fault = state.fault ?? error
            }
        }
    }

    private static func write(_ event: QueueEvent, _ state: inout State) throws(BundleError) {
        if let id = event.id, let new = event.state { try Output.line("\(id) \(new.rawValue)") }
        let place = event.destination.map { "\($0): " } ?? ""
        let name = event.id.map { "\($0): " } ?? place
        let until = event.until.map { "; next try \(Moment.text($0))" } ?? ""
        switch event.name {
        case .pending where state.waits[event.destination ?? ""] == event.message: break
        case .failed, .permanentlyFailed, .conflict, .quarantined, .pending:
            diagnostic.warning("\(name)\(event.message ?? "")\(event.name == .failed ? until : "")")
        case .blocked, .offline:
            state.waits[event.destination ?? ""] = event.message
            diagnostic.warning("\(place)\(event.message ?? "")\(until)")
        case .ready:
            state.waits[event.destination ?? ""] = nil
            diagnostic.note("\(place)goes on")
        case .paused, .resumed: diagnostic.note("\(place)\(event.name.rawValue)")
        case .session: diagnostic.note("\(place)told of the end of session \(event.session ?? "")")
        case .quota, .warning: diagnostic.warning("\(place)\(event.message ?? "")")
        case .started, .ended, .attempt, .completed, .processing: break
        }
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
        Output.tell("\r\u{1b}[\(state.shown)A\u{1b}[J", end: "")
        state.shown = 0
    }

    private func draw(_ transfers: [TransferProgress]) {
        let columns = FileHandle.standardError.columns ?? 80
        state.withLock { state in
            Self.clear(&state)
            guard !state.isOver, !transfers.isEmpty else { return }
            // More lines than the terminal has would scroll and could not be cleared.
            let rows = max(1, min(20, (FileHandle.standardError.rows ?? 24) - 3))
            let lines = transfers.prefix(rows).map { line($0, columns) }
            let under = transfers.reduce(0) { $0 + $1.sent }
            let rate = Double(state.sentBytes + under) / max(0.001, MonotonicClock.seconds - started)
            let failed = state.failed > 0 ? ", \(state.failed) failed" : ""
            let total = "\(state.completed) sent\(failed), \(Self.rate(rate)) in all"
            for line in lines + [total] { Output.tell(line.cut(toWidth: columns - 1)) }
            state.shown = lines.count + 1
        }
    }

    private func line(_ transfer: TransferProgress, _ columns: Int) -> String {
        let seconds = max(0.001, MonotonicClock.seconds - transfer.started)
        let rate = Double(transfer.sent) / seconds
        let share = transfer.bytes > 0 ? Double(transfer.sent) / Double(transfer.bytes) : 0
        let width = max(8, min(30, columns - 62))
        let filled = Int(share * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        let left = rate > 0 ? "\(Int(Double(transfer.bytes - transfer.sent) / rate)) s left" : "starting"
        let percent = String(Int(share * 100))
        return "\(transfer.id.cut(to: 8)) \(transfer.destination.cut(to: 12)) [\(bar)] "
            + String(repeating: " ", count: 3 - percent.utf8.count) + "\(percent) %  \(Self.rate(rate))  \(left)"
    }

    private static func rate(_ bytes: Double) -> String {
        bytes >= 1e6 ? "\(Int(bytes / 1e5) / 10).\(Int(bytes / 1e5) % 10) MB/s" : "\(Int(bytes / 1000)) kB/s"
    }
}
