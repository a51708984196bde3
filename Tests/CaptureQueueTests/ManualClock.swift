import CaptureQueue
import Synchronization

/// A clock that is set by hand.
final class ManualClock: Sendable {
    private let times: Mutex<QueueClock.Times>

    init(wall: Int = 1_800_000_000_000) { times = Mutex(.init(wall: wall, boot: "boot", sinceBoot: 1000)) }

    /// Time passes, by all clocks.
    func pass(_ milliseconds: Int) {
        times.withLock {
            $0.wall += milliseconds
            $0.sinceBoot += milliseconds
        }
    }

    /// The machine is started anew.
    func restart() {
        times.withLock {
            $0.boot += "+"
            $0.sinceBoot = 1000
        }
    }

    /// Somebody sets the wall clock.
    func jump(_ milliseconds: Int) { times.withLock { $0.wall += milliseconds } }

    /// Unix milliseconds, as the wall clock has them.
    var now: Int { times.withLock(\.wall) }

    var clock: QueueClock { QueueClock { self.times.withLock(\.self) } }
}
