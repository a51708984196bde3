import GRDB
import QueueModel

extension CaptureFilter {
    func condition(_ db: Database) throws -> (sql: String, arguments: StatementArguments) {
        var parts: [String] = []
        var arguments = StatementArguments()
        if let session {
            guard let id = try db.integer("SELECT id FROM sessions WHERE name = ?", [session]) else {
                throw QueueError(.sessionUnknown, "no such session", of: session)
            }
            parts.append("session = ?")
            arguments += [id]
        }
        if !states.isEmpty {
            parts.append("state IN (\(states.map { "'\($0.rawValue)'" }.joined(separator: ", ")))")
        }
        if let destination {
            parts.append("EXISTS (SELECT 1 FROM deliveries WHERE capture = captures.seq AND destination = ?)")
            arguments += [try db.destination(destination)]
        }
        return (parts.joined(separator: " AND "), arguments)
    }
}

extension Database {
    func captures(_ filter: CaptureFilter, before: Int, limit: Int) throws -> [CaptureRecord] {
        let (condition, arguments) = try filter.condition(self)
        // Each state has its own index. For several states, the newest captures of each are merged.
        guard filter.states.count > 1 else {
            return try CaptureRecord.all(
                self, "WHERE \(condition.isEmpty ? "1" : condition) AND seq < ? ORDER BY seq DESC LIMIT ?",
                arguments + [before, limit])
        }
        var merged: [CaptureRecord] = []
        for state in filter.states {
            var one = filter
            one.states = [state]
            merged += try captures(one, before: before, limit: limit)
        }
        return Array(merged.sorted { $0.sequence > $1.sequence }.prefix(limit))
    }
}
