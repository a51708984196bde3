import CLinux
package import Glibc
package import SystemPackage

/// An open folder: names are looked up in it, and not along a path that somebody may change meanwhile.
package final class FolderHandle: Sendable {
    private let handle: FileHandle

    /// - Parameter followsLinks: whether the last part of `path` may be a symbolic link.
    package init(_ path: FilePath, followsLinks: Bool = true) throws(NativeError) {
        handle = try FileHandle.open(path, O_RDONLY | O_DIRECTORY | (followsLinks ? 0 : O_NOFOLLOW))
    }

    private init(_ handle: FileHandle) { self.handle = handle }

    /// The folder `name` in this one, made where it is missing; a symbolic link of that name is refused (`ENOTDIR`).
    ///
    /// - Returns: also whether it was made now.
    package func subfolder(_ name: FilePath.Component, mode: mode_t) throws(NativeError) -> (
        folder: FolderHandle, isMade: Bool
    ) {
        let made = try subfolderUnsynced(name, mode: mode)
        if made.isMade { try synchronize() }
        return made
    }

    /// The same, for callers that sync this folder once for many.
    package func subfolderUnsynced(
        _ name: FilePath.Component, mode: mode_t
    ) throws(NativeError) -> (folder: FolderHandle, isMade: Bool) {
        let isMade = (unsafe name.native { unsafe mkdirat(handle.descriptor, $0, mode) }) == 0
        guard isMade || errno == EEXIST else { throw .system("mkdir") }
        return (FolderHandle(try open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)), isMade)
    }

    package func open(_ name: FilePath.Component, _ flags: Int32, mode: mode_t = 0) throws(NativeError) -> FileHandle {
        while true {
            let descriptor = unsafe name.native {
                unsafe capture_openat(handle.descriptor, $0, flags | O_CLOEXEC, mode)
            }
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
    package func kind(of name: FilePath.Component) -> FileStatus.Kind? {
        var raw = stat()
        guard (unsafe name.native { unsafe fstatat(handle.descriptor, $0, &raw, AT_SYMLINK_NOFOLLOW) }) == 0 else {
            return nil
        }
        return FileStatus(raw).kind
    }

    /// Gives a file without a name its name.
    package func link(_ file: FileHandle, as name: FilePath.Component) throws(NativeError) {
        // The documented way without CAP_DAC_READ_SEARCH (open(2), O_TMPFILE).
        let source = "/proc/self/fd/\(file.descriptor)"
        guard (unsafe name.native { unsafe linkat(AT_FDCWD, source, handle.descriptor, $0, AT_SYMLINK_FOLLOW) }) == 0
        else {
            throw .system("linkat")
        }
    }

    func rename(_ name: FilePath.Component, to other: FilePath.Component) throws(NativeError) {
        let code = unsafe name.native { old in
            unsafe other.native { unsafe renameat(handle.descriptor, old, handle.descriptor, $0) }
        }
        guard code == 0 else { throw .system("rename") }
    }

    func renameWithoutReplacing(_ name: FilePath.Component, to other: FilePath.Component) throws(NativeError) {
        try move(name, to: self, as: other)
    }

    /// Removes a folder if nothing is in it.
    package func removeEmptyFolder(_ name: FilePath.Component) {
        unsafe name.native { unsafe _ = unlinkat(handle.descriptor, $0, AT_REMOVEDIR) }
    }

    func remove(_ name: FilePath.Component) { unsafe name.native { unsafe _ = unlinkat(handle.descriptor, $0, 0) } }

    /// Removes a file; false where there is none.
    package func removeFile(_ name: FilePath.Component) throws(NativeError) -> Bool {
        if (unsafe name.native { unsafe unlinkat(handle.descriptor, $0, 0) }) == 0 { return true }
        guard errno == ENOENT else { throw .system("unlink") }
        return false
    }

    /// Moves a file to another folder of the same file system; something of that name there is refused (`EEXIST`).
    package func move(
        _ name: FilePath.Component, to folder: FolderHandle, as other: FilePath.Component
    ) throws(NativeError) {
        let (source, target) = (handle.descriptor, folder.handle.descriptor)
        func call(_ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32) -> Int32 {
            unsafe name.native { old in unsafe other.native { unsafe body(old, $0) } }
        }
        if (unsafe call { unsafe renameat2(source, $0, target, $1, capture_rename_no_replace) }) == 0 { return }
        // Some file systems do not know the flag; a link does the same in two steps.
        guard errno == EINVAL || errno == ENOSYS else { throw .system("rename") }
        guard (unsafe call { unsafe linkat(source, $0, target, $1, 0) }) == 0 else { throw .system("link") }
        remove(name)
    }

    /// What stands under this name, a link not followed; nil when nothing does.
    package func status(of name: FilePath.Component) throws(NativeError) -> FileStatus? {
        var raw = stat()
        if (unsafe name.native { unsafe fstatat(handle.descriptor, $0, &raw, AT_SYMLINK_NOFOLLOW) }) == 0 {
            return FileStatus(raw)
        }
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
