import CaptureBundle
import CaptureNative
import GRDB
import QueueFiles
public import QueueModel
import QueueTransports
import SystemPackage

/// A copy of settings and destinations beside the database, which only `salvage` reads.
struct SettingsCopy {
    let queue: UploadQueue
    static let sizeLimit = 1 << 20
    /// The row of `settings` by which backups know their queue. The copy does not have it: a salvaged queue is another.
    static let number = "queue-number"

    /// Changes settings or destinations in one transaction, and then writes the copy.
    func changing<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try queue.store.turn { turn in
            let value = try turn.write(body)
            try write()
            return value
        }
    }

    /// Writes the copy. The caller has the turn to write.
    private func write() throws {
        let bytes = try encoded()
        let path = queue.folder.settingsCopy
        try onFile(path) { try AtomicFile.write(bytes, to: path, mode: 0o600, existing: .replace) }
    }

    /// Writes the copy if it differs from the database, for example after a kill between the two writes.
    func refresh() throws {
        let known = (try? FileHandle.reading(queue.folder.settingsCopy, followsLinks: false))
            .flatMap { try? $0.readAll(limit: Self.sizeLimit) }
        let isNothingToSay = try known == nil && queue.destinations.list().isEmpty && queue.settings().isDefault
        if try !isNothingToSay && known != encoded() { try write() }
    }

    private func encoded() throws -> [UInt8] {
        let value = try queue.store.read { db in
            JSONValue.members([
                "settings": .object(
                    try db.rows("SELECT name, value FROM settings WHERE name <> ?", [Self.number]).map {
                        JSONValue.Member(try $0.needText("name"), .string(try $0.needText("value")))
                    }),
                "destinations": .array(
                    try Destination.all(db).map { destination in
                        .members([
                            "name": .string(destination.name), "kind": .string(destination.kind),
                            "settings": .string(Destination.settingsText(destination.settings)),
                            "default": .bool(destination.isDefault),
                            "added_at": .integer(destination.addedAt.milliseconds),
                            "former_names": .array(destination.formerNames.map { .string($0) }),
                            "retired": .bool(destination.isRetired),
                        ])
                    }),
            ])
        }
        return CanonicalJSON.encode(value)
    }

    /// The temporary file that a kill during `write` leaves.
    static func leftover(in folder: QueueFolder) -> FilePath { folder.path.appending(leftoverName) }

    private static let leftoverName: FilePath.Component = ".settings.json.new.tmp"

    static func sweep(_ folder: QueueFolder) -> Bool {
        guard let home = try? FolderHandle(folder.path), let name = folder.settingsCopy.name else { return false }
        return home.removeLeftover(leftoverName, of: name)
    }

    /// Restores settings and destinations into a new database. A missing or damaged copy is ignored.
    static func restore(from folder: QueueFolder, into db: Database) throws {
        guard let file = try? FileHandle.reading(folder.settingsCopy, followsLinks: false),
            let bytes = try? file.readAll(limit: sizeLimit), let value = try? JSONParser.parse(bytes, nesting: 4)
        else { return }
        for member in value["settings"]?.members ?? [] {
            guard let text = member.value.text else { continue }
            try db.run("INSERT OR REPLACE INTO settings VALUES (?, ?)", [member.name, text])
        }
        for element in value["destinations"]?.elements ?? [] {
            guard let name = element["name"]?.text, let kind = element["kind"]?.text,
                let settings = element["settings"]?.text, let added = element["added_at"]?.integer
            else { continue }
            let former = element["former_names"]?.elements?.compactMap(\.text) ?? []
            try db.run(
                """
                INSERT OR IGNORE INTO destinations (name, kind, settings, is_default, added_at, former_names, is_retired)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    name, kind, settings, isTrue(element["default"]), added, former.joined(separator: " "),
                    isTrue(element["retired"]),
                ])
        }
        try db.ensureDefault()
    }

    private static func isTrue(_ value: JSONValue?) -> Bool {
        if case .bool(true)? = value { true } else { false }
    }
}

extension UploadQueue {
    public func settings() throws -> QueueSettings {
        try store.read { try QueueSettings($0) }
    }

    /// Changes a setting; nil restores the default value.
    ///
    /// - Throws: `value.invalid`.
    public func set(_ name: QueueSettings.Name, _ value: String?) throws {
        var value = value
        if name == .inbox, let path = value, path != "none" { value = try Inbox.path(FilePath(path), of: folder) }
        if let value {
            var tried = QueueSettings()
            try tried.set(name, value)
        }
        try SettingsCopy(queue: self).changing { db in
            if let value {
                try db.run(
                    "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                    [name.rawValue, value])
            } else {
                try db.run("DELETE FROM settings WHERE name = ?", [name.rawValue])
            }
        }
    }
}
