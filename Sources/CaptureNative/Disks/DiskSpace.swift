import Glibc
package import SystemPackage

/// The free space of a file system, and its size.
package struct DiskSpace: Hashable, Sendable {
    /// The number of bytes that this user can still write. A quota may allow less: see `refusal`.
    package let free: Int
    package let size: Int
    /// The number of bytes that are free, but that only root can write.
    package let freeForRoot: Int
    /// The number of files that can still be made; nil where the file system has no table of them, such as btrfs and FAT, or
    /// does not know (`rclone mount`).
    package let freeInodes: Int?
    package let blockSize: Int

    package static func free(at path: FilePath) throws(NativeError) -> Int { try at(path).free }

    /// The space on the file system that holds `path`.
    package static func at(_ path: FilePath) throws(NativeError) -> DiskSpace {
        var status = statvfs()
        try NativeError.retrying("statvfs") { unsafe path.native { unsafe statvfs($0, &status) } }
        let block = Int(status.f_frsize)
        let free = bytes(status.f_bavail, block)
        return DiskSpace(
            free: free, size: bytes(status.f_blocks, block), freeForRoot: max(0, bytes(status.f_bfree, block) - free),
            freeInodes: try hasTable(status, path) ? Int(clamping: status.f_favail) : nil, blockSize: block)
    }

    private static func hasTable(_ status: statvfs, _ path: FilePath) throws(NativeError) -> Bool {
        if status.f_favail == 0, try FileSystemKind.of(path) == .fuse { return false }
        return status.f_files > 0
    }

    private static func bytes(_ blocks: fsblkcnt_t, _ block: Int) -> Int {
        let (bytes, overflows) = Int(clamping: blocks).multipliedReportingOverflow(by: block)
        return overflows ? .max : bytes
    }

    /// Tries whether this user can have a new file of this many bytes, which also a quota or a lack of inodes prevents. The
    /// file never has a name.
    ///
    /// - Returns: the failure for lack of room; nil if there is room, or if this user cannot write there at all.
    package static func refusal(of bytes: Int, in folder: FilePath) -> NativeError? {
        do throws(NativeError) {
            if let file = try FolderHandle(folder).openUnnamed(mode: 0o600) {
                try file.allocate(bytes)
            } else if try free(at: folder) < bytes {
                return .system("statvfs", ENOSPC)
            }
            return nil
        } catch {
            return error.isDiskFull ? error : nil
        }
    }
}

/// A file system by what it promises about a power cut (Spec/queue.md section 2.1).
package enum DiskKind: String, Sendable {
    /// What is synced is kept, as far as is known.
    case usual
    case fat, exfat
    /// ext2, or ext4 without a journal.
    case withoutJournal = "no-journal"
    /// A program of this machine has the files.
    case fuse
    /// Another machine has them.
    case network
    /// Nothing of it is left after a restart.
    case memory

    /// The kind of the file system that holds `path`; `usual` if the system does not say.
    package static func of(_ path: FilePath) -> DiskKind {
        guard let kind = try? FileSystemKind.of(path) else { return .usual }
        switch kind {
        case .fat: return .fat
        case .exfat: return .exfat
        case .fuse: return .fuse
        case .ext: return hasJournal(path) == false ? .withoutJournal : .usual
        default: return kind.isNetwork ? .network : kind.isMemory ? .memory : .usual
        }
    }

    /// Whether an ext file system has a journal; nil if the system does not say. Of the mount options, which the driver lists
    /// with its defaults, `data=` is there only with a journal. /proc/fs/jbd2 names an external journal after its own device.
    private static func hasJournal(_ path: FilePath) -> Bool? {
        guard let numbers = try? FileStatus.of(path).deviceNumbers else { return nil }
        let device = FilePath("/sys/dev/block/\(numbers.major):\(numbers.minor)").resolved
        guard let name = device.lastComponent,
            let file = try? FileHandle.reading(FilePath("/proc/fs/ext4").appending(name).appending("options")),
            let options = try? file.readAll(limit: 1 << 16)
        else { return nil }
        return options.split(separator: UInt8(ascii: "\n")).contains { $0.starts(with: "data=".utf8) }
    }
}
