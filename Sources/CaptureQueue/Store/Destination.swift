import CaptureBundle
import GRDB

/// Where captures go.
public struct Destination: Hashable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        /// A folder on a mounted disk.
        case folder
    }

    public let name: String
    public let kind: String
    /// Flat: the settings of its kind (Spec/queue.md section 12).
    public let settings: [String: String]
    public let isDefault: Bool
    /// Unix milliseconds.
    public let addedAt: Int
    let number: Int

    static func all(_ db: Database, _ condition: String = "", _ arguments: StatementArguments = []) throws
        -> [Destination]
    {
        try db.rows("SELECT * FROM destinations \(condition) ORDER BY id", arguments).map { row in
            let name = try row.needText("name")
            let value = try? JSONParser.parse(Array(try row.needText("settings").utf8), nesting: 2)
            guard let members = value?.members else { throw QueueError.corruptRecord("no settings of \(name)") }
            return Destination(
                name: name, kind: try row.needText("kind"),
                settings: Dictionary(members.compactMap { member in member.value.text.map { (member.name, $0) } }) {
                    one, _ in one
                },
                isDefault: try row.needInteger("is_default") == 1, addedAt: try row.needInteger("added_at"),
                number: try row.needInteger("id"))
        }
    }

    static func settingsText(_ settings: [String: String]) -> String {
        let members = settings.map { JSONValue.Member($0.key, .string($0.value)) }
        return String(decoding: CanonicalJSON.encode(.object(members)), as: UTF8.self)
    }
}

extension UploadQueue {
    public func destinations() throws -> [Destination] { try store.read { try Destination.all($0) } }

    /// - Throws: `destination.unknown`.
    public func destination(_ name: String) throws -> Destination {
        try store.read { db in
            _ = try db.destination(name)
            guard let found = try Destination.all(db, "WHERE name = ?", [name]).first else {
                throw QueueError(.destinationUnknown, "no such destination", of: name)
            }
            return found
        }
    }

    /// Names a folder as a destination, and marks it, so that an empty mount point is not taken for it. The first destination
    /// is the default one.
    ///
    /// - Throws: `name.invalid`, `destination.exists`, `output.unusable`.
    public func addFolder(_ name: String, path: String) throws {
        try QueueName.require(name, "a destination")
        try store.read { db in
            if try db.integer("SELECT 1 FROM destinations WHERE name = ?", [name]) != nil {
                throw QueueError(.destinationExists, "there is such a destination already", of: name)
            }
        }
        let (path, marker) = try FolderTransport.mark(path, queue: folder)
        try store.turn { turn in
            try turn.write { db in
                let isFirst = try db.integer("SELECT 1 FROM destinations") == nil
                guard try db.integer("SELECT 1 FROM destinations WHERE name = ?", [name]) == nil else {
                    throw QueueError(.destinationExists, "there is such a destination already", of: name)
                }
                try db.run(
                    "INSERT INTO destinations (name, kind, settings, is_default, added_at) VALUES (?, ?, ?, ?, ?)",
                    [
                        name, Destination.Kind.folder.rawValue,
                        Destination.settingsText(["path": path, "marker": marker]), isFirst ? 1 : 0,
                        try clock.stamp(db),
                    ])
            }
            try SettingsCopy(self).write()
        }
    }

    /// Makes a destination the one for captures that name none.
    ///
    /// - Throws: `destination.unknown`.
    public func setDefaultDestination(_ name: String) throws {
        try store.turn { turn in
            try turn.write { db in
                let number = try db.destination(name)
                try db.run("UPDATE destinations SET is_default = 0 WHERE is_default = 1")
                try db.run("UPDATE destinations SET is_default = 1 WHERE id = ?", [number])
            }
            try SettingsCopy(self).write()
        }
    }

    /// Forgets a destination that no capture names. What was delivered there keeps its receipts, so one with deliveries stays.
    ///
    /// - Throws: `destination.unknown`, `destination.used`.
    public func removeDestination(_ name: String) throws {
        try store.turn { turn in
            try turn.write { db in
                let number = try db.destination(name)
                if let used = try db.integer("SELECT count(*) FROM deliveries WHERE destination = ?", [number]),
                    used > 0
                {
                    throw QueueError(
                        .destinationUsed, "\(used) deliveries name it", of: name,
                        hints: ["their receipts would not say any more where they went"])
                }
                try db.run("DELETE FROM destinations WHERE id = ?", [number])
            }
            try SettingsCopy(self).write()
        }
    }

    /// Changes a setting; nil sets it back.
    ///
    /// - Throws: `value.invalid`.
    public func set(_ name: QueueSettings.Name, _ value: String?) throws {
        if let value {
            var tried = QueueSettings()
            try tried.set(name, value)
        }
        try store.turn { turn in
            try turn.write { db in
                if let value {
                    try db.run(
                        "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                        [name.rawValue, value])
                } else {
                    try db.run("DELETE FROM settings WHERE name = ?", [name.rawValue])
                }
            }
            try SettingsCopy(self).write()
        }
    }
}
