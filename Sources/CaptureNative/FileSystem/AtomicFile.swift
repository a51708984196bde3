import CLinux
package import Glibc
import Synchronization
package import SystemPackage

/// A file that appears under its name whole or not at all.
///
/// The bytes go to a file without a name (`O_TMPFILE`), which a crash takes with it; `commit` syncs them, links the name and
/// syncs the folder. To replace a file, and on file systems without such files, a hidden temporary name is needed, and a
/// kill can leave that behind: see `TemporaryName`.
package final class AtomicFile: Sendable {
    package enum Existing: Sendable { case refuse, replace }

    /// How the hidden name is chosen that a file has for a moment before it replaces another.
    package enum TemporaryName: Sendable {
        /// One that nobody else uses. A kill at the wrong moment leaves it behind.
        case random
        /// Always the same, for callers that hold a lock: what a kill left behind is swept away by the next one.
        case fixed
    }

    package let handle: FileHandle
    private let name: FilePath.Component
    /// Opened at once, so that a folder which cannot be synced is refused before anything is written.
    private let folder: FolderHandle
    private let hiddenName: FilePath.Component
    /// The hidden name that exists now and is ours to remove; nil while the file has no name.
    private let temporaryName: Mutex<FilePath.Component?>

    /// - Throws: `NativeError` when the folder is missing or closed to us, or the path does not end with a name (`EISDIR`).
    package convenience init(
        path: FilePath, mode: mode_t, temporaryName: TemporaryName = .random, allowsUnnamed: Bool = true
    ) throws(NativeError) {
        guard let name = path.name else { throw .system("open", EISDIR) }
        try self.init(
            name, in: FolderHandle(path.folder), mode: mode,
            temporaryName: temporaryName, allowsUnnamed: allowsUnnamed)
    }

    /// - Parameter folder: where the file appears, wherever that folder is moved to.
    package init(
        _ name: FilePath.Component, in folder: FolderHandle, mode: mode_t, temporaryName: TemporaryName = .random,
        allowsUnnamed: Bool = true
    ) throws(NativeError) {
        self.name = name
        self.folder = folder
        hiddenName = Self.hiddenName(for: name, temporaryName)
        if temporaryName == .fixed { folder.remove(hiddenName) }
        if allowsUnnamed, let unnamed = try folder.openUnnamed(mode: mode) {
            handle = unnamed
            self.temporaryName = Mutex(nil)
        } else {
            let name = hiddenName
            handle = try folder.open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
            self.temporaryName = Mutex(name)
        }
    }

    deinit {
        if let name = temporaryName.withLock(\.self) { folder.remove(name) }
    }

    /// Syncs the bytes, gives them their name and syncs the folder. After it returns, no power cut takes the file away.
    ///
    /// - Throws: `EEXIST` when something has the name and `existing` is `.refuse`; nothing is changed then.
    package func commit(_ existing: Existing) throws(NativeError) {
        try handle.synchronize()
        try publish(existing)
        try folder.synchronize()
    }

    /// The middle step of `commit`, for callers that sync many files before and their folder once after.
    package func publish(_ existing: Existing) throws(NativeError) {
        let known = temporaryName.withLock(\.self)
        switch existing {
        case .refuse:
            if let known {
                try folder.renameWithoutReplacing(known, to: name)
            } else {
                try folder.link(handle, as: name)
            }
        case .replace:
            if known == nil {
                try folder.link(handle, as: hiddenName)
                temporaryName.withLock { $0 = hiddenName }
            }
            try folder.rename(known ?? hiddenName, to: name)
        }
        temporaryName.withLock { $0 = nil }
    }

    /// Writes a small file whole, for callers that hold its lock.
    package static func write(
        _ bytes: [UInt8], to path: FilePath, mode: mode_t, existing: Existing
    ) throws(NativeError) {
        let file = try AtomicFile(path: path, mode: mode, temporaryName: .fixed)
        try file.handle.write(bytes)
        try file.commit(existing)
    }

    /// The same without syncing, for what need not outlive the machine.
    package static func writeUnsynced(_ bytes: [UInt8], to path: FilePath, mode: mode_t) throws(NativeError) {
        let file = try AtomicFile(path: path, mode: mode, temporaryName: .fixed)
        try file.handle.write(bytes)
        try file.publish(.replace)
    }

    /// As much of the name as leaves room for the rest: file systems allow 255 bytes.
    private static func hiddenName(for name: FilePath.Component, _ kind: TemporaryName) -> FilePath.Component {
        var generator = SystemRandomNumberGenerator()
        let suffix = kind == .fixed ? "new" : String(generator.next(), radix: 36)
        let bytes = Array(".".utf8) + name.bytes.prefix(180) + Array(".\(suffix).tmp".utf8)
        return FilePath.Component(bytes) ?? ".capture.tmp"
    }
}
