import GRDB

/// What was tried so far, of one destination (Spec/queue.md section 3).
public struct Traffic: Hashable, Sendable {
    public struct Count: Hashable, Sendable {
        public let outcome: String
        public let attempts: Int
        public let bytes: Int
        public let milliseconds: Int
    }

    /// Empty for tries whose destination was not known.
    public let destination: String
    public let counts: [Count]
    /// Upper bounds in milliseconds, ascending, with how many tries took at most so long.
    public let latencies: [(atMost: Int, attempts: Int)]

    public static func == (one: Traffic, other: Traffic) -> Bool {
        one.destination == other.destination && one.counts == other.counts
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(destination)
        hasher.combine(counts)
    }

    static func all(_ db: Database) throws -> [Traffic] {
        let names = try db.rows("SELECT id, name FROM destinations")
        var known: [Int: String] = [:]
        for row in names { known[try row.needInteger("id")] = try row.needText("name") }
        var counts: [Int: [Count]] = [:]
        for row in try db.rows("SELECT * FROM traffic ORDER BY destination, outcome") {
            counts[try row.needInteger("destination"), default: []].append(
                Count(
                    outcome: try row.needText("outcome"), attempts: try row.needInteger("attempts"),
                    bytes: try row.needInteger("bytes"), milliseconds: try row.needInteger("milliseconds")))
        }
        return try counts.keys.sorted().map { number in
            var sum = 0
            let latencies = try db.rows(
                "SELECT * FROM latency WHERE destination = ? ORDER BY at_most", [number]
            ).map { row in
                sum += try row.needInteger("attempts")
                return (atMost: try row.needInteger("at_most"), attempts: sum)
            }
            return Traffic(destination: known[number] ?? "", counts: counts[number] ?? [], latencies: latencies)
        }
    }
}
