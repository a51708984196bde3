public import CaptureBundle
package import CaptureNative
package import QueueModel
public import SystemPackage

/// The folder of a queue, and the names in it (Spec/queue.md section 2).
public struct QueueFolder: Hashable, Sendable {
    public let path: FilePath

    /// - Parameter path: where the queue is, or where it will be made.
    public init(path: FilePath) { self.path = path }

    /// The default folder: `CAPQUEUE_DIR`, else `$XDG_DATA_HOME/capqueue`.
    public static var usual: QueueFolder {
        ProcessEnvironment.path("CAPQUEUE_DIR").map { QueueFolder(path: $0) } ?? ofHome
    }

    private static var ofHome: QueueFolder {
        let base = ProcessEnvironment.folder("XDG_DATA_HOME", orInHome: ".local/share")
        return QueueFolder(path: base.appending("capqueue"))
    }

    /// Whether it is the place that is used if the user names none. Only there a push makes the queue: elsewhere an
    /// empty folder may be the place of a disk that is not mounted.
    package var isDefault: Bool { self == Self.ofHome }

    package var database: FilePath { path.appending("queue.sqlite") }
    package var lock: FilePath { path.appending("queue.lock") }
    package var bell: FilePath { path.appending("run.bell") }
    package var transfersFile: FilePath { path.appending("run.json") }
    package var runLock: FilePath { path.appending("run.lock") }
    package var begunFile: FilePath { path.appending("run.begun") }
    package var settingsCopy: FilePath { path.appending("settings.json") }
    package var reserve: FilePath { path.appending("reserve") }
    package var secondReserve: FilePath { path.appending("reserve.2") }
    package var spool: FilePath { path.appending("spool") }
    package var incoming: FilePath { path.appending("incoming") }
    package var quarantine: FilePath { path.appending("quarantine") }

    /// The files that a queue is made of, whether they exist or not, apart from its bundles.
    package var files: [FilePath] {
        [database, database.adding("-wal"), database.adding("-shm"), settingsCopy, reserve, secondReserve]
            + [lock, bell, runLock, begunFile, transfersFile]
    }

    private var folders: [FilePath] { [spool, incoming, quarantine] }

    public func bundlePath(_ sha256: Digest) -> FilePath { shardPath(sha256).appending(Self.bundleName(sha256)) }

    package func sidecarPath(_ sha256: Digest) -> FilePath { shardPath(sha256).appending(Self.sidecarName(sha256)) }

    package func shardPath(_ sha256: Digest) -> FilePath { spool.appending(Self.shard(sha256)) }

    /// The folder in the spool, which is named by the first two hex digits.
    package static func shard(_ sha256: Digest) -> FilePath.Component { .init(digits: sha256.bytes.prefix(1)) }

    package static func bundleName(_ sha256: Digest) -> FilePath.Component {
        .init(digits: sha256.bytes).adding(".bundle")
    }

    package static func sidecarName(_ sha256: Digest) -> FilePath.Component {
        .init(digits: sha256.bytes).adding(".json")
    }

    /// Whether a path is this folder or below it, or would be if it were made, also by way of another mount of this folder.
    package func contains(_ place: FilePath) -> Bool {
        var place = place.absolute
        while !FileStatus.exists(place), place.folder != place { place = place.folder }
        place = place.resolved
        guard let own = try? FileStatus.of(path) else { return place.starts(with: path.resolved) }
        while (try? FileStatus.of(place))?.isSameFile(as: own) != true {
            guard place.folder != place else { return false }
            place = place.folder
        }
        return true
    }

    /// - Throws: `queue.unusable` for a backup in this folder.
    package func requireOutside(_ backup: FilePath) throws(QueueError) {
        guard contains(backup) else { return }
        throw QueueError(.unusable, "is in the queue's own folder, expected a folder apart from it", of: backup)
    }

    /// Whether there is a database. An empty file does not count.
    package var exists: Bool { ((try? FileStatus.ofName(database).size) ?? 0) > 0 }

    /// Takes a lock of the folder.
    ///
    /// - Throws: `queue.busy` with this message if another process held it the whole time; `io.failed`.
    package func take(_ lock: FilePath, milliseconds: Int, orSay message: String) throws(QueueError) -> FileLock {
        let taken = try onFile(lock) { try FileLock.take(lock, milliseconds: milliseconds) }
        guard let taken else { throw QueueError(.busy, message, of: path) }
        return taken
    }

