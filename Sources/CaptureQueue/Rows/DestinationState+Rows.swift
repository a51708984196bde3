import CaptureBundle
import GRDB
import QueueModel

extension DestinationState.Saved {
    init(row: Row) throws {
        self.init(
            failures: try Self.captures(row, "failures"), refusals: try Self.captures(row, "refusals"),
            unproven: try Self.captures(row, "unproven"), outage: try row.text("outage").flatMap(Outage.init))
        guard let word = try row.text("blocked_reason") else { return }
        guard let reason = Block.Reason(rawValue: word) else {
            throw QueueError.corruptRecord("unknown block reason \(word)")
        }
        block = Block(
            reason, try row.text("blocked_message") ?? "",
            cause: try row.text("blocked_cause").map(Block.Cause.init(rawValue:)),
            pause: try row.integer("blocked_for").map { .milliseconds($0) }, until: try row.time("blocked_until"))
    }

    /// Parses capture numbers that are separated by commas.
    private static func captures(_ row: Row, _ column: String) throws -> [Int] {
        try row.needText(column).pieces(by: ",").map { text in
            guard let number = Int(text) else { throw QueueError.corruptRecord("\(column) is not a list of captures") }
            return number
        }
    }
}

extension Database {
    func save(_ saved: DestinationState.Saved, ofDestination number: Int) throws {
        let (block, streaks) = (saved.block, [saved.failures, saved.refusals, saved.unproven])
        let lists = streaks.map { $0.map(String.init).joined(separator: ",") }
        try run(
            """
            UPDATE destinations SET blocked_reason = ?, blocked_message = ?, blocked_cause = ?, blocked_for = ?,
                blocked_until = ?, failures = ?, refusals = ?, unproven = ?, outage = ? WHERE id = ?
            """,
            [
                block?.reason.rawValue, block?.message, block?.cause?.rawValue, block?.pause?.milliseconds,
                block?.until?.milliseconds, lists[0], lists[1], lists[2], saved.outage?.text, number,
            ])
    }

    func keep(_ traits: DigestTraits, _ condition: String, _ number: Int) throws {
        try run(
            "UPDATE destinations SET refuses_wrong = ?, has_md5_etags = ? WHERE \(condition)",
            [traits.refusesWrong, traits.hasMD5ETags, number])
    }

    /// Lifts the blocks of destinations for the user and forgets their streaks of failures.
    func unblock(_ condition: String, _ arguments: StatementArguments = StatementArguments()) throws {
        try run(
            """
            UPDATE destinations SET blocked_reason = NULL, blocked_message = NULL, blocked_cause = NULL, blocked_for = NULL,
                blocked_until = NULL, failures = '', refusals = '', unproven = '', outage = NULL, lifts = lifts + 1 WHERE \(condition)
            """, arguments)
    }
}
