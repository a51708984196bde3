import CaptureNative
import GRDB
public import QueueFiles
import QueueModel

extension UploadQueue {
    /// Makes a queue of a backup. Deliveries that were not completed then are asked for before they are sent.
    ///
    /// If it is killed, the same call goes on.
    ///
    /// - Throws: `state.refused` if the folder is not a backup; the errors of opening a queue.
    public static func restore(_ folder: QueueFolder) throws {
        try QueueStore.open(folder, createIfMissing: false, freesReserve: false).close()
        guard let mark = try BackupMark(in: folder) else {
            throw QueueError(.stateRefused, "is not a backup but a queue", of: folder.path)
        }
        let lock = try onFile(folder.runLock) { try FileLock.take(folder.runLock, milliseconds: 0) }
        guard let lock else { throw QueueError(.busy, "another process is using the backup", of: folder.path) }
        defer { lock.release() }
        // From here on the folder may have a log of its own.
        try BackupMark(queue: mark.queue, isRestoring: true).write(in: folder)
        try QueueStore.converting(folder) {
            let database = try QueueStore.connect(folder.database)
            // The backup from which this was copied stays that of the other queue.
            try database.write { try $0.run("DELETE FROM settings WHERE name = ?", [SettingsCopy.number]) }
            try database.close()
        }
        try onFile(folder.path) {
            let home = try FolderHandle(folder.path)
            _ = try home.removeFile(BackupMark.name)
            try home.synchronize()
        }
        // The database may be of an older version, whose migration needs the lock.
        lock.release()
        let queue = try UploadQueue(at: folder)
        defer { queue.close() }
        try queue.store.turn { _ in try SettingsCopy(queue: queue).refresh() }
    }
}
