import CLinux
package import Glibc
import Synchronization
package import SystemPackage

/// A file that appears under its name either complete or not at all.
///
/// The bytes go to a file without a name (`O_TMPFILE`), which disappears if the process crashes. `commit` syncs the
/// bytes, links the name and syncs the folder. Replacing a file needs a hidden temporary name, and so do file systems
/// without `O_TMPFILE`. A killed process can leave that name behind: see `TemporaryName`.
package final class AtomicFile: Sendable {
    package enum Existing: Sendable { case refuse, replace }

    /// How to choose the hidden name that a file briefly has before it replaces another one.
    package enum TemporaryName: Sendable {
        /// A name that nobody else uses. A process that is killed at the wrong moment leaves the file behind.
        case random
        /// Always the same name, for callers that hold a lock. The next write removes what a killed process left
        /// behind.
        case fixed
    }

    package let handle: FileHandle
    private let name: FilePath.Component
    /// The folder in which the file appears. It is opened at once, so that a folder that cannot be synced is refused
    /// before anything is written.
    private let folder: FolderHandle
    /// The name that the file has before it gets its own, if it needs one.
    package let hiddenName: FilePath.Component
    /// The hidden name that exists now; nil while there is none.
    private let temporaryName: Mutex<FilePath.Component?>
    /// Whether the hidden name stays when this object is released.
    private let isKept = Mutex(false)

    /// - Throws: `NativeError` if the folder is missing or not accessible, or if the path does not end with a name
    ///   (`EISDIR`).
    package convenience init(
        path: FilePath, mode: mode_t, temporaryName: TemporaryName = .random, allowsUnnamed: Bool = true
    ) throws(NativeError) {
        guard let name = path.name else { throw .system("open", EISDIR) }
        try self.init(
            name, in: FolderHandle(path.folder), mode: mode,
            temporaryName: temporaryName, allowsUnnamed: allowsUnnamed)
    }

    /// - Parameter folder: The folder in which the file appears, even if that folder is moved meanwhile.
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
        if let name = temporaryName.withLock(\.self), !isKept.withLock(\.self) { folder.remove(name) }
    }

    /// Syncs the bytes, gives the file its name and syncs the folder. Once it has returned, the file survives a power
    /// cut.
    ///
    /// - Throws: `EEXIST` if the name is taken and `existing` is `.refuse`; nothing is changed then.
    package func commit(_ existing: Existing) throws(NativeError) {
        try handle.synchronize()
        try publish(existing)
        try folder.synchronize()
    }

    /// Gives the file its name without any sync. It is for callers that sync many files first and their folder once
    /// afterwards.
    package func publish(_ existing: Existing) throws(NativeError) {
        let known = temporaryName.withLock(\.self)
        switch existing {
        case .refuse:
            if let known {
                try folder.move(known, to: folder, as: name)
            } else {
                try folder.link(handle, as: name)
            }
        case .replace:
            if known == nil { try publishHidden() }
            try folder.rename(known ?? hiddenName, to: name)
        }
        temporaryName.withLock { $0 = nil }
    }

    /// Gives the file its hidden name, if it does not have one yet. The name is removed with this object, unless `keep`
    /// is called.
    package func publishHidden() throws(NativeError) {
        guard temporaryName.withLock({ $0 == nil }) else { return }
        try folder.link(handle, as: hiddenName)
        temporaryName.withLock { $0 = hiddenName }
    }

    /// Leaves the file under its hidden name if it never gets its own.
    package func keep() { isKept.withLock { $0 = true } }

    /// Writes a small file atomically and durably, for callers that hold its lock.
    package static func write(
        _ bytes: [UInt8], to path: FilePath, mode: mode_t, existing: Existing
    ) throws(NativeError) {
        let file = try AtomicFile(path: path, mode: mode, temporaryName: .fixed)
        try file.handle.write(bytes)
        try file.commit(existing)
    }

    /// Writes a small file atomically but without syncing, for data that need not survive a crash of the machine.
    package static func writeUnsynced(_ bytes: [UInt8], to path: FilePath, mode: mode_t) throws(NativeError) {
        let file = try AtomicFile(path: path, mode: mode, temporaryName: .fixed)
        try file.handle.write(bytes)
        try file.publish(.replace)
    }

    /// Shortens the name, because file systems allow 255 bytes for the whole hidden name.
    private static func hiddenName(for name: FilePath.Component, _ kind: TemporaryName) -> FilePath.Component {
        var generator = SystemRandomNumberGenerator()
        let suffix = kind == .fixed ? "new" : String(generator.next(), radix: 36)
        let bytes = Array(".".utf8) + name.bytes.prefix(180) + Array(".\(suffix).tmp".utf8)
        return FilePath.Component(bytes) ?? ".capture.tmp"
    }
}
