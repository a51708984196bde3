import CaptureBundle
import CaptureNative
public import QueueModel
import SystemPackage

/// Whether the folder is there, and may be written.
extension FolderTransport {
    static func readMarker(_ path: FilePath) throws(NativeError) -> String? {
        let bytes = try FileHandle.reading(path.appending(markerName), followsLinks: false).readAll(limit: 256)
        return Digest(hex: String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))?.description
    }

    /// Returns the settings for a folder whose disk is mounted elsewhere, with the path without links.
    ///
    /// - Throws: `destination.settings` unless the folder has the marker of the settings.
    package static func moved(_ settings: FolderSettings) throws(QueueError) -> FolderSettings {
        var settings = settings
        settings.path = settings.path.resolved
        let found: String?
        do throws(NativeError) { found = try readMarker(settings.path) } catch {
            throw QueueError(
                .destinationSettings,
                "path: \(settings.path) has no \(markerName), so it is not the folder that was added: \(error.text)",
                cause: .unmounted)
        }
        guard found == settings.marker, found != nil, String(validating: settings.path) != nil else {
            throw QueueError(
                .destinationSettings,
                "path: \(settings.path) has the \(markerName) of another destination, not of the folder that was added",
                cause: .otherFolder)
        }
        return settings
    }

    /// Whether this is the marked folder, and not the empty mount point of its disk.
    var isThere: Bool { (try? hasMarker()) == true }

    private func hasMarker() throws(NativeError) -> Bool { try Self.readMarker(path) == marker }

    package var absence: Block? {
        do throws(NativeError) {
            if try hasMarker() { return nil }
        } catch  where error.isForbidden {
            return unwritable(error)
        } catch  where error.isOfDevice {
            return Block(.offline, "\(path) cannot be read: \(error.text)")
        } catch {}
        return Block(.offline, "\(path) is missing, or is not the folder that was added: is its disk mounted?")
    }

    /// A folder that this user may not write fails each capture alike, so no capture's try is used up.
    package func reach(_ control: SendControl) -> Block? {
        if let absence { return absence }
        do throws(NativeError) {
            try ProcessEnvironment.canWrite(folder: path)
            return nil
        } catch {
            return unwritable(error)
        }
    }

    /// systemd shows a service other mounts than the user who added the folder sees.
    func unwritable(_ error: NativeError) -> Block {
        let isFailed = error.isOfDevice
        let isUnit = ProcessEnvironment.value("SYSTEMD_EXEC_PID") == "\(ProcessEnvironment.processNumber)"
        let limits = "; its unit has to list it in ReadWritePaths, and ProtectHome hides home folders"
        return Block(
            .local, "\(path) cannot be written: \(error.text)\(isUnit && !isFailed ? limits : "")",
            cause: isFailed ? .failedDisk : .unwritable)
    }
}

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
