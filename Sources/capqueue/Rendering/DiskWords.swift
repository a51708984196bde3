import CaptureNative
import CaptureQueue
import CommandSupport
import QueueFiles

extension DiskKind {
    /// What a queue on this file system cannot promise; nil if there is nothing to say.
    var queueWords: String? {
        switch self {
        case .usual, .exfat: nil
        case .fat: "the queue is on FAT, where a power cut can take away what was stored"
        case .withoutJournal:
            "the queue is on ext2, or ext4 without a journal, where a power cut can take away what was stored"
        case .fuse: "a FUSE mount: what a power cut leaves depends on the program behind it"
        case .network:
            "a network mount: what a power cut leaves depends on its server; use the queue from one machine only"
        case .memory: "a file system in memory: nothing is left after a restart"
        }
    }

    /// Whether a person has to do something, since what was acknowledged can be lost.
    var isConcern: Bool { self == .fat || self == .withoutJournal }
}

extension QueueFolder {
    /// Prints what a new queue cannot promise on its file system.
    func tellDisk() {
        let kind = DiskKind.of(path)
        guard let words = kind.queueWords else { return }
        if kind.isConcern {
            diagnostic.warning(words)
        } else {
            diagnostic.note("the queue is on \(words)")
        }
    }
}
