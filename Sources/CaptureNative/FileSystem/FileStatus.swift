import Glibc
package import SystemPackage

/// What `stat` says of a file, as far as it is needed here.
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable { case file, folder, pipe, link, other }

    package let kind: Kind
    package let size: Int
    /// Permission bits, `0o7777` at most.
    package let mode: UInt32
    package let owner: UInt32
    /// How many names (hard links) the file has.
    package let links: Int
    package let device: UInt64
    package let inode: UInt64
    /// When the bytes, and when anything at all of the file was changed last: nanoseconds since 1970.
    package let modified: Int
    package let changed: Int

    init(_ raw: stat) {
        switch raw.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .folder
        case S_IFIFO: kind = .pipe
        case S_IFLNK: kind = .link
        default: kind = .other
        }
        size = Int(raw.st_size)
        mode = raw.st_mode & 0o7777
        owner = raw.st_uid
        links = Int(raw.st_nlink)
        device = UInt64(raw.st_dev)
        inode = UInt64(raw.st_ino)
        modified = raw.st_mtim.tv_sec * 1_000_000_000 + raw.st_mtim.tv_nsec
        changed = raw.st_ctim.tv_sec * 1_000_000_000 + raw.st_ctim.tv_nsec
    }

    /// Anyone but the owner may read or write it.
    package var isOpenToOthers: Bool { mode & 0o077 != 0 }
    /// The owner is this user or root.
    package var isOurs: Bool { owner == geteuid() || owner == 0 }

    /// The owner is this user, and not even root.
    package var isThisUsers: Bool { owner == geteuid() }

    /// What tells a file from all others that are there at the time.
    package struct Identity: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64
    }

    package var identity: Identity { Identity(device: device, inode: inode) }

    package func isSameFile(as other: FileStatus) -> Bool { identity == other.identity }

    /// Follows links; throws `ENOENT` when there is nothing.
    package static func of(_ path: FilePath) throws(NativeError) -> FileStatus {
        var raw = stat()
        guard (unsafe path.native { unsafe stat($0, &raw) }) == 0 else { throw .system("stat") }
        return FileStatus(raw)
    }

    /// Of the name itself, be it a link; throws `ENOENT` when there is nothing.
    package static func ofName(_ path: FilePath) throws(NativeError) -> FileStatus {
        var raw = stat()
        guard (unsafe path.native { unsafe lstat($0, &raw) }) == 0 else { throw .system("lstat") }
        return FileStatus(raw)
    }

    /// Others than the owner may change it.
    package var isWritableByOthers: Bool { mode & 0o022 != 0 }

    /// Only the owner of a file may remove or replace it in this folder, as in `/tmp`.
    package var isSticky: Bool { mode & 0o1000 != 0 }

    package static func isLink(_ path: FilePath) -> Bool {
        (try? ofName(path))?.kind == .link
    }

    package static func exists(_ path: FilePath) -> Bool {
        (try? ofName(path)) != nil
    }
}
