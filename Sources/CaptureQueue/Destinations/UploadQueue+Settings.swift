import GRDB
public import QueueModel
import SystemPackage

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
