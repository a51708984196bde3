import GRDB
import QueueModel
import QueueTransports

extension Traffic {
    /// What was sent to a destination that was removed since is counted with what has no destination, so that two of them are
    /// not two series of one name.
    static func all(_ db: Database) throws -> [Traffic] {
        let place = "CASE WHEN destination IN (SELECT id FROM destinations) THEN destination ELSE 0 END"
        var known: [Int: String] = [:]
        for row in try db.rows("SELECT id, name FROM destinations") {
            known[try row.needInteger("id")] = try row.needText("name")
        }
        var counts: [Int: [Count]] = [:]
        let traffic = try db.rows(
            """
            SELECT \(place) AS place, outcome, sum(attempts) AS attempts, sum(bytes) AS bytes,
                sum(milliseconds) AS milliseconds FROM traffic GROUP BY 1, 2 ORDER BY 1, 2
            """)
        for row in traffic {
            counts[try row.needInteger("place"), default: []].append(
                Count(
                    outcome: try row.needText("outcome"), attempts: try row.needInteger("attempts"),
                    bytes: try row.needInteger("bytes"), milliseconds: try row.needInteger("milliseconds")))
        }
        var latencies: [Int: [Traffic.Latency]] = [:]
        let times = try db.rows(
            "SELECT \(place) AS place, at_most, sum(attempts) AS attempts FROM latency GROUP BY 1, 2 ORDER BY 1, 2")
        for row in times {
            let number = try row.needInteger("place")
            let before = latencies[number]?.last?.attempts ?? 0
            latencies[number, default: []].append(
                Traffic.Latency(
                    atMost: try row.needInteger("at_most"), attempts: try before + row.needInteger("attempts")))
        }
        return counts.keys.sorted().map { number in
            Traffic(
                destination: known[number] ?? "", counts: counts[number] ?? [], latencies: latencies[number] ?? [])
        }
    }
}
