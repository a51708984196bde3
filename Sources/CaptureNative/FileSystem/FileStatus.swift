import Glibc
package import SystemPackage

/// The fields of `stat` that are needed here.
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable { case file, folder, pipe, link, other }

    package let kind: Kind
    package let size: Int
    /// The permission bits, at most `0o7777`.
    package let mode: UInt32
    package let owner: UInt32
    /// The number of names (hard links) that the file has.
    package let links: Int
    package let identity: Identity
    /// The time of the last change to the bytes (`modified`) and to anything of the file (`changed`), in nanoseconds
    /// since 1970.
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
        identity = Identity(device: UInt64(raw.st_dev), inode: UInt64(raw.st_ino))
        modified = raw.st_mtim.tv_sec * 1_000_000_000 + raw.st_mtim.tv_nsec
        changed = raw.st_ctim.tv_sec * 1_000_000_000 + raw.st_ctim.tv_nsec
    }

    /// The group or others have some permission on the file.
    package var isOpenToOthers: Bool { mode & 0o077 != 0 }
    /// The owner is this user or root.
    package var isOurs: Bool { owner == geteuid() || owner == 0 }

    /// The owner is this user; a file of root does not count, unlike with `isOurs`.
    package var isThisUsers: Bool { owner == geteuid() }

    /// The numbers that distinguish a file from all other files that exist at the same time.
    package struct Identity: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64
    }

    /// The major and the minor number of the device, as `/sys/dev/block` names it.
    package var deviceNumbers: (major: UInt64, minor: UInt64) {
        let device = identity.device
        return (device >> 8 & 0xfff | device >> 32 & ~0xfff, device & 0xff | device >> 12 & 0xffff_ff00)
    }

    package func isSameFile(as other: FileStatus) -> Bool { identity == other.identity }

    /// The status of the file to which the path leads, following links; throws `ENOENT` if it does not exist.
    package static func of(_ path: FilePath) throws(NativeError) -> FileStatus {
        try read("stat") { raw in unsafe path.native { unsafe stat($0, &raw) } }
    }

    /// The status of the path itself, even if it is a link; throws `ENOENT` if it does not exist.
    package static func ofName(_ path: FilePath) throws(NativeError) -> FileStatus {
        try read("lstat") { raw in unsafe path.native { unsafe lstat($0, &raw) } }
    }

    static func read(_ call: String, _ fill: (inout stat) -> Int32) throws(NativeError) -> FileStatus {
        var raw = stat()
        guard fill(&raw) == 0 else { throw .system(call) }
        return FileStatus(raw)
    }

    /// The group or others may change the file.
    package var isWritableByOthers: Bool { mode & 0o022 != 0 }

    /// Only the owner of a file may remove or replace it in this folder, as in `/tmp` (the sticky bit).
    package var isSticky: Bool { mode & 0o1000 != 0 }

    package static func isLink(_ path: FilePath) -> Bool {
        (try? ofName(path))?.kind == .link
    }

    /// Whether the name does not exist, or is so long that it cannot. An error of the disk does not count.
    package static func isMissing(_ path: FilePath) -> Bool {
        do throws(NativeError) {
            _ = try ofName(path)
            return false
        } catch {
            return error.isMissing || error.isTooLong
        }
    }

    package static func exists(_ path: FilePath) -> Bool {
        (try? ofName(path)) != nil
    }
}
