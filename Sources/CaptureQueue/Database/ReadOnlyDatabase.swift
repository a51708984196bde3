import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import Synchronization
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
            while case let piece = try from.read(1 << 18, at: copied), !piece.isEmpty {
                try to.write(piece)
                copied += piece.count
            }
        }
    }
}

/// Opens a database file besides SQLite, and keeps it open until the process ends.
///
/// SQLite's locks on a file are POSIX locks, and a process loses them when it closes any descriptor of that file. The
/// next other process that closes the database would then believe that it is the last one, and delete the log that
/// this process still writes to. So no descriptor of a database is ever closed here.
enum DatabaseFile {
    private static let opened = Mutex<[FileHandle]>([])

    /// Opens a file for reading, or returns the handle that is open already. Use it with positions only.
    static func reading(_ path: FilePath) throws(NativeError) -> FileHandle {
        let identity = try FileStatus.ofName(path).identity
        if let known = known(identity) { return known }
        return keep(try FileHandle.reading(path, followsLinks: false))
    }

    /// Creates a file unless it exists.
    ///
    /// - Returns: whether it is empty.
    static func make(_ path: FilePath) throws(NativeError) -> Bool {
        if let status = try? FileStatus.ofName(path), known(status.identity) != nil { return status.size == 0 }
        return try keep(FileHandle.open(path, FileHandle.newOrExistingFile, mode: 0o600)).status().size == 0
    }

    private static func known(_ identity: FileStatus.Identity) -> FileHandle? {
        opened.withLock { $0.first { (try? $0.status().identity) == identity } }
    }

    private static func keep(_ handle: FileHandle) -> FileHandle {
        opened.withLock { opened in
            // A file without a name cannot be opened by other processes any more.
            opened.removeAll { (try? $0.status().links) == 0 }
            opened.append(handle)
        }
        return handle
    }
}
