import GRDB
import QueueModel

extension Traffic {
    /// What was sent to a destination that was removed since is counted with what has no destination, so that two of them are
    /// not two series of one name.
    static func all(_ db: Database) throws -> [Traffic] {
        var names: [Int: String] = [:]
        var counts: [Int: [Count]] = [:]
        let traffic = try db.rows(
            """
            SELECT coalesce(id, 0) AS place, outcome, coalesce(name, '') AS name, sum(attempts) AS attempts,
                sum(bytes) AS bytes, sum(milliseconds) AS milliseconds
            FROM traffic LEFT JOIN destinations ON id = destination GROUP BY 1, 2 ORDER BY 1, 2
            """)
        for row in traffic {
            let place = try row.needInteger("place")
            names[place] = try row.needText("name")
            counts[place, default: []].append(
                Count(
                    outcome: try row.needText("outcome"), attempts: try row.needInteger("attempts"),
                    bytes: try row.needInteger("bytes"), time: .milliseconds(try row.needInteger("milliseconds"))))
        }
        var latencies: [Int: [Traffic.Latency]] = [:]
        let times = try db.rows(
            """
            SELECT coalesce(id, 0) AS place, at_most, sum(attempts) AS attempts
            FROM latency LEFT JOIN destinations ON id = destination GROUP BY 1, 2 ORDER BY 1, 2
            """)
        for row in times {
            let number = try row.needInteger("place")
            let before = latencies[number]?.last?.attempts ?? 0
            latencies[number, default: []].append(
                Traffic.Latency(
                    atMost: .milliseconds(try row.needInteger("at_most")),
                    attempts: try before + row.needInteger("attempts")))
        }
        return counts.keys.sorted().map { number in
            Traffic(
                destination: names[number] ?? "", counts: counts[number] ?? [], latencies: latencies[number] ?? [])
        }
    }
}
