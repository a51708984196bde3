package import Glibc

/// An open folder: made, listed and synchronised.
package enum DirectoryHandle {
    /// Makes the folder and what is missing above it; what is made is private to the user when `mode` is 0700.
    package static func create(_ path: String, mode: mode_t) throws(NativeError) {
        if unsafe mkdir(path, mode) == 0 { return try synchronize(FilePath.folder(of: path)) }
        switch errno {
        case EEXIST: return
        case ENOENT where FilePath.folder(of: path) != path:
            try create(FilePath.folder(of: path), mode: mode)
            guard unsafe mkdir(path, mode) == 0 || errno == EEXIST else { throw .system("mkdir") }
            try synchronize(FilePath.folder(of: path))
        default: throw .system("mkdir")
        }
    }

    /// Returns when the folder's entries (a new name, a rename) are on the disk.
    package static func synchronize(_ path: String) throws(NativeError) {
        try synchronize(FileHandle.open(path, O_RDONLY | O_DIRECTORY))
    }

    static func synchronize(_ handle: FileHandle) throws(NativeError) {
        // Some file systems cannot sync a folder and say so with EINVAL; there is nothing better to do on those.
        guard fsync(handle.descriptor) == 0 || errno == EINVAL else { throw .system("fsync") }
    }

    /// The names in a folder in bytewise order, without `.` and `..`.
    package static func names(in path: String) throws(NativeError) -> [String] {
        guard let stream = unsafe opendir(path) else { throw .system("opendir") }
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
