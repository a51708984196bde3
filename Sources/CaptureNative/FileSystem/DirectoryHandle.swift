package import Glibc

/// An open folder: made, listed and synchronised.
package enum DirectoryHandle {
    /// Makes the folder and what is missing above it; what is made is private to the user when `mode` is 0700.
    ///
    /// - Returns: the folders that were made, the outermost first.
    /// - Throws: nothing that was made stays then.
    @discardableResult
    package static func create(_ path: String, mode: mode_t) throws(NativeError) -> [String] {
        var made: [String] = []
        // With a slash at the end, the folder that holds the name would be taken for the new one itself, and not be synced.
        var path = path
        while path.hasSuffix("/") && path != "/" { path.removeLast() }
        do {
            try create(path, mode: mode, &made)
        } catch {
            removeEmpty(made)
            throw error
        }
        return made
    }

    private static func create(_ path: String, mode: mode_t, _ made: inout [String]) throws(NativeError) {
        if unsafe mkdir(path, mode) != 0 {
            switch errno {
            case EEXIST: return
            case ENOENT where FilePath.folder(of: path) != path:
                try create(FilePath.folder(of: path), mode: mode, &made)
                guard unsafe mkdir(path, mode) == 0 else {
                    if errno == EEXIST { return }
                    throw .system("mkdir")
                }
            default: throw .system("mkdir")
            }
        }
        made.append(path)
        try FolderHandle(FilePath.folder(of: path)).synchronize()
    }

    /// Removes those of the folders that `create` made in which nothing is.
    package static func removeEmpty(_ made: [String]) {
        for path in made.reversed() { unsafe _ = rmdir(path) }
    }

    /// The names in a folder in bytewise order, without `.` and `..`.
    package static func names(in path: String) throws(NativeError) -> [String] {
        var opened = unsafe opendir(path)
        while unsafe opened == nil && errno == EINTR { unsafe opened = opendir(path) }
        guard let stream = unsafe opened else { throw .system("opendir") }
        defer { unsafe _ = closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                if errno != 0 { throw .system("readdir") }
                return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }
}
