package import Glibc
package import SystemPackage

/// Functions that create and list folders.
package enum Folders {
    /// Creates the folder and its missing parents, all with the permissions `mode`.
    ///
    /// - Returns: The created folders, the outermost first.
    /// - Throws: `NativeError`; the folders that this call had created are removed again.
    @discardableResult
    package static func create(_ path: FilePath, mode: mode_t) throws(NativeError) -> [FilePath] {
        var made: [FilePath] = []
        do {
            try create(path, mode: mode, &made)
        } catch {
            removeEmpty(made)
            throw error
        }
        return made
    }

    private static func create(_ path: FilePath, mode: mode_t, _ made: inout [FilePath]) throws(NativeError) {
        if (unsafe path.native { unsafe mkdir($0, mode) }) != 0 {
            switch errno {
            case EEXIST: return
            case ENOENT where path.folder != path:
                try create(path.folder, mode: mode, &made)
                guard (unsafe path.native { unsafe mkdir($0, mode) }) == 0 else {
                    if errno == EEXIST { return }
                    throw .system("mkdir")
                }
            default: throw .system("mkdir")
            }
        }
        made.append(path)
        try FolderHandle(path.folder).synchronize()
    }

    /// Removes those folders of a `create` call that are still empty.
    package static func removeEmpty(_ made: [FilePath]) {
        for path in made.reversed() { unsafe path.native { unsafe _ = rmdir($0) } }
    }

    /// Whether no file can be moved from one folder to the other, because they are on two mounts or subvolumes. It tries to
    /// move a file that does not exist: the system compares the mounts first.
    package static func areApart(_ one: FilePath, _ other: FilePath) -> Bool {
        guard let source = try? FolderHandle(one), let target = try? FolderHandle(other) else { return false }
        if let (one, other) = try? (source.status(), target.status()), one.identity.device != other.identity.device {
            return true
        }
        let name = FolderHandle.trialName()
        do throws(NativeError) { try source.rename(name, to: target, as: name) } catch { return error.isOtherMount }
        return false
    }

    /// The names in a folder, in bytewise order and without `.` and `..`. `FolderNames` needs less memory for many.
    package static func names(in path: FilePath) throws(NativeError) -> [FilePath.Component] {
        try FolderNames(in: path).components
    }
}
