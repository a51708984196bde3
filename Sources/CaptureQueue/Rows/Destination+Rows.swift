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
            return Destination(
                name: name,
                settings: DestinationSettings(
                    stored: try row.needText("kind"),
                    Dictionary(members.compactMap { member in member.value.text.map { (member.name, $0) } }) {
                        one, _ in one
                    }),
                isDefault: try row.needInteger("is_default") == 1, addedAt: try row.needTime("added_at"),
                saved: try DestinationState.Saved(row: row), isPaused: try row.needInteger("paused") > 0,
                isPausedAtOnce: try row.needInteger("paused") == 2,
                digests: DigestTraits(
                    refusesWrong: try row.integer("refuses_wrong").map { $0 == 1 },
                    hasMD5ETags: try row.needInteger("has_md5_etags") == 1),
                isRetired: try row.needInteger("is_retired") == 1,
                formerNames: try row.needText("former_names").pieces(by: " "),
                lifts: try row.needInteger("lifts"), number: try row.needInteger("id"))
        }
    }

    static func settingsText(_ settings: DestinationSettings) -> String {
        let members = settings.texts.map { JSONValue.Member($0.key, .string($0.value)) }
        return String(decoding: CanonicalJSON.encode(.object(members)), as: UTF8.self)
    }
}
