import CaptureNative
import GRDB

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
        package struct Anchor: Hashable, Sendable {
            package let boot: String
            package let wall: Int
            package let sinceBoot: Int
        }

        package var lastSeen: Int
        package var anchor: Anchor?

        package init(lastSeen: Int, anchor: Anchor? = nil) {
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
    func sinceBoot() -> Int { times().sinceBoot }

    package func read(_ memory: Memory) -> Reading { Self.judge(times(), memory) }

    /// The wall clock as it is, for a user who says that it is right.
    func accept() -> Memory {
        let now = times()
        return Memory(
            lastSeen: now.wall,
            anchor: now.boot.isEmpty ? nil : .init(boot: now.boot, wall: now.wall, sinceBoot: now.sinceBoot))
    }

    package static func judge(_ now: Times, _ memory: Memory) -> Reading {
        var memory = memory
        if memory.anchor?.boot != now.boot || now.boot.isEmpty {
            memory.anchor =
                now.wall >= memory.lastSeen && !now.boot.isEmpty
                ? .init(boot: now.boot, wall: now.wall, sinceBoot: now.sinceBoot) : nil
        }
        let expected = memory.anchor.map { $0.wall + now.sinceBoot - $0.sinceBoot } ?? now.wall
        let believed = min(now.wall, expected)
        let stamp = max(now.wall, memory.lastSeen, expected)
        memory.lastSeen = max(memory.lastSeen, believed)
        return Reading(wall: now.wall, stamp: stamp, believed: believed, memory: memory)
    }
}

extension QueueClock {
    /// Reads the clocks against what the database remembers.
    func read(_ db: Database) throws -> Reading {
        guard let row = try db.row("SELECT * FROM clock") else { return read(Memory(lastSeen: 0)) }
        var anchor: Memory.Anchor?
        if let boot = try row.text("boot"), let wall = try row.integer("anchor_wall"),
            let sinceBoot = try row.integer("anchor_boot")
        {
            anchor = .init(boot: boot, wall: wall, sinceBoot: sinceBoot)
        }
        return read(Memory(lastSeen: try row.needInteger("last_seen"), anchor: anchor))
    }

    /// The time for stamps, in Unix milliseconds; what was seen of it is remembered, to the second.
    func stamp(_ db: Database) throws -> Int {
        let reading = try read(db)
        let known = try db.integer("SELECT last_seen FROM clock")
        let boot = try db.text("SELECT boot FROM clock")
        if known.map({ reading.memory.lastSeen - $0 >= 1000 }) ?? true || boot != reading.memory.anchor?.boot {
            try Self.remember(reading.memory, db)
        }
        return reading.stamp
    }

    static func remember(_ memory: Memory, _ db: Database) throws {
        try db.run(
            """
            INSERT INTO clock (only, last_seen, boot, anchor_wall, anchor_boot) VALUES (1, ?, ?, ?, ?)
            ON CONFLICT (only) DO UPDATE SET last_seen = excluded.last_seen, boot = excluded.boot,
                anchor_wall = excluded.anchor_wall, anchor_boot = excluded.anchor_boot
            """,
            [memory.lastSeen, memory.anchor?.boot, memory.anchor?.wall, memory.anchor?.sinceBoot])
    }
}
