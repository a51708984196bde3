import CaptureBundle
package import CaptureNative
package import QueueModel
package import SystemPackage

extension QueueFolder {
    /// More than the files need that SQLite makes when it opens the database.
    package static let roomToOpen = 65_536

    /// Why this user has no room here for so many bytes; nil if there is room.
    package func lackOfRoom(for bytes: Int = roomToOpen) -> String? {
        guard let refusal = DiskSpace.refusal(of: bytes, in: path) else { return nil }
        if refusal.isQuotaFull { return "the quota is used up" }
        if (try? DiskSpace.at(path))?.freeInodes == 0 { return "the disk has no inode left" }
        return Reserve(folder: self).takenByRoot > 0 ? "the disk is full, and \(Self.keptForRoot)" : "the disk is full"
    }

    /// Whether the disk lacks room for this many bytes, and a write to SQLite's shared memory could end the process by
    /// SIGBUS. SQLite writes one byte in each page of 4096 bytes, which allocates the whole page, except on btrfs and on
    /// file systems with smaller blocks.
    package func isTooFullForSharedMemory(_ bytes: Int) -> Bool {
        let hasSmallBlocks = ((try? DiskSpace.at(path))?.blockSize ?? 4096) < 4096
        return (hasSmallBlocks || (try? FileSystemKind.of(path)) == .btrfs) && lackOfRoom(for: bytes) != nil
    }

    fileprivate static let keptForRoot = "its last blocks are kept for root (tune2fs -m)"

    /// Whether the queue is on a disk that is mounted read-only.
    package var isOnReadOnlyDisk: Bool { unwritable?.error.isReadOnlyDisk ?? false }

    /// A folder in which this user cannot store, and why; nil if there is none.
    package var unwritable: (folder: FilePath, error: NativeError)? {
        for folder in [path, spool, incoming] {
            do throws(NativeError) {
                try ProcessEnvironment.canWrite(folder: folder)
            } catch {
                // A folder that is missing is another matter.
                if error.isForbidden || error.isReadOnlyDisk { return (folder, error) }
            }
        }
        return nil
    }
}

extension QueueError {
    /// The same error; if a full disk has caused it, with whether deleting something would make room.
    package static func withRoom(_ error: QueueError, in folder: QueueFolder) -> QueueError {
        var error = error
        if error.isDiskFull { error.cause = lack(folder) }
        return error
    }

    /// The error of a push that names the bundle for which there was no room; any other error as it is.
    package static func push(of name: String, _ error: any Error, in folder: QueueFolder) -> any Error {
        let isDiskFull = (error as? QueueError)?.isDiskFull ?? ((error as? BundleError)?.cause == .diskFull)
        guard isDiskFull else { return error }
        return QueueError(.inputOutput, "cannot be stored: \(error)", of: name, cause: lack(folder))
    }

    /// If the last blocks are kept for root, nothing that this user deletes makes room, and each change of the database
    /// needs some.
    private static func lack(_ folder: QueueFolder) -> Cause {
        Reserve(folder: folder).takenByRoot > 0 ? .keptForRoot : .noRoomToStore
    }
}
