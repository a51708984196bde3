import CaptureBundle
import GRDB
import QueueModel

extension UploadQueue {
    /// Gives a destination another name. Sidecars with the old name still mean this destination.
    ///
    /// - Throws: `destination.unknown`, `destination.exists`, `name.invalid`.
    public func renameDestination(_ name: String, to newName: String) throws {
        try QueueName.require(newName, "a destination")
        try store.turn { turn in
            try turn.write { db in
                let number = try db.destination(name)
                try db.requireFree(destination: newName, for: number)
                let former = try db.text("SELECT former_names FROM destinations WHERE id = ?", [number]) ?? ""
                let names = former.pieces(by: " ").filter { $0 != newName && $0 != name } + [name]
                try db.run(
                    "UPDATE destinations SET name = ?, former_names = ? WHERE id = ?",
                    [newName, names.joined(separator: " "), number])
            }
            try SettingsCopy(self).write()
        }
    }
}
