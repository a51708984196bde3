import CaptureBundle
import CaptureNative
import QueueModel
import Synchronization

/// Runs the user's command for events, one after the other, each for a limited time (Spec/capqueue.md section 4). A
/// failure of the command changes nothing in the queue.
final class EventHook: Sendable {
    private struct State {
        var waiting: [QueueEvent] = []
        var dropped = 0
        var isStarted = false
        var isEnding = false
        /// The run was asked to end, so nothing waits for the command any more.
        var isStopped = false
        var isOver = false
    }

    private static let most = 1000
    /// The time limit of one command in seconds.
    private static let time = 30.0

    private let command: String
    private let state = Mutex(State())
    private let signal = Signal()
    private let onTrouble: @Sendable (QueueEvent) -> Void

    /// - Parameter onTrouble: gets a warning if the command fails.
    init(_ command: String, onTrouble: @escaping @Sendable (QueueEvent) -> Void) {
        self.command = command
        self.onTrouble = onTrouble
    }

    func take(_ event: QueueEvent) {
        guard event.isForHooks else { return }
        let isFirst = state.withLock { state in
            if state.waiting.count < Self.most { state.waiting.append(event) } else { state.dropped += 1 }
            defer { state.isStarted = true }
            return !state.isStarted
        }
        if isFirst { start() }
        signal.raise()
    }

    /// Starts the thread at the first event and not earlier. A thread inherits the blocked signals of the thread that
    /// starts it, and a run blocks its stop signals (`StopSignals`) only after this object was made.
    private func start() {
        if !Thread.start({ self.work() }) { state.withLock { $0.isOver = true } }
    }

    /// Waits until the command has run for all events.
    ///
    /// - Parameter isStopped: called several times a second; once it returns true, the remaining events are dropped.
    func finish(isStopped: () -> Bool) {
        state.withLock { state in
            state.isEnding = true
            if !state.isStarted { state.isOver = true }
        }
        signal.raise()
        while !state.withLock(\.isOver) {
            if isStopped() {
                state.withLock { state in
                    state.waiting = []
                    state.isStopped = true
                }
            }
            _ = signal.wait(milliseconds: 100) { () -> Bool? in state.withLock(\.isOver) ? true : nil }
        }
    }

    private func work() {
        while true {
            let next = signal.wait { () -> QueueEvent?? in
                state.withLock { state in
                    if !state.waiting.isEmpty { return .some(state.waiting.removeFirst()) }
                    return state.isEnding ? .some(nil) : nil
                }
            }
            let dropped = state.withLock { state in
                defer { state.dropped = 0 }
                return state.dropped
            }
            if dropped > 0 { warn("--on-event: \(dropped) events were skipped, because the command is too slow") }
            guard let next else { break }
            run(next)
        }
        state.withLock { $0.isOver = true }
        signal.raise()
    }

    private func warn(_ text: String) {
        onTrouble(QueueEvent(.warning, at: WallClock.milliseconds, message: text))
    }

    private func run(_ event: QueueEvent) {
        var shell = ShellCommand(command)
        shell.environment = [
            "CAPQUEUE_EVENT": event.name.rawValue, "CAPQUEUE_ID": event.id ?? "",
            "CAPQUEUE_DESTINATION": event.destination ?? "",
        ]
        shell.input = CanonicalJSON.encode(event.json) + Array("\n".utf8)
        shell.seconds = Self.time
        do throws(NativeError) {
            switch try shell.run(isStopped: { state.withLock(\.isStopped) }).ending {
            case .code(0): break
            case .code(let code): warn("--on-event: the command ended with \(code)")
            case .signal(let number): warn("--on-event: the command was ended by signal \(number)")
            case .late where state.withLock(\.isStopped): break
            case .late: warn("--on-event: the command did not end within \(Int(Self.time)) s and was killed")
            }
        } catch {
            warn("--on-event: the command cannot be run: \(error.text)")
        }
    }
}
