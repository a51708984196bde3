import CaptureNative
import Synchronization
import SystemPackage

/// A file whose bytes are being copied into the spool. It has no name if the file system supports that, else one in
/// `incoming/`. It is deleted when its last owner releases it, unless it was published.
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
            // The lock shows that a push is using the file. It ends with the process.
            _ = handle.lockIfFree()
        }
    }

    /// Whether the process that wrote the file has ended.
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

    /// Gives the file its name in a folder of the spool. The folder is not synced yet.
    ///
    /// - Throws: `EEXIST` if the name is in use.
    func publish(in target: FolderHandle, as other: FilePath.Component) throws(NativeError) {
        guard let known = name.withLock(\.self) else { return try target.link(handle, as: other) }
        try folder.move(known, to: target, as: other)
        name.withLock { $0 = nil }
    }
}
