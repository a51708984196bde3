public import CaptureBundle
import CaptureNative

/// Decides how far the wall clock can be trusted, so that a wrong clock delays deletion and never hastens it
/// (Spec/queue.md section 8). `evaluate` is pure: it gets the times as arguments.
public struct QueueClock: Sendable {
    /// The values of the machine's clocks.
    public struct Times: Hashable, Sendable {
        /// Unix time in milliseconds.
        package var wall: Int
        /// Identifies this start of the machine; empty if the system does not say.
        package var boot: String
        /// Milliseconds since that start, including sleep.
        package var sinceBoot: Int

        public init(wall: CaptureTime, boot: String, sinceBoot: Duration) {
            self.wall = wall.milliseconds
            self.boot = boot
            self.sinceBoot = sinceBoot.milliseconds
        }
    }

    /// The times that the queue remembers.
    package struct Memory: Sendable {
        package var lastSeen: Int
        /// The clock values when the wall clock was first trusted after this start of the machine.
        package var anchor: Times?
        /// The latest stamp that was given.
        package var latest = 0
        /// How much time has passed by the boot clock, in milliseconds; never more than has really passed.
        package var elapsed = 0
        /// The boot clock when `elapsed` was last counted; nil before the first time.
        package var looked: (boot: String, sinceBoot: Int)?

        package init(lastSeen: Int) { self.lastSeen = lastSeen }
    }

    /// The times that can be trusted.
    package struct Reading: Sendable {
        package let wall: Int
        /// The time for records. It is never earlier than a time that was seen before.
        package let recordTime: Int
        /// The time for deletion: the earliest time that the clocks support.
        package let believed: Int
        package let memory: Memory

        /// The time that has passed by the boot clock, in milliseconds. No wrong wall clock changes it.
        package var elapsed: Int { memory.elapsed }

        /// How far the wall clock is from the expected time, or behind a stamp; nil if that is at most a minute.
        package var doubt: Duration? {
            let off = max(wall - believed, memory.latest - wall)
            return off > 60_000 ? .milliseconds(off) : nil
        }
    }

    private let times: @Sendable () -> Times

    public init(_ times: @escaping @Sendable () -> Times) { self.times = times }

    /// The clocks of this machine.
    public static let system = QueueClock {
        Times(
            wall: CaptureTime(clamping: WallClock.milliseconds), boot: BootClock.identity,
            sinceBoot: .milliseconds(BootClock.milliseconds))
    }

    /// Milliseconds since this machine started, including sleep.
    package func sinceBoot() -> Int { times().sinceBoot }

    /// The wall clock in Unix milliseconds.
    package func wall() -> Int { times().wall }

    package func read(_ memory: Memory) -> Reading { Self.evaluate(times(), memory) }

    /// Trusts the current wall clock despite earlier readings, because the user says that it is right.
    package func accept(_ memory: Memory) -> Reading {
        let now = times()
        var accepted = memory
        (accepted.lastSeen, accepted.latest) = (now.wall, 0)
        accepted.anchor = now.boot.isEmpty ? nil : now
        return Self.evaluate(now, accepted)
    }

    package static func evaluate(_ now: Times, _ memory: Memory) -> Reading {
        var memory = memory
        if memory.anchor?.boot != now.boot || now.boot.isEmpty {
            memory.anchor = now.wall >= memory.lastSeen && !now.boot.isEmpty ? now : nil
        }
        let expected = memory.anchor.map { $0.wall + now.sinceBoot - $0.sinceBoot } ?? now.wall
        let believed = min(now.wall, expected)
        let recordTime = max(now.wall, memory.lastSeen, expected)
        memory.lastSeen = max(memory.lastSeen, believed)
        memory.latest = max(memory.latest, recordTime)
        if let looked = memory.looked {
            memory.elapsed += looked.boot == now.boot ? max(0, now.sinceBoot - looked.sinceBoot) : now.sinceBoot
        }
        memory.looked = (now.boot, now.sinceBoot)
        return Reading(wall: now.wall, recordTime: recordTime, believed: believed, memory: memory)
    }
}

package struct RunTime: Hashable, Sendable {
    /// For due times: the wall clock at the start of the run, plus the time since then by the boot clock.
    package let wall: Int
    /// For stored times. It is never earlier than a time that was seen before.
    package let recordTime: Int

    package init(wall: Int, recordTime: Int) { (self.wall, self.recordTime) = (wall, recordTime) }
}

extension QueueClock.Reading {
    /// - Parameter run: the time of a run; nil where none is under way.
    package func time(in run: RunTime?) -> RunTime {
        RunTime(wall: run?.wall ?? wall, recordTime: max(run?.recordTime ?? recordTime, recordTime))
    }
}
