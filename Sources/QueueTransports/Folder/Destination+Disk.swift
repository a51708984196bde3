import CaptureNative
public import QueueModel
import SystemPackage

/// What the file system of a folder means for its copies (Spec/queue.md section 12).
extension Destination {
    /// What a receipt of this destination does not prove, in a sentence; nil for other kinds and most disks.
    public var diskNote: String? { folder.flatMap(DiskKind.note) }

    /// Whether a copy could replace a file that another program stores under its name at the same moment. To know it, a
    /// file is made in the folder and removed.
    public var mayReplaceOthers: Bool {
        guard let folder else { return false }
        return (try? FolderHandle(folder).keepsOthersNames()) == false
    }
}

extension DiskKind {
    static func note(of folder: FilePath) -> String? { of(folder).copyWords.map { "\(folder) \($0)" } }

    private var copyWords: String? {
        switch self {
        case .usual: nil
        case .fat, .exfat:
            "is on a file system without a journal (\(rawValue)): a receipt says that the copy was synced and read back, "
                + "but a power cut during a later write can damage it"
        case .withoutJournal:
            "is on ext2, or ext4 without a journal: a receipt says that the copy was synced and read back, but a power "
                + "cut can still take away its name"
        case .fuse:
            "is a FUSE mount: a receipt says that the program behind it took the copy and the sync, not that a disk has it"
        case .network:
            "is a network mount: a receipt says that its server took the copy and the sync, not what a power cut of the "
                + "server leaves"
        case .memory: "is in memory: a receipt ends with the next restart"
        }
    }
}
