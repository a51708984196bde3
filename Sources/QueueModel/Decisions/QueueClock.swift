import CaptureNative

/// Tells how much of the clock can be believed, so that a wrong clock delays deletion and never hastens it
/// (Spec/queue.md section 8). The times are handed in, the rule is pure.
public struct QueueClock: Sendable {
    /// What the machine's clocks say.
    public struct Times: Hashable, Sendable {
        /// Unix time in milliseconds.
        public var wall: Int
        /// Names this start of the machine; empty where the system does not say.
        public var boot: String
        /// Milliseconds since that start, time asleep included.
        public var sinceBoot: Int

        public init(wall: Int, boot: String, sinceBoot: Int) {
            self.wall = wall
            self.boot = boot
            self.sinceBoot = sinceBoot
        }
    }

    /// What the queue remembers of time.
    package struct Memory: Hashable, Sendable {
        package var lastSeen: Int
        /// What the clocks said when the wall clock was first trusted in this start of the machine.
        package var anchor: Times?

        package init(lastSeen: Int, anchor: Times? = nil) {
            self.lastSeen = lastSeen
            self.anchor = anchor
        }
    }

    /// What can be believed.
    package struct Reading: Hashable, Sendable {
        package let wall: Int
        /// For stamps: no earlier than anything that was seen.
        package let stamp: Int
        /// For deletion: no later than anything that speaks against it.
        package let believed: Int
        package let memory: Memory

        /// How far the wall clock is from what was to be expected; nil where they agree to a minute.
        package var doubt: Int? {
            let off = max(wall - believed, stamp - wall)
            return off > 60_000 ? off : nil
        }
    }

    private let times: @Sendable () -> Times

    public init(_ times: @escaping @Sendable () -> Times) { self.times = times }

    /// The clocks of this machine.
    public static let system = QueueClock {
        Times(wall: WallClock.milliseconds, boot: BootClock.identity, sinceBoot: BootClock.milliseconds)
    }

    /// Milliseconds since this machine started, time asleep included.
    package func sinceBoot() -> Int { times().sinceBoot }

    package func read(_ memory: Memory) -> Reading { Self.judge(times(), memory) }

    /// The wall clock as it is, for a user who says that it is right.
    package func accept() -> Memory {
        let now = times()
        return Memory(lastSeen: now.wall, anchor: now.boot.isEmpty ? nil : now)
    }

    package static func judge(_ now: Times, _ memory: Memory) -> Reading {
        var memory = memory
        if memory.anchor?.boot != now.boot || now.boot.isEmpty {
            memory.anchor = now.wall >= memory.lastSeen && !now.boot.isEmpty ? now : nil
        }
        let expected = memory.anchor.map { $0.wall + now.sinceBoot - $0.sinceBoot } ?? now.wall
        let believed = min(now.wall, expected)
        let stamp = max(now.wall, memory.lastSeen, expected)
        memory.lastSeen = max(memory.lastSeen, believed)
        return Reading(wall: now.wall, stamp: stamp, believed: believed, memory: memory)
    }
}
