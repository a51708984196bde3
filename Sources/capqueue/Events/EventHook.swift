import CaptureBundle
import CaptureNative
import CommandSupport
import QueueModel
import Synchronization

/// Runs the user's command for events, one after the other, each for a limited time (Spec/capqueue.md section 4). A
/// failure of the command changes nothing in the queue.
final class EventHook: Sendable {
    private struct State {
        var waiting: [QueueEvent] = []
        var dropped = 0
        var isEnding = false
        /// The run was asked to end, so nothing waits for the command any more.
        var isStopped = false
        /// Whether no thread is running.
        var isOver = true
    }

    private static let most = 1000

    private let command: String
    private let state = Mutex(State())
    private let signal = Signal()
    private let warn: @Sendable (String) -> Void

    /// - Parameter warn: gets a warning if the command fails.
    init(_ command: String, warn: @escaping @Sendable (String) -> Void) {
        self.command = command
        self.warn = warn
    }

    func handle(_ event: QueueEvent) {
        guard event.isForHooks else { return }
        state.withLock { state in
            if state.waiting.count < Self.most { state.waiting.append(event) } else { state.dropped += 1 }
        }
        signal.raise()
    }

    /// Starts the thread. It inherits the blocked signals of the caller, so a run calls this after it has blocked its stop
    /// signals, and before its transfers start, because these may take all threads that the system allows.
    func start() {
        state.withLock { $0.isOver = false }
        if !Thread.start({ self.work() }) { state.withLock { $0.isOver = true } }
    }

    /// Waits until the command has run for all events.
    ///
    /// - Parameter isStopped: called several times a second; once it returns true, the remaining events are dropped.
    func finish(isStopped: () -> Bool) {
        let isLate = state.withLock { state in
            state.isEnding = true
            return state.isOver && !state.waiting.isEmpty
        }
        // The transfers have ended, so there may be a thread for it now.
        if isLate { start() }
        signal.raise()
        while !state.withLock(\.isOver) {
            if isStopped() {
                state.withLock { state in
                    state.dropped += state.waiting.count
                    state.waiting = []
                    state.isStopped = true
                }
            }
            _ = signal.wait(milliseconds: 100) { () -> Bool? in state.withLock(\.isOver) ? true : nil }
        }
        let left = state.withLock { $0.waiting.count + $0.dropped }
        if left > 0 { warnOfSkipped(left, RunOptions.noThread) }
    }

    private func work() {
        while true {
            let next = signal.wait { () -> QueueEvent?? in
                state.withLock { state in
                    if !state.waiting.isEmpty { return .some(state.waiting.removeFirst()) }
                    return state.isEnding ? .some(nil) : nil
                }
            }
            let dropped = state.withLock { exchange(&$0.dropped, with: 0) }
            if dropped > 0 {
                warnOfSkipped(dropped, state.withLock(\.isStopped) ? "the run was to end" : "the command is too slow")
            }
            guard let next else { break }
            run(next)
        }
        state.withLock { $0.isOver = true }
        signal.raise()
    }

    private func warnOfSkipped(_ count: Int, _ cause: String) {
        warn("\(Quantity.count(count, "event")) \(count == 1 ? "was" : "were") skipped, because \(cause)")
    }

    private func run(_ event: QueueEvent) {
        var shell = ShellCommand(command)
        shell.environment = [
            "CAPQUEUE_EVENT": event.name.rawValue, "CAPQUEUE_ID": event.id ?? "",
            "CAPQUEUE_DESTINATION": event.destination ?? "",
        ]
        shell.input = CanonicalJSON.encode(event.json) + Array("\n".utf8)
        do throws(NativeError) {
            switch try shell.run(isStopped: { state.withLock(\.isStopped) }).ending {
            case .code(0): break
            case .code(let code): warn("the command ended with \(code)")
            case .signal(let number): warn("the command was ended by signal \(number)")
            case .late where state.withLock(\.isStopped): break
            case .late: warn("the command did not end within \(Int(shell.seconds)) s and was killed")
            }
        } catch {
            warn("the command cannot be run: \(error.text)")
        }
    }
}
