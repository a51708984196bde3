import CaptureBundle
import GRDB
import QueueModel
import QueueTransports
import SystemPackage

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

    /// Adds a folder as a destination, and marks it, so that an empty mount point is not mistaken for it. The first
    /// destination becomes the default.
    ///
    /// - Throws: `name.invalid`, `destination.exists`, `output.unusable`.
    public func addFolder(_ name: String, path: String) throws {
        try addDestination(name, kind: .folder, ["path": path])
    }

    /// Adds a destination. The first one becomes the default, and gets the captures that were pushed before.
    ///
    /// - Parameter settings: the settings of the kind (Spec/queue.md section 12). Paths of files are made absolute.
    /// - Throws: `name.invalid`, `destination.exists`, `destination.settings`, `output.unusable`.
    public func addDestination(_ name: String, kind: Destination.Kind, _ settings: [String: String]) throws {
        try QueueName.require(name, "a destination")
        try store.read { try $0.requireFree(destination: name) }
        var settings = try DestinationSettings.examined(settings, kind, of: name)
        if kind == .folder { settings = try FolderTransport.marked(settings, queue: folder.path) }
        let text = Destination.settingsText(settings)
        try store.turn { turn in
            try turn.write { db in
                let isFirst = try db.defaultDestination() == nil
                try db.requireFree(destination: name)
                try db.run(
                    "INSERT INTO destinations (name, kind, settings, is_default, added_at) VALUES (?, ?, ?, ?, ?)",
                    [name, kind.rawValue, text, isFirst ? 1 : 0, try clock.stamp(db)])
                if isFirst { try db.bindDeliveries(to: Int(db.lastInsertedRowID)) }
            }
            try SettingsCopy(self).write()
        }
    }

    /// Changes settings of a destination, and lifts its block.
    ///
    /// - Parameter changes: the new values by name; nil removes a setting.
    /// - Throws: `destination.unknown`, `destination.settings`.
    public func setDestination(_ name: String, _ changes: [String: String?]) throws {
        let known = try destination(name)
        guard let kind = Destination.Kind(rawValue: known.kind), kind != .folder else {
            throw QueueError(
                .destinationSettings, "the settings of a destination of kind \(known.kind) cannot be changed", of: name)
        }
        var settings = known.settings
        for (key, value) in changes { settings[key] = value }
        let text = Destination.settingsText(try DestinationSettings.examined(settings, kind, of: name))
        try store.turn { turn in
            try turn.write { db in
                try db.run("UPDATE destinations SET settings = ? WHERE id = ?", [text, known.number])
                try db.unblock("id = ?", [known.number])
            }
            try SettingsCopy(self).write()
        }
    }

    /// Makes a destination the default for captures that name none. Captures pushed before keep their destination.
    ///
    /// - Throws: `destination.unknown`, `destination.retired`.
    public func setDefaultDestination(_ name: String) throws {
        try store.turn { turn in
            try turn.write { db in
                try db.setDefault(db.activeDestination(name))
            }
            try SettingsCopy(self).write()
        }
    }

    /// Removes a destination without deliveries. A destination with deliveries stays, because their receipts name it.
    /// If the default is removed, the oldest destination becomes the default.
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
                        .destinationUsed, used == 1 ? "1 delivery refers to it" : "\(used) deliveries refer to it",
                        of: name,
                        hints: [
                            "without it, receipts would no longer say where captures were sent",
                            "to add no more captures to it: capqueue dest retire \(name)",
                        ])
                }
                try db.run("DELETE FROM destinations WHERE id = ?", [number])
                try db.ensureDefault()
            }
            try SettingsCopy(self).write()
        }
    }

    /// Changes a setting; nil restores the default value.
    ///
    /// - Throws: `value.invalid`.
    public func set(_ name: QueueSettings.Name, _ value: String?) throws {
        // Without a row the floor only warns, as in a queue that was made before there was a default.
        var value = value ?? (name == .freeFloor ? "default" : nil)
        if name == .inbox, let path = value, path != "none" { value = try Inbox.path(FilePath(path), of: folder) }
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