    /// Removes a file of the folder; returns false if there is none, or if it cannot be removed.
    package func remove(_ name: FilePath.Component) -> Bool {
        (try? FolderHandle(path).removeFile(name)) ?? false
    }

    /// Makes the missing folders, private to the user. An existing folder must be private before.
    ///
    /// - Returns: the folders that were made.
    @discardableResult
    package func createChecked() throws(QueueError) -> [FilePath] {
        try requireText()
        if let whole = try? FileStatus.of(path), whole.kind == .folder { try Self.requirePrivate(path, whole) }
        do throws(NativeError) {
            var made = try Folders.create(path, mode: 0o700)
            for folder in folders { made += try Folders.create(folder, mode: 0o700) }
            return made
        } catch {
            throw QueueError(.unusable, "the queue cannot be created: \(error.text)", of: path)
        }
    }

    /// Refuses a queue that other users could change, or whose parts have a wrong type.
    ///
    /// - Throws: `queue.open`, `queue.missing`, `queue.unusable`.
    package func examine() throws(QueueError) {
        try requireText()
        // The folder itself may be reached by a link: whoever made that link was allowed to do so.
        let found = try ifThere(path) { try FileStatus.of(path) }
        guard let whole = found else { throw missing }
        guard whole.kind == .folder else { throw QueueError(.unusable, "is not a folder", of: path) }
        try Self.requirePrivate(path, whole)
        for folder in folders { try examine(folder, .folder) }
        for file in [lock, runLock, begunFile, reserve, secondReserve] { try examine(file, .file) }
        // These files hold settings of destinations, such as headers and presigned URLs.
        for file in [database, database.adding("-wal"), database.adding("-shm"), settingsCopy] {
            try examine(file, .file)
            if let fault = FileAccess.exposure(ofSecret: file) {
                let isOnShare = (try? FileSystemKind.of(file))?.isShare ?? false
                throw QueueError(
                    .openToOthers, fault.message, of: file, cause: .secret, values: isOnShare ? ["share"] : [])
            }
        }
        try BackupMark.requireNoLog(in: self)
    }

    /// Refuses a path that is not UTF-8, because SQLite takes the path of its database as text.
    private func requireText() throws(QueueError) {
        guard String(validating: path) != nil else {
            throw QueueError(
                .unusable, "the path of the queue is not UTF-8", of: path, cause: .unfit)
        }
    }

    package var missing: QueueError {
        QueueError(.missing, "there is no queue here", of: path, cause: isDefault ? .defaultQueue : nil)
    }

    private func examine(_ path: FilePath, _ kind: FileStatus.Kind) throws(QueueError) {
        let found = try ifThere(path) { try FileStatus.ofName(path) }
        guard let status = found else { return }
        guard status.kind == kind else {
            let expected = kind == .folder ? "folder" : "plain file"
            throw QueueError(
                .openToOthers,
                "is \(status.kind == .link ? "a symbolic link" : "something else"), expected a \(expected)",
                of: path)
        }
        try Self.requirePrivate(path, status)
    }

    /// Refuses a file or folder that another user owns or can write.
    ///
    /// - Throws: `queue.open`.
    package static func requirePrivate(_ path: FilePath, _ status: FileStatus) throws(QueueError) {
        guard status.isThisUsers else {
            let name = ProcessEnvironment.userName(status.owner)
            throw QueueError(
                .openToOthers, "belongs to another user: \(name ?? "number \(status.owner)")", of: path,
                cause: .otherOwner, values: [name].compactMap(\.self))
        }
        guard !status.isWritableByOthers else {
            throw QueueError(.openToOthers, "can be changed by other users", of: path, cause: .writable)
        }
    }

    /// Makes F2FS store what SQLite has committed. SQLite syncs its log once, and there that may not be enough
    /// (Spec/queue.md section 7.2).
    package func settleCommit() throws(QueueError) {
        guard (try? FileSystemKind.of(path)) == .f2fs else { return }
        try onFile(path) { try FolderHandle(path).synchronize() }
    }
}

extension FilePath.Component {
    /// Makes a name from bytes as lower-case hex digits.
    package init(digits bytes: some Collection<UInt8>) {
        self = FilePath(Hex.encode(Array(bytes))).lastComponent ?? "_"
    }
}
