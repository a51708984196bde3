import Glibc

/// What `stat` says of a file, as far as it is needed here.
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable { case file, folder, pipe, other }

    package let kind: Kind
    package let size: Int
    /// Permission bits, `0o7777` at most.
    package let mode: UInt32
    package let owner: UInt32
    package let device: UInt64
    package let inode: UInt64

    init(_ raw: stat) {
        switch raw.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .folder
        case S_IFIFO: kind = .pipe
        default: kind = .other
        }
        size = Int(raw.st_size)
        mode = raw.st_mode & 0o7777
        owner = raw.st_uid
        device = UInt64(raw.st_dev)
        inode = UInt64(raw.st_ino)
    }

    /// Anyone but the owner may read or write it.
    package var isOpenToOthers: Bool { mode & 0o077 != 0 }
    /// The owner is this user or root.
    package var isOurs: Bool { owner == geteuid() || owner == 0 }

    package func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }

    /// Follows links; throws `ENOENT` when there is nothing.
    package static func of(_ path: String) throws(NativeError) -> FileStatus {
        var raw = stat()
        guard unsafe stat(path, &raw) == 0 else { throw .system("stat") }
        return FileStatus(raw)
    }

    package static func isLink(_ path: String) -> Bool {
        var raw = stat()
        return unsafe lstat(path, &raw) == 0 && raw.st_mode & S_IFMT == S_IFLNK
    }

    package static func exists(_ path: String) -> Bool {
        var raw = stat()
        return unsafe lstat(path, &raw) == 0
    }
}
