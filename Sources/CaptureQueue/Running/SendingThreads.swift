import CaptureNative
import QueueModel
import QueueTransports
import Synchronization

/// The threads that send to one destination.
final class SendingThreads: Sendable {
    private struct Shared {
        /// What each thread does; nil for one that has ended, or does not run yet.
        var states: [DestinationWorker.Step?]
        /// How many threads go on.
        var most: Int
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
        let count = destination.pace.concurrency
        shared = Mutex(Shared(states: Array(repeating: nil, count: count), most: count))
    }

    /// Starts the thread with this number.
    ///
    /// - Parameter makeWorker: called on the thread.
    /// - Returns: false if the system cannot start it.
    func start(
        _ number: Int, makeWorker: @escaping @Sendable () throws -> DestinationWorker,
        fail: @escaping @Sendable (any Error) -> Void
    ) -> Bool {
        put(.worked, number)
        let isStarted = Thread.start {
            do {
                try self.work(number, makeWorker())
            } catch {
                fail(error)
            }
            self.put(nil, number)
        }
        if !isStarted { put(nil, number) }
        return isStarted
    }

    private func work(_ number: Int, _ worker: DestinationWorker) throws {
        defer { worker.end() }
        func mayGoOn() -> Bool { shared.withLock { !$0.isEnding && number < $0.most } }
        while mayGoOn() {
            let wakes = shared.withLock(\.wakes)
            let step = try worker.step()
            put(step, number)
            switch step {
            case .worked: continue
            case .waiting(let until), .blocked(let until):
                // Check at least once a minute, because a change may not ring the bell.
                let left = until.map { min(max(0, $0 - sending.now), 60_000) } ?? 60_000
                _ = signal.wait(milliseconds: left) { () -> Bool? in
                    !mayGoOn() || shared.withLock { $0.wakes != wakes } ? true : nil
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

    /// Lets only this many threads go on. The others end after what they do now.
    func limit(to most: Int) {
        shared.withLock { $0.most = most }
        signal.raise()
    }

    func end() {
        shared.withLock { $0.isEnding = true }
        signal.raise()
    }

    var states: [DestinationWorker.Step?] { shared.withLock(\.states) }
    /// How many threads run.
    var count: Int { states.count { $0 != nil } }
    var isWorking: Bool { states.contains(.worked) }
    var isOver: Bool { states.allSatisfy { $0 == nil } }

    /// Whether the destination still has the settings with which the threads were started.
    func isStill(_ other: Destination) -> Bool {
        destination.number == other.number && destination.settings == other.settings
            && destination.isDefault == other.isDefault
    }
}
