import CLinux
package import SystemPackage

/// The kind of a file system, by the number that statfs(2) reports for it (linux/magic.h and the file systems' sources).
package struct FileSystemKind: Hashable, Sendable {
    private let number: Int

    /// The kind of the file system that holds `path`.
    package static func of(_ path: FilePath) throws(NativeError) -> FileSystemKind {
        FileSystemKind(
            number: try NativeError.retrying("statfs") { unsafe path.native { unsafe capture_file_system(-1, $0) } })
    }

    /// The kind of the file system that holds an open file or folder.
    package static func of(_ handle: FileHandle) throws(NativeError) -> FileSystemKind {
        FileSystemKind(
            number: try NativeError.retrying("fstatfs") { capture_file_system(handle.descriptor, nil) })
    }

    /// A kind that is none of those below.
    static let unknown = FileSystemKind(number: 0)

    /// ext2, ext3 and ext4, which share one number.
    package static let ext = FileSystemKind(number: 0xEF53)
    package static let xfs = FileSystemKind(number: 0x5846_5342)
    package static let btrfs = FileSystemKind(number: 0x9123_683E)
    package static let f2fs = FileSystemKind(number: 0xF2F5_2010)
    /// The drivers msdos and vfat.
    package static let fat = FileSystemKind(number: 0x4D44)
    package static let exfat = FileSystemKind(number: 0x2011_BAB0)
    package static let tmpfs = FileSystemKind(number: 0x0102_1994)
    package static let ramfs = FileSystemKind(number: 0x8584_58F6)
    package static let fuse = FileSystemKind(number: 0x6573_5546)

    private static let shares: Set<Int> = [0x517B, 0xFF53_4D42, 0xFE53_4D42]
    private static let networks: Set<Int> = [
        0x6969,  // NFS
        0x0102_1997,  // 9P
        0x00C3_6400,  // Ceph
        0x5346_414F, 0x6B41_4653,  // AFS of OpenAFS and of Linux
    ]

    /// Another machine has the disk.
    package var isNetwork: Bool { isShare || Self.networks.contains(number) }

    /// SMB 1, CIFS, SMB 2 and 3: by default chmod(2) changes nothing there.
    package var isShare: Bool { Self.shares.contains(number) }

    /// Nothing of it is left after a restart.
    package var isMemory: Bool { self == .tmpfs || self == .ramfs }

    /// Whether a file that was synced before it got its name is found under that name after a power cut, once its folder
    /// has been synced too. The power cut suite shows it for these; every other kind, known or not, gets another sync of
    /// the file under its name (Spec/queue.md section 7.2).
    var keepsNamesOfSyncedFiles: Bool { self == .ext || self == .xfs || self == .tmpfs }

    /// Whether a file kept its name through a power cut although release 1.0 did not sync it again.
    package var keptNamesOfVersion1: Bool { [.ext, .xfs, .f2fs, .exfat].contains(self) }

    /// Whether a power cut during a rename leaves one of both names. Elsewhere, for example on FAT and exFAT, both may be
    /// there afterwards and share their bytes.
    package var renamesInOneStep: Bool { isMemory || [.ext, .xfs, .btrfs, .f2fs].contains(self) }
}
