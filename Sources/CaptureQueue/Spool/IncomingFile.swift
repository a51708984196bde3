import CaptureNative
import QueueModel
import Synchronization
import SystemPackage

/// Bytes on their way into the spool: without a name where the file system has such files, else under one in `incoming/`.
/// It goes when its last owner lets go, unless it was published.
final class IncomingFile: Sendable {
    let handle: FileHandle
    private let folder: FolderHandle
    private let name: Mutex<FilePath.Component?>

    init(in folder: FolderHandle) throws(NativeError) {
        self.folder = folder
        if let unnamed = try folder.openUnnamed(mode: 0o600) {
            handle = unnamed
            name = Mutex(nil)
        } else {
            var generator = SystemRandomNumberGenerator()
            let name = FilePath.Component(digits: (0..<8).map { _ in generator.next() }).adding(".tmp")
            handle = try folder.open(name, FileHandle.newFile, mode: 0o600)
            self.name = Mutex(name)
            // Says that somebody is at it; it goes with the process.
            _ = handle.lockIfFree()
        }
    }

    /// Whether the file has been left by a process that is gone.
    static func isAbandoned(_ name: FilePath.Component, in folder: FolderHandle) throws(NativeError) -> Bool {
        do throws(NativeError) {
            return try folder.open(name, FileHandle.existingFile).lockIfFree()
        } catch  where error.isMissing {
            return false
        } catch  where error.isLoop {
            return true
        }
    }

    deinit {
        if let name = name.withLock(\.self) { _ = try? folder.removeFile(name) }
    }

    /// Gives it its name in a folder of the spool; the folder is not synced yet.
    ///
    /// - Throws: `EEXIST` where something has that name.
    func publish(in target: FolderHandle, as other: FilePath.Component) throws(NativeError) {
        guard let known = name.withLock(\.self) else { return try target.link(handle, as: other) }
        try folder.move(known, to: target, as: other)
        name.withLock { $0 = nil }
    }
}
