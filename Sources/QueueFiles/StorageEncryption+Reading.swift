import CaptureNative
package import QueueModel
package import SystemPackage

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
