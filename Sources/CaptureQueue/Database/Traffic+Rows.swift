import GRDB
import QueueModel
import QueueTransports

extension Traffic {
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
