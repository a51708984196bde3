import CaptureNative
import QueueModel
import QueueTransports

/// The threads that send to one destination: a pool of lanes (RunState+Lanes).
final class SendingThreads: Sendable {
    let destination: Destination
    private let pool: Int
    private let owner: RunOwner
    private let signal = Signal()

    init(_ destination: Destination, _ owner: RunOwner) {
        self.destination = destination
        self.owner = owner
        pool = owner.with { $0.poolStarts(destination, concurrency: destination.pace.concurrency) }
    }

    /// Starts the thread with this number.
    ///
    /// - Parameter makeWorker: called on the thread, with the number of its lane.
    /// - Returns: false if the system cannot start it.
    func start(_ number: Int, makeWorker: @escaping @Sendable (Int) throws -> DestinationWorker) -> Bool {
        let lane = owner.with { $0.laneStarts(pool, number) }
        let isStarted = Thread.start {
            do {
                try self.work(lane, makeWorker(lane))
            } catch {
                self.owner.fail(error)
            }
            self.leave(lane)
        }
        if !isStarted { leave(lane) }
        return isStarted
    }

    private func leave(_ lane: Int) {
        owner.with { $0.laneEnded(lane) }
        owner.ring()
    }

    private func work(_ lane: Int, _ worker: DestinationWorker) throws {
        defer { worker.end() }
        while owner.with({ $0.stepBegins(lane) }) {
            let step = try worker.step()
            put(step, lane)
            switch step {
            case .worked: continue
            case .waiting(let until), .blocked(let until):
                // Check at least once a minute, because a change may not ring the bell.
                let left = until.map { min(max(0, $0 - owner.now), 60_000) } ?? 60_000
                _ = signal.wait(milliseconds: left) { owner.with { $0.mayRest(lane) ? nil : true } }
                put(.worked, lane)
            }
        }
    }

    private func put(_ step: RunState.Step, _ lane: Int) {
        if owner.with({ $0.laneDoes(step, lane) }) { owner.ring() }
    }

    /// Makes the threads check again for work.
    func wake() { change { $0.poolIsWoken($1) } }

    /// Lets only this many threads go on. The others end after what they do now.
    func limit(to most: Int) { change { $0.poolIsLimited($1, to: most) } }

    func end() { change { $0.poolEnds($1) } }

    private func change(_ event: (inout RunState, Int) -> Void) {
        owner.with { event(&$0, pool) }
        signal.raise()
    }

    /// What each thread does that runs.
    var steps: [RunState.Step] { owner.with { $0.lanes(of: pool).map(\.step) } }
    var isWorking: Bool { owner.with { $0.isWorking(pool) } }
    var isOver: Bool { steps.isEmpty }

    /// Whether the destination still has the settings with which the threads were started.
    func isStill(_ other: Destination) -> Bool {
        destination.number == other.number && destination.settings == other.settings
            && destination.isDefault == other.isDefault
    }
}
