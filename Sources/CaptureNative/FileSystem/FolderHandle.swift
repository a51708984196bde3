import CLinux
package import Glibc
package import SystemPackage

/// An open folder. Names are looked up in it directly and not along a path that somebody may change meanwhile.
package final class FolderHandle: Sendable {
    private let handle: FileHandle

    /// - Parameter followsLinks: Whether the last part of `path` may be a symbolic link.
    package init(_ path: FilePath, followsLinks: Bool = true) throws(NativeError) {
        handle = try FileHandle.open(path, O_RDONLY | O_DIRECTORY | (followsLinks ? 0 : O_NOFOLLOW))
    }

    private init(_ handle: FileHandle) { self.handle = handle }

    /// Opens the folder `name` inside this one and creates it if it is missing. A symbolic link is refused (`ENOTDIR`).
    ///
    /// - Returns: The folder, and whether this call created it.
    package func subfolder(_ name: FilePath.Component, mode: mode_t) throws(NativeError) -> (
        folder: FolderHandle, isMade: Bool
    ) {
        let made = try subfolderUnsynced(name, mode: mode)
        if made.isMade { try synchronize() }
        return made
    }

    /// Does the same as `subfolder` without syncing, for callers that sync this folder once for many subfolders.
    package func subfolderUnsynced(
        _ name: FilePath.Component, mode: mode_t
    ) throws(NativeError) -> (folder: FolderHandle, isMade: Bool) {
        let isMade = (unsafe name.native { unsafe mkdirat(handle.descriptor, $0, mode) }) == 0
        guard isMade || errno == EEXIST else { throw .system("mkdir") }
        return (FolderHandle(try open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)), isMade)
    }

    package func open(_ name: FilePath.Component, _ flags: Int32, mode: mode_t = 0) throws(NativeError) -> FileHandle {
        let descriptor = try NativeError.retrying("open") {
            unsafe name.native { unsafe capture_openat(handle.descriptor, $0, flags | O_CLOEXEC, mode) }
        }
        return FileHandle(owning: descriptor)
    }

    /// Creates a file without a name. It disappears with its last owner unless `link` gives it a name. The result is
    /// nil if the file system does not support such files.
    package func openUnnamed(mode: mode_t) throws(NativeError) -> FileHandle? {
        guard unsafe access("/proc/self/fd", X_OK) == 0 else { return nil }
        do {
            return try open(".", O_RDWR | O_DIRECTORY | capture_unnamed_file, mode: mode)
        } catch  where error.isErrno(EOPNOTSUPP, EISDIR, ENOENT, EINVAL) {
            return nil
        }
    }

    /// The kind of the file with this name, even if it is a dangling link; nil if the name does not exist.
    package func kind(of name: FilePath.Component) -> FileStatus.Kind? { (try? status(of: name))?.kind }

    /// Gives a name to a file that `openUnnamed` created.
    package func link(_ file: FileHandle, as name: FilePath.Component) throws(NativeError) {
        // The documented way for processes without CAP_DAC_READ_SEARCH (open(2), O_TMPFILE).
        let source = "/proc/self/fd/\(file.descriptor)"
        guard (unsafe name.native { unsafe linkat(AT_FDCWD, source, handle.descriptor, $0, AT_SYMLINK_FOLLOW) }) == 0
        else {
            throw .system("linkat")
        }
    }

    package func rename(_ name: FilePath.Component, to other: FilePath.Component) throws(NativeError) {
        let code = unsafe name.native { old in
            unsafe other.native { unsafe renameat(handle.descriptor, old, handle.descriptor, $0) }
        }
        guard code == 0 else { throw .system("rename") }
    }

    /// Removes a folder if it is empty.
    package func removeEmptyFolder(_ name: FilePath.Component) {
        unsafe name.native { unsafe _ = unlinkat(handle.descriptor, $0, AT_REMOVEDIR) }
    }

    func remove(_ name: FilePath.Component) { unsafe name.native { unsafe _ = unlinkat(handle.descriptor, $0, 0) } }

    /// Removes a file; false if it does not exist.
    package func removeFile(_ name: FilePath.Component) throws(NativeError) -> Bool {
        if (unsafe name.native { unsafe unlinkat(handle.descriptor, $0, 0) }) == 0 { return true }
        guard errno == ENOENT else { throw .system("unlink") }
        return false
    }

    /// Moves a file to another folder of the same file system; throws `EEXIST` if the name is taken there.
    package func move(
        _ name: FilePath.Component, to folder: FolderHandle, as other: FilePath.Component
    ) throws(NativeError) {
        let (source, target) = (handle.descriptor, folder.handle.descriptor)
        func call(_ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32) -> Int32 {
            unsafe name.native { old in unsafe other.native { unsafe body(old, $0) } }
        }
        if (unsafe call { unsafe renameat2(source, $0, target, $1, capture_rename_no_replace) }) == 0 { return }
        // Some file systems do not support the flag. Linking and removing does the same in two steps.
        guard errno == EINVAL || errno == ENOSYS else { throw .system("rename") }
        guard (unsafe call { unsafe linkat(source, $0, target, $1, 0) }) == 0 else { throw .system("link") }
        remove(name)
    }

    /// The status of the file with this name, without following a link; nil if the name does not exist.
    package func status(of name: FilePath.Component) throws(NativeError) -> FileStatus? {
        var raw = stat()
        if (unsafe name.native { unsafe fstatat(handle.descriptor, $0, &raw, AT_SYMLINK_NOFOLLOW) }) == 0 {
            return FileStatus(raw)
        }
        guard errno == ENOENT else { throw .system("fstatat") }
        return nil
    }

    package func status() throws(NativeError) -> FileStatus { try handle.status() }

    /// Whether fscrypt encrypts the files in this folder.
    package var hasEncryptionPolicy: Bool { capture_encryption_policy(handle.descriptor) == 0 }

    /// Waits until the folder's entries (for example a new name or a rename) are on the disk.
    package func synchronize() throws(NativeError) {
        // Some file systems cannot sync a folder and report EINVAL. Nothing better can be done there.
        guard fsync(handle.descriptor) == 0 || errno == EINVAL else { throw .system("fsync") }
    }
}
