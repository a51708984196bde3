import CaptureNative
import Synchronization
import SystemPackage

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
