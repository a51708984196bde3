import CaptureBundle
import CaptureNative
package import QueueModel
package import SystemPackage

/// The file that makes a folder a backup of one queue (Spec/queue.md section 15). Nothing changes or sends what such a
/// folder holds.
package struct BackupMark: Equatable {
    package static let name: FilePath.Component = "backup.json"
    private static let format = "capqueue/backup/1"

    /// The number of the queue, which only its backups know.
    package let queue: String
    /// Whether a restore has begun, so that a log in the folder belongs to its database.
    package let isRestoring: Bool

    package init(queue: String, isRestoring: Bool = false) { (self.queue, self.isRestoring) = (queue, isRestoring) }

    package static func path(in folder: QueueFolder) -> FilePath { folder.path.appending(name) }

    /// Reads the mark of a folder; nil if the folder has none.
    ///
    /// - Throws: `queue.unusable` if it is damaged.
    package init?(in folder: QueueFolder) throws(QueueError) {
        let path = Self.path(in: folder)
        let bytes = try ifThere(path) { try FileHandle.reading(path, followsLinks: false).readAll(limit: 4096) }
        guard let bytes else { return nil }
        guard let value = try? JSONParser.parse(bytes, nesting: 2), value["format"]?.text == Self.format,
            let queue = value["queue"]?.text
        else { throw QueueError(.unusable, "is not the mark of a backup", of: path) }
        self.init(queue: queue, isRestoring: value["restoring"] != nil)
    }

    /// Writes the mark into a folder that has none, or replaces it when a restore begins.
    package func write(in folder: QueueFolder) throws(QueueError) {
        let value = JSONValue.members([
            "format": .string(Self.format), "queue": .string(queue),
            "restoring": isRestoring ? .bool(true) : nil,
        ])
        try onFile(Self.path(in: folder)) {
            try AtomicFile.write(
                CanonicalJSON.encode(value), to: Self.path(in: folder), mode: 0o600,
                existing: isRestoring ? .replace : .refuse)
        }
    }

    /// Refuses a log or a journal beside the database of a backup, which has none: SQLite would apply what another database
    /// wrote.
    package static func requireNoLog(in folder: QueueFolder) throws(QueueError) {
        guard let mark = try BackupMark(in: folder), !mark.isRestoring else { return }
        for end in ["-wal", "-journal"] {
            let log = folder.database.adding(end)
            guard let status = try? FileStatus.ofName(log), status.size > 0 else { continue }
            throw QueueError(
                .unusable, "does not belong to the database beside it, because a backup has no log", of: log,
                cause: .backupLog)
        }
    }

    /// Why a queue with this mark cannot be changed.
    package static func refusal(of folder: QueueFolder) -> QueueError {
        QueueError(
            .stateRefused, "is a backup, so nothing in it can be changed or sent", of: folder.path,
            cause: .backup)
    }
}
