import CLinux
package import Glibc

/// An open folder: names are looked up in it, and not along a path that somebody may change meanwhile.
package final class FolderHandle: Sendable {
    private let handle: FileHandle

    /// - Parameter followsLinks: whether the last part of `path` may be a symbolic link.
    package init(_ path: String, followsLinks: Bool = true) throws(NativeError) {
        handle = try FileHandle.open(path, O_RDONLY | O_DIRECTORY | (followsLinks ? 0 : O_NOFOLLOW))
    }

    private init(_ handle: FileHandle) { self.handle = handle }

    /// The folder `name` in this one, made where it is missing; a symbolic link of that name is refused (`ENOTDIR`).
    ///
    /// - Returns: also whether it was made now.
    package func subfolder(_ name: String, mode: mode_t) throws(NativeError) -> (folder: FolderHandle, isMade: Bool) {
        let made = try subfolderUnsynced(name, mode: mode)
        if made.isMade { try synchronize() }
        return made
    }

    /// The same, for callers that sync this folder once for many.
    package func subfolderUnsynced(
        _ name: String, mode: mode_t
    ) throws(NativeError) -> (folder: FolderHandle, isMade: Bool) {
        let isMade = unsafe mkdirat(handle.descriptor, name, mode) == 0
        guard isMade || errno == EEXIST else { throw .system("mkdir") }
        return (FolderHandle(try open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)), isMade)
    }

    package func open(_ name: String, _ flags: Int32, mode: mode_t = 0) throws(NativeError) -> FileHandle {
        while true {
            let descriptor = unsafe capture_openat(handle.descriptor, name, flags | O_CLOEXEC, mode)
            if descriptor >= 0 { return FileHandle(owning: descriptor) }
            if errno != EINTR { throw .system("open") }
        }
    }

    /// A new file without a name, which goes with its last owner unless `link` gives it one; nil where the file system has
    /// no such files.
    package func openUnnamed(mode: mode_t) throws(NativeError) -> FileHandle? {
        guard unsafe access("/proc/self/fd", X_OK) == 0 else { return nil }
        do {
            return try open(".", O_RDWR | O_DIRECTORY | capture_unnamed_file, mode: mode)
        } catch  where error.isErrno(EOPNOTSUPP, EISDIR, ENOENT, EINVAL) {
            return nil
        }
    }

    /// What has this name, be it a link that leads nowhere; nil when nothing has.
    package func kind(of name: String) -> FileStatus.Kind? {
        var raw = stat()
        guard unsafe fstatat(handle.descriptor, name, &raw, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return FileStatus(raw).kind
    }

    /// Gives a file without a name its name.
    package func link(_ file: FileHandle, as name: String) throws(NativeError) {
        // The documented way without CAP_DAC_READ_SEARCH (open(2), O_TMPFILE).
        let source = "/proc/self/fd/\(file.descriptor)"
        guard unsafe linkat(AT_FDCWD, source, handle.descriptor, name, AT_SYMLINK_FOLLOW) == 0 else {
            throw .system("linkat")
        }
    }

    func rename(_ name: String, to other: String) throws(NativeError) {
        guard unsafe renameat(handle.descriptor, name, handle.descriptor, other) == 0 else { throw .system("rename") }
    }

    func renameWithoutReplacing(_ name: String, to other: String) throws(NativeError) {
        let folder = handle.descriptor
        if unsafe renameat2(folder, name, folder, other, capture_rename_no_replace) == 0 { return }
        // Some file systems do not know the flag; a link does the same in two steps.
        guard errno == EINVAL || errno == ENOSYS else { throw .system("rename") }
        guard unsafe linkat(folder, name, folder, other, 0) == 0 else { throw .system("link") }
        remove(name)
    }

    /// Removes a folder if nothing is in it.
    package func removeEmptyFolder(_ name: String) {
        unsafe _ = unlinkat(handle.descriptor, name, AT_REMOVEDIR)
    }

    func remove(_ name: String) { unsafe _ = unlinkat(handle.descriptor, name, 0) }

    /// Removes a file; false where there is none.
    package func removeFile(_ name: String) throws(NativeError) -> Bool {
        if unsafe unlinkat(handle.descriptor, name, 0) == 0 { return true }
        guard errno == ENOENT else { throw .system("unlink") }
        return false
    }

    /// Moves a file to another folder of the same file system; something of that name there is refused (`EEXIST`).
    package func move(_ name: String, to folder: FolderHandle, as other: String) throws(NativeError) {
        let target = folder.handle.descriptor
        if unsafe renameat2(handle.descriptor, name, target, other, capture_rename_no_replace) == 0 { return }
        guard errno == EINVAL || errno == ENOSYS else { throw .system("rename") }
        guard unsafe linkat(handle.descriptor, name, target, other, 0) == 0 else { throw .system("link") }
        remove(name)
    }

    /// What stands under this name, a link not followed; nil when nothing does.
    package func status(of name: String) throws(NativeError) -> FileStatus? {
        var raw = stat()
        if unsafe fstatat(handle.descriptor, name, &raw, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(raw) }
        guard errno == ENOENT else { throw .system("fstatat") }
        return nil
    }

    package func status() throws(NativeError) -> FileStatus { try handle.status() }

    /// Returns when the folder's entries (a new name, a rename) are on the disk.
    package func synchronize() throws(NativeError) {
        // Some file systems cannot sync a folder and say so with EINVAL; there is nothing better to do on those.
        guard fsync(handle.descriptor) == 0 || errno == EINVAL else { throw .system("fsync") }
    }
}
