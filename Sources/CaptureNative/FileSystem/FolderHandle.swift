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
    /// - Parameter isSynced: False for callers that sync this folder once for many subfolders.
    /// - Returns: The folder, and whether this call created it.
    package func subfolder(
        _ name: FilePath.Component, mode: mode_t, isSynced: Bool = true
    ) throws(NativeError) -> (folder: FolderHandle, isMade: Bool) {
        let isMade = (unsafe name.native { unsafe mkdirat(handle.descriptor, $0, mode) }) == 0
        guard isMade || errno == EEXIST else { throw .system("mkdir") }
        let folder = FolderHandle(try open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
        if isMade && isSynced { try synchronize() }
        return (folder, isMade)
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

    /// Moves a file of this folder to another folder of the same file system, where it replaces a file of that name.
    package func rename(
        _ name: FilePath.Component, to folder: FolderHandle, as other: FilePath.Component
    ) throws(NativeError) {
        let code = unsafe name.native { old in
            unsafe other.native { unsafe renameat(handle.descriptor, old, folder.handle.descriptor, $0) }
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

    /// Removes the hidden file that a killed process left, unless it may share its bytes with the file of that name: after a
    /// power cut both names may exist where a rename is not one step, and removing one then breaks the other.
    ///
    /// - Returns: whether the hidden name is free now.
    package func removeLeftover(_ hidden: FilePath.Component, of name: FilePath.Component) -> Bool {
        guard let left = try? status(of: hidden) else { return true }
        if let known = try? status(of: name) {
            // ext2, and ext4 without a journal, then have two names for an inode that counts one.
            let mayShare = left.isSameFile(as: known) ? left.links < 2 : !fileSystem.renamesInOneStep
            if mayShare { return false }
        }
        remove(hidden)
        return true
    }

    /// Moves a file to another folder of the same file system; throws `EEXIST` if the name is taken there. Where the file
    /// system can neither rename without replacing nor link, another program may take the name meanwhile and lose it.
    package func move(
        _ name: FilePath.Component, to folder: FolderHandle, as other: FilePath.Component
    ) throws(NativeError) {
        if renameWithoutReplacing(name, to: folder, as: other) { return }
        guard errno == EINVAL || errno == ENOSYS else { throw .system("rename") }
        if link(name, to: folder, as: other) { return remove(name) }
        guard [EPERM, EIO, EOPNOTSUPP, ENOSYS].contains(errno) else { throw .system("link") }
        guard try folder.status(of: other) == nil else { throw .system("rename", EEXIST) }
        try rename(name, to: folder, as: other)
    }

    /// Sets errno and returns false if that fails.
    private func renameWithoutReplacing(
        _ name: FilePath.Component, to folder: FolderHandle, as other: FilePath.Component
    ) -> Bool {
        let (source, target) = (handle.descriptor, folder.handle.descriptor)
        return unsafe name.native { old in
            unsafe other.native { unsafe renameat2(source, old, target, $0, capture_rename_no_replace) }
        } == 0
    }

    private func link(_ name: FilePath.Component, to folder: FolderHandle, as other: FilePath.Component) -> Bool {
        let (source, target) = (handle.descriptor, folder.handle.descriptor)
        return unsafe name.native { old in unsafe other.native { unsafe linkat(source, old, target, $0, 0) } } == 0
    }

    /// Tries whether a file can get a name without replacing one that another program makes meanwhile.
    package func keepsOthersNames() throws(NativeError) -> Bool {
        // What has files without a name can link them.
        if try openUnnamed(mode: 0o600) != nil { return true }
        let (name, other) = (Self.trialName(), Self.trialName())
        defer { for name in [name, other] { remove(name) } }
        _ = try open(name, FileHandle.newFile, mode: 0o600)
        return renameWithoutReplacing(name, to: self, as: other) || link(name, to: self, as: other)
    }

    static func trialName() -> FilePath.Component { AtomicFile.hiddenName(for: "capqueue-trial", .random) }

    static func isOfTrial(_ name: FilePath.Component) -> Bool {
        name.bytes.starts(with: Array(".capqueue-trial.".utf8))
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

    /// The kind of the file system; of an unknown kind if it cannot be asked.
    package var fileSystem: FileSystemKind { (try? FileSystemKind.of(handle)) ?? .unknown }

    /// From how many files on one syncfs(2) takes less time than the syncs of each, where that is known.
    private static let groupLength = 8

    /// Waits until files that have just got names are on the disk under them, and then the folders with the names
    /// (Spec/queue.md section 7.2). The files were synced before: this second sync writes what the file system knows of
    /// the name.
    static func synchronize(naming files: [(file: FileHandle, folder: FolderHandle)]) throws(NativeError) {
        let doubtful = files.filter { !$0.folder.fileSystem.keepsNamesOfSyncedFiles }
        if doubtful.count >= groupLength, let folder = doubtful.first?.folder,
            [.btrfs, .f2fs].contains(folder.fileSystem)
        {
            try NativeError.retrying("syncfs") { syncfs(folder.handle.descriptor) }
        } else {
            for (file, _) in doubtful { try file.synchronize() }
        }
        var done: Set<ObjectIdentifier> = []
        for (_, folder) in files where done.insert(ObjectIdentifier(folder)).inserted { try folder.synchronize() }
    }

    /// Does the same with files of this folder.
    package func synchronize(naming files: [FileHandle]) throws(NativeError) {
        try Self.synchronize(naming: files.map { ($0, self) })
    }

    /// Does the same with a file that got its name by a rename.
    package func synchronize(renamed name: FilePath.Component) throws(NativeError) {
        try synchronize(naming: [open(name, FileHandle.existingFile)])
    }

    /// Waits until the folder's entries (for example a removed name) are on the disk.
    package func synchronize() throws(NativeError) {
        // Some file systems cannot sync a folder and report EINVAL. Nothing better can be done there.
        guard fsync(handle.descriptor) == 0 || errno == EINVAL else { throw .system("fsync") }
    }
}
