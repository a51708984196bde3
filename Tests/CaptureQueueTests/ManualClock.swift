import CaptureBundle
import CaptureQueue
import QueueModel
import Synchronization

/// A clock that a test sets.
final class ManualClock: Sendable {
    private let times: Mutex<QueueClock.Times>

    init(wall: Int = 1_800_000_000_000) {
        times = Mutex(.init(wall: CaptureTime(clamping: wall), boot: "boot", sinceBoot: .seconds(1)))
    }

    /// Lets time pass on all clocks.
    func pass(_ milliseconds: Int) {
        times.withLock {
            $0.wall += milliseconds
            $0.sinceBoot += milliseconds
        }
    }

    /// Simulates a restart of the machine.
    func restart() {
        times.withLock {
            $0.boot += "+"
            $0.sinceBoot = 1000
        }
    }

    /// Changes only the wall clock, as if somebody had set it.
    func jump(_ milliseconds: Int) { times.withLock { $0.wall += milliseconds } }

    /// The wall clock in Unix milliseconds.
    var now: Int { times.withLock(\.wall) }

    var clock: QueueClock { QueueClock { self.times.withLock(\.self) } }
}
