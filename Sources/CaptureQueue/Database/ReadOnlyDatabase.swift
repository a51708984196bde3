import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import SystemPackage

/// Reads a queue on a disk that is read-only or full.
///
/// SQLite cannot read a database with a log without creating a file beside it. So the database and its log are copied
/// to the temporary folder and read there. The files of the copy are deleted as soon as they are open.
enum ReadOnlyDatabase {
    /// - Returns: nil if the folder can be written.
    static func openIfNeeded(_ folder: QueueFolder) throws -> DatabaseQueue? {
        do throws(NativeError) {
            try ProcessEnvironment.canWrite(folder: folder.path)
            return nil
        } catch {
            guard folder.exists else { throw QueueError.file(folder.path, error) }
        }
        return try open(folder)
    }

    static func open(_ folder: QueueFolder) throws -> DatabaseQueue {
        do {
            return try read(onFile(TemporaryFile.folder) { try TemporaryDirectory() }, folder)
        } catch let error where QueueStore.isOfFullDisk(error, folder) {
            // The temporary folder may be on the same disk.
            let memory: FilePath = "/dev/shm"
            return try read(onFile(memory) { try TemporaryDirectory(in: memory) }, folder)
        }
    }

    private static func read(_ copy: TemporaryDirectory, _ folder: QueueFolder) throws -> DatabaseQueue {
        defer { copy.remove() }
        for end in ["", "-wal"] where FileStatus.exists(folder.database.adding(end)) {
            try copyFile(folder.database.adding(end), to: copy.path.appending("queue.sqlite" + end))
        }
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY") }
        let queue = try DatabaseQueue(
            path: copy.path.appending("queue.sqlite").string, configuration: configuration)
        // The first read opens the files of the log; after that no file needs its name.
        try queue.read { try Schema.requireOurs($0, in: folder) }
        if try !queue.read({ try Schema.isCurrent($0) }) { try Schema.migrator.migrate(queue) }
        return queue
    }

    private static func copyFile(_ source: FilePath, to target: FilePath) throws(QueueError) {
        let from = try onFile(source) { try DatabaseFile.reading(source) }
        try onFile(target) {
            let to = try FileHandle.open(target, FileHandle.newFile, mode: 0o600)
            var copied = 0
            while true {
                let piece = try from.read(1 << 18, at: copied)
                if piece.isEmpty { return }
                try to.write(piece)
                copied += piece.count
            }
        }
    }
}
