package import SystemPackage

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
