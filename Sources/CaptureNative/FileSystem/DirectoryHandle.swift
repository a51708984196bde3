package import Glibc

/// An open folder: made, listed and synchronised.
package enum DirectoryHandle {
    /// Makes the folder and what is missing above it; what is made is private to the user when `mode` is 0700.
    package static func create(_ path: String, mode: mode_t) throws(NativeError) {
        if unsafe mkdir(path, mode) == 0 { return try FolderHandle(FilePath.folder(of: path)).synchronize() }
        switch errno {
        case EEXIST: return
        case ENOENT where FilePath.folder(of: path) != path:
            try create(FilePath.folder(of: path), mode: mode)
            guard unsafe mkdir(path, mode) == 0 || errno == EEXIST else { throw .system("mkdir") }
            try FolderHandle(FilePath.folder(of: path)).synchronize()
        default: throw .system("mkdir")
        }
    }

    /// Removes a folder if nothing is in it.
    package static func removeEmpty(_ path: String) { unsafe _ = rmdir(path) }

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
