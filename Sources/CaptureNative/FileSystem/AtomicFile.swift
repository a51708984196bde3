import CLinux
package import Glibc

/// A file that appears under its name whole or not at all.
///
/// The bytes go to a file without a name (`O_TMPFILE`), which a crash takes with it; `commit` syncs them, links the name and
/// syncs the folder. To replace a file, and on file systems without such files, a hidden temporary name is needed, and a
/// kill can leave that behind: see `TemporaryName`.
package final class AtomicFile {
    package enum Existing: Sendable { case refuse, replace }

    /// How the hidden name is chosen that a file has for a moment before it replaces another.
    package enum TemporaryName: Sendable {
        /// One that nobody else uses. A kill at the wrong moment leaves it behind.
        case random
        /// Always the same, for callers that hold a lock: what a kill left behind is swept away by the next one.
        case fixed
    }

    package let handle: FileHandle
    private let path: String
    private let folder: String
    /// Opened at once, so that a folder which cannot be synced is refused before anything is written.
    private let folderHandle: FileHandle
    private let hiddenName: String
    /// The hidden name that exists now and is ours to remove; nil while the file has no name.
    private var temporaryPath: String?

    /// - Throws: `NativeError` when the folder is missing or closed to us.
    package init(
        path: String, mode: mode_t, temporaryName: TemporaryName = .random, allowsUnnamed: Bool = true
    ) throws(NativeError) {
        self.path = path
        folder = FilePath.folder(of: path)
        folderHandle = try FileHandle.open(folder, O_RDONLY | O_DIRECTORY)
        hiddenName = Self.hiddenName(for: path, temporaryName)
        if temporaryName == .fixed { unsafe _ = unlink(hiddenName) }
        if allowsUnnamed, let unnamed = try Self.openUnnamed(in: folder, mode: mode) {
            handle = unnamed
            temporaryPath = nil
        } else {
            let name = hiddenName
            handle = try FileHandle.open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
            temporaryPath = name
        }
    }

    deinit {
        if let temporaryPath { unsafe unlink(temporaryPath) }
    }

    /// Syncs the bytes, gives them their name and syncs the folder. After it returns, no power cut takes the file away.
    ///
    /// - Throws: `EEXIST` when something has the name and `existing` is `.refuse`; nothing is changed then.
    package func commit(_ existing: Existing) throws(NativeError) {
        try handle.synchronize()
        switch existing {
        case .refuse:
            if let temporaryPath {
                try Self.renameWithoutReplacing(temporaryPath, to: path)
                self.temporaryPath = nil
            } else {
                try linkUnnamed(as: path)
            }
        case .replace:
            let name: String
            if let temporaryPath {
                name = temporaryPath
            } else {
                name = hiddenName
                try linkUnnamed(as: name)
                temporaryPath = name
            }
            guard unsafe rename(name, path) == 0 else { throw .system("rename") }
            temporaryPath = nil
        }
        try DirectoryHandle.synchronize(folderHandle)
    }

    /// Writes a small file whole, for callers that hold its lock.
    package static func write(
        _ bytes: [UInt8], to path: String, mode: mode_t, existing: Existing
    ) throws(NativeError) {
        let file = try AtomicFile(path: path, mode: mode, temporaryName: .fixed)
        try file.handle.write(bytes)
        try file.commit(existing)
    }

    private static func renameWithoutReplacing(_ name: String, to path: String) throws(NativeError) {
        if unsafe renameat2(AT_FDCWD, name, AT_FDCWD, path, capture_rename_no_replace) == 0 { return }
        // Some file systems do not know the flag; a link does the same in two steps.
        guard errno == EINVAL || errno == ENOSYS else { throw .system("rename") }
        guard unsafe link(name, path) == 0 else { throw .system("link") }
        unsafe unlink(name)
    }

    private func linkUnnamed(as name: String) throws(NativeError) {
        // The documented way without CAP_DAC_READ_SEARCH (open(2), O_TMPFILE).
        let source = "/proc/self/fd/\(handle.descriptor)"
        guard unsafe linkat(AT_FDCWD, source, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 else { throw .system("linkat") }
    }

    private static func openUnnamed(in folder: String, mode: mode_t) throws(NativeError) -> FileHandle? {
        guard unsafe access("/proc/self/fd", X_OK) == 0 else { return nil }
        do {
            return try FileHandle.open(folder, O_RDWR | O_DIRECTORY | capture_unnamed_file, mode: mode)
        } catch  where error.isErrno(EOPNOTSUPP, EISDIR, ENOENT, EINVAL) {
            return nil
        }
    }

    private static func hiddenName(for path: String, _ kind: TemporaryName) -> String {
        var generator = SystemRandomNumberGenerator()
        let suffix = kind == .fixed ? "new" : String(generator.next(), radix: 36)
        return FilePath.join(FilePath.folder(of: path), ".\(shortName(of: path)).\(suffix).tmp")
    }

    /// As much of the name as leaves room for the rest: file systems allow 255 bytes.
    private static func shortName(of path: String) -> String {
        var short = ""
        for character in FilePath.name(of: path) where short.utf8.count + character.utf8.count <= 180 {
            short.append(character)
        }
        return short
    }
}
