import CaptureNative
package import QueueModel
package import SystemPackage

/// Trying the file system of a new queue (Spec/queue.md section 2.1).
extension QueueFolder {
    /// Makes the missing folders. If there is no queue yet, the file system has to have what a queue needs; else what this
    /// call made is removed again.
    ///
    /// - Throws: `queue.open`, `queue.unusable`, `io.failed`.
    package func createTested() throws(QueueError) {
        let made = try createChecked()
        guard !exists, try !Spool(folder: self).hasBundles() else { return }
        do {
            try requireUsable()
        } catch {
            Folders.removeEmpty(made)
            throw error
        }
    }

    /// The folder of the queue that is on a mount or subvolume of its own, so that no file can be moved into it or out of it.
    package var folderApart: FilePath? { [spool, incoming, quarantine].first { Folders.areApart(path, $0) } }

    /// The error for such a folder.
    package static func apart(_ code: QueueError.Code, _ folder: FilePath) -> QueueError {
        QueueError(
            code, "\(apartWords), but all folders of a queue need one mount", of: folder, cause: .apart)
    }

    package static let apartWords = "is on a mount of its own"

    /// - Throws: `queue.unusable`.
    package func requireOneMount() throws(QueueError) {
        if let folderApart { throw Self.apart(.unusable, folderApart) }
    }

    private func requireUsable() throws(QueueError) {
        try requireOneMount()
        let kind = DiskKind.of(path)
        guard kind != .fat else {
            throw QueueError(
                .unusable, "is on FAT, where a power cut can take away what was stored", of: path, cause: .unfit)
        }
        let lacks = try onFile(incoming) { try FolderTrial.lacks(of: incoming, movingTo: spool) }
        guard !lacks.isEmpty else { return }
        // Maps of a full btrfs fail too.
        if let lack = lackOfRoom(for: Reserve.size) { throw QueueError(.inputOutput, lack, of: path) }
        throw QueueError(
            .unusable, "the file system cannot keep a queue: \(lacks.map(\.words).joined(separator: "; "))", of: path,
            cause: .unfit,
            values: lacks.compactMap { $0.option(kind) }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } })
    }
}

extension FolderTrial.Lack {
    fileprivate var words: String {
        switch self {
        case .privacy(let mode): "new files have the mode \(String(mode, radix: 8)), expected 600"
        case .owner(let number): "new files belong to another user (number \(number))"
        case .fileLock(let found): "files cannot be locked (\(found))"
        case .rangeLock(let found): "parts of files cannot be locked (\(found))"
        case .sharedMap(let found): "processes cannot share memory (\(found))"
        case .sync(let found): "nothing can be synced (\(found))"
        case .rename(let found): "files cannot be renamed (\(found))"
        }
    }

    /// The mount option that would mend it, as a value of `QueueError.Cause.unfit`.
    fileprivate func option(_ kind: DiskKind) -> String? {
        switch self {
        case _ where kind == .network: "share"
        case .privacy, .owner: "owner"
        case .sharedMap where kind == .fuse: "map"
        default: nil
        }
    }
}

extension StorageEncryption {
    /// Asks the kernel about the file system of a folder.
    ///
    /// - Parameter blocks: the folder in which the kernel lists block devices by their numbers.
    package init(of folder: FilePath, blocks: FilePath = "/sys/dev/block") {
        guard let handle = try? FolderHandle(folder), let status = try? handle.status() else {
            self = .unknown
            return
        }
        let (major, minor) = status.deviceNumbers
        let isMapped = Self.isEncrypted(blocks.appending("\(major):\(minor)"), depth: 0)
        self = handle.hasEncryptionPolicy ? .fscrypt : isMapped ? .dmCrypt : .unknown
    }

    /// Whether a device, or each device of which it was made, is a dm-crypt volume.
    private static func isEncrypted(_ device: FilePath, depth: Int) -> Bool {
        // A stack is never as deep; a link that leads back must not be followed for ever.
        guard depth < 16 else { return false }
        let uuid = try? FileHandle.reading(device.appending("dm").appending("uuid")).readAll(limit: 4096)
        if let uuid, uuid.starts(with: "CRYPT-".utf8) { return true }
        // A partition is on the disk that contains it.
        if FileStatus.exists(device.appending("partition")) {
            return isEncrypted(device.appending(".."), depth: depth + 1)
        }
        let below = device.appending("slaves")
        let names = (try? Folders.names(in: below)) ?? []
        return !names.isEmpty && names.allSatisfy { isEncrypted(below.appending($0), depth: depth + 1) }
    }
}
