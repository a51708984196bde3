import CaptureBundle
import GRDB
import QueueModel
import QueueTransports

extension Destination {
    static func all(_ db: Database, _ condition: String = "", _ arguments: StatementArguments = []) throws
        -> [Destination]
    {
        try db.rows("SELECT * FROM destinations \(condition) ORDER BY id", arguments).map { row in
            let name = try row.needText("name")
            let value = try? JSONParser.parse(Array(try row.needText("settings").utf8), nesting: 2)
            guard let members = value?.members else {
                throw QueueError.corruptRecord("the settings of \(name) cannot be read")
            }
            var destination = Destination(
                name: name,
                settings: DestinationSettings(
                    stored: try row.needText("kind"),
                    Dictionary(members.compactMap { member in member.value.text.map { (member.name, $0) } }) {
                        one, _ in one
                    }),
                isDefault: try row.needInteger("is_default") == 1, addedAt: try row.needTime("added_at"),
                saved: try CircuitBreaker.Saved(row: row), isPaused: try row.needInteger("paused") > 0,
                isPausedAtOnce: try row.needInteger("paused") == 2,
                lifts: try row.needInteger("lifts"), number: try row.needInteger("id"))
            destination.digests.refusesWrong = try row.integer("refuses_wrong").map { $0 == 1 }
            destination.digests.hasMD5ETags = try row.needInteger("has_md5_etags") == 1
            destination.isRetired = try row.needInteger("is_retired") == 1
            destination.formerNames = try row.needText("former_names").pieces(by: " ")
            return destination
        }
    }

    static func settingsText(_ settings: DestinationSettings) -> String {
        let members = settings.texts.map { JSONValue.Member($0.key, .string($0.value)) }
        return String(decoding: CanonicalJSON.encode(.object(members)), as: UTF8.self)
    }
}

extension CircuitBreaker.Saved {
    init(row: Row) throws {
        self.init()
        (failures, refusals) = (try Self.captures(row, "failures"), try Self.captures(row, "refusals"))
        (unproven, outage) = (try Self.captures(row, "unproven"), try row.text("outage").flatMap(Outage.init))
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
    func save(_ saved: CircuitBreaker.Saved, ofDestination number: Int) throws {
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

    func keep(_ traits: DigestTraits, where condition: String, _ number: Int) throws {
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

/// When a new delivery may be sent.
struct DeliveryStart {
    let due: Int
    /// The time that the user gave; for a span, when it ends by the time for records.
    let notBefore: Int?
    /// Where the user gave a span: its end, in `QueueClock.Reading.elapsed`.
    let spanUntil: Int?

    init(_ now: QueueClock.Reading, notBefore: CaptureTime? = nil, delay: Duration? = nil) {
        due = max(now.wall + (delay?.milliseconds ?? 0), notBefore?.milliseconds ?? now.wall)
        self.notBefore = delay.map { now.recordTime + $0.milliseconds } ?? notBefore?.milliseconds
        spanUntil = delay.map { now.elapsed + $0.milliseconds }
    }
}
