import CaptureNative
import QueueModel
import QueueTransports
import Synchronization

/// The threads that send to one destination.
final class SendingThreads: Sendable {
    private struct Shared {
        /// What each thread does; nil for one that has ended.
        var states: [DestinationWorker.Step?]
        var wakes = 0
        var isEnding = false
    }

    let destination: Destination
    private let sending: SendingState
    private let shared: Mutex<Shared>
    private let signal = Signal()
    private let onChange: @Sendable () -> Void

    /// - Parameter onChange: called whenever one of the threads starts to work or runs out of work.
    init(
        _ destination: Destination, _ sending: SendingState, onChange: @escaping @Sendable () -> Void
    ) {
        self.destination = destination
        self.sending = sending
        self.onChange = onChange
        shared = Mutex(Shared(states: Array(repeating: .worked, count: destination.pace.concurrency)))
    }

    /// Starts the threads.
    ///
    /// - Parameter makeWorker: called on each thread.
    /// - Returns: false if the system cannot start even one thread.
    func start(
        makeWorker: @escaping @Sendable () throws -> DestinationWorker, fail: @escaping @Sendable (any Error) -> Void
    ) -> Bool {
        for number in 0..<destination.pace.concurrency {
            let isStarted = Thread.start {
                do {
                    try self.work(number, makeWorker())
                } catch {
                    fail(error)
                }
                self.put(nil, number)
            }
            guard !isStarted else { continue }
            put(nil, number)
            if number == 0 { return false }
        }
        return true
    }

    private func work(_ number: Int, _ worker: DestinationWorker) throws {
        defer { worker.end() }
        while !shared.withLock(\.isEnding) {
            let wakes = shared.withLock(\.wakes)
            let step = try worker.step()
            put(step, number)
            switch step {
            case .worked: continue
            case .waiting(let until), .blocked(let until):
                // Check at least once a minute, because a change may not ring the bell.
                let left = until.map { min(max(0, $0 - sending.now), 60_000) } ?? 60_000
                _ = signal.wait(milliseconds: left) { () -> Bool? in
                    shared.withLock { $0.isEnding || $0.wakes != wakes } ? true : nil
                }
                put(.worked, number)
            }
        }
    }

    private func put(_ state: DestinationWorker.Step?, _ number: Int) {
        let before = shared.withLock { shared in
            defer { shared.states[number] = state }
            return shared.states[number]
        }
        if before != state { onChange() }
    }

    /// Makes the threads check again for work.
    func wake() {
        shared.withLock { $0.wakes += 1 }
        signal.raise()
    }

    func end() {
        shared.withLock { $0.isEnding = true }
        signal.raise()
    }

    var states: [DestinationWorker.Step?] { shared.withLock(\.states) }
    var isWorking: Bool { states.contains(.worked) }
    var isOver: Bool { states.allSatisfy { $0 == nil } }

    /// Whether the destination still has the settings with which the threads were started.
    func isStill(_ other: Destination) -> Bool {
        destination.number == other.number && destination.settings == other.settings
            && destination.isDefault == other.isDefault
    }
}
