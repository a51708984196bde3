package import CaptureBundle
package import CaptureNative
package import QueueModel
package import SystemPackage

/// Runs a system call on a file or folder; returns nil if it does not exist.
package func ifThere<Value>(_ path: FilePath, _ body: () throws -> Value) throws(QueueError) -> Value? {
    try onFile(path) { try allowing(\.isMissing, body) }
}

/// The folders that hold the bundles (Spec/queue.md section 2).
package struct Spool: Sendable {
    package let folder: QueueFolder

    package init(folder: QueueFolder) { self.folder = folder }

    private func handle(_ path: FilePath) throws(QueueError) -> FolderHandle {
        try onFile(path) { try FolderHandle(path, followsLinks: false) }
    }

    /// Opens `incoming/` or `quarantine/`. Makes it if it is missing, because a copy of a queue may lack empty folders.
    private func made(_ path: FilePath) throws(NativeError) -> FolderHandle {
        do { return try FolderHandle(path, followsLinks: false) } catch {
            guard error.isMissing, !error.isNoFolder, let name = path.name else { throw error }
            return try FolderHandle(folder.path).subfolder(name, mode: 0o700).folder
        }
    }

    /// Opens a file for new bytes, which has no name in the spool yet.
    package func openIncoming() throws(QueueError) -> AtomicFile {
        var generator = SystemRandomNumberGenerator()
        let name = FilePath.Component(digits: (0..<8).map { _ in generator.next() }).adding(".tmp")
        return try onFile(folder.incoming) {
            let file = try AtomicFile(hiddenName: name, in: made(folder.incoming), mode: 0o600)
            // The lock shows that a push is using the file. It ends with the process.
            _ = file.handle.lockIfFree()
            return file
        }
    }

    /// A synced file, and its place in the spool.
    package typealias NewFile = (file: AtomicFile, shard: FilePath.Component, name: FilePath.Component)

    /// Gives several synced files their names.
    ///
    /// - Throws: an error for the whole group. Names that were given stay, because their bytes were synced before.
    package func publish(_ files: [NewFile]) throws(QueueError) {
        guard !files.isEmpty else { return }
        let spool = try handle(folder.spool)
        var shards: [FilePath.Component: FolderHandle] = [:]
        for shard in Set(files.map(\.shard)) {
            let path = folder.spool.appending(shard)
            let target = try onFile(path) { try spool.subfolder(shard, mode: 0o700, isSynced: false).folder }
            try QueueFolder.requirePrivate(path, onFile(path) { try target.status() })
            shards[shard] = target
        }
        let namings = files.compactMap { new in
            shards[new.shard].map { AtomicFile.Naming(new.file, as: new.name, in: $0, .refuse) }
        }
        let errors = AtomicFile.commit(namings, areSynced: true)
        for (new, error) in zip(files, errors) {
            if let error { throw notMoved(folder.spool.appending(new.shard), error) }
        }
        // This is needed even if the shard existed: the process that made it may have been killed before its sync.
        try onFile(folder.spool) { try spool.synchronize() }
    }

    /// The error of a move between two folders of the queue.
    private func notMoved(_ path: FilePath, _ error: NativeError) -> QueueError {
        error.isOtherMount ? QueueFolder.apart(.inputOutput, folder.folderApart ?? path) : .file(path, error)
    }

    /// Syncs bundles that were in the spool already, because the process that stored them may have been killed before.
    package func settle(_ bundles: [Digest]) throws(QueueError) {
        guard !bundles.isEmpty else { return }
        for sha256 in bundles {
            let path = folder.bundlePath(sha256)
            guard let handle = try open(sha256) else { throw QueueError(.inputOutput, "is gone", of: path) }
            try onFile(path) { try handle.synchronize() }
        }
        try onFile(folder.spool) { try FolderHandle(folder.spool, followsLinks: false).synchronize() }
        for shard in Set(bundles.map(QueueFolder.shard)) { try synchronize(shard: shard) }
    }

    package func synchronize(shard: FilePath.Component) throws(QueueError) {
        let path = folder.spool.appending(shard)
        // A shard that does not exist never held a file.
        _ = try ifThere(path) { try FolderHandle(path, followsLinks: false).synchronize() }
    }

    /// The status of a bundle's file; nil if there is none or it is not a plain file.
    package func bundleStatus(_ sha256: Digest) throws(QueueError) -> FileStatus? {
        let path = folder.bundlePath(sha256)
        let status = try ifThere(path) { try FileStatus.ofName(path) }
        return status?.kind == .file ? status : nil
    }

    /// The names of the existing shard folders, in order.
    package func shards() throws(QueueError) -> [FilePath.Component] {
        try names(in: folder.spool).filter { $0.bytes.count == 2 }
    }

    /// The names in a shard, in order.
    package func names(inShard shard: FilePath.Component) throws(QueueError) -> [FilePath.Component] {
        try names(in: folder.spool.appending(shard))
    }

    private func names(in path: FilePath) throws(QueueError) -> [FilePath.Component] {
        try ifThere(path) { try Folders.names(in: path) } ?? []
    }

    /// The bytes in `quarantine/`, which only the user empties.
    ///
    /// - Parameter counts: whether a file of this bundle counts; nil for a foreign name.
    package func quarantinedBytes(where counts: (Digest?) throws -> Bool) throws -> Int {
        try names(in: folder.quarantine).reduce(0) { sum, name in
            guard try counts(Digest(hex: String(decoding: name.bytes.prefix(64), as: UTF8.self))) else { return sum }
            return sum + ((try? FileStatus.ofName(folder.quarantine.appending(name)).size) ?? 0)
        }
    }

    /// Whether there are bundles, or sidecars of references.
    package func hasBundles() throws(QueueError) -> Bool {
        for shard in try shards()
        where try names(inShard: shard).contains(where: { $0.extension == "bundle" || $0.extension == "json" }) {
            return true
        }
        return false
    }

    /// A file in `incoming/` whose push was killed.
    package struct Leftover {
        package let name: FilePath.Component
        /// The file of the spool that may share its bytes after a power cut; nil if there is none.
        package let twin: FilePath?
    }

    /// Removes files of killed pushes from `incoming/`. Files that a running push has open stay, and so does one that may
    /// share its bytes with a file of the spool (Spec/queue.md section 7.2).
    ///
    /// - Returns: what was removed, or in a dry run would be; and what has a twin.
    package func sweepIncoming(isDryRun: Bool) throws(QueueError) -> [Leftover] {
        let names = try names(in: folder.incoming)
        guard !names.isEmpty else { return [] }
        let incoming = try handle(folder.incoming)
        var found: [Leftover] = []
        for name in names {
            let isAbandoned = try onFile(folder.incoming) { try Self.isAbandoned(name, in: incoming) }
            guard isAbandoned else { continue }
            let twin = incoming.fileSystem.renamesInOneStep ? nil : try twin(of: name)
            // A push does not leave folders, for example; those stay.
            if twin != nil || isDryRun || (try? incoming.removeFile(name)) ?? false {
                found.append(Leftover(name: name, twin: twin))
            }
        }
        return found
    }

    /// The bundle or sidecar of the spool that this file in `incoming/` would have become, if it is there.
    private func twin(of name: FilePath.Component) throws(QueueError) -> FilePath? {
        let path = folder.incoming.appending(name)
        let file = try ifThere(path) { try FileHandle.readingPlainFile(path, followsLinks: false) }
        guard let file = file ?? nil else { return nil }
        let bundle = folder.bundlePath(try Spool.hash(file, path))
        if FileStatus.exists(bundle) { return bundle }
        let text = try onFile(path) { try file.read(Sidecar.sizeLimit, at: 0) }
        let sidecar = Sidecar(decoding: text).map { folder.sidecarPath($0.facts.sha256) }
        return sidecar.flatMap { FileStatus.exists($0) ? $0 : nil }
    }

    /// Whether the process that wrote the file has ended.
    private static func isAbandoned(
        _ name: FilePath.Component, in incoming: FolderHandle
    ) throws(NativeError) -> Bool {
        do throws(NativeError) {
            return try incoming.open(name, FileHandle.existingFile).lockIfFree()
        } catch  where error.isMissing {
            return false
        } catch  where error.isLoop {
            return true
        }
    }

    /// Opens the file of a bundle.
    ///
    /// - Returns: nil if there is none or it is not a plain file.
    package func open(_ sha256: Digest) throws(QueueError) -> FileHandle? {
        let path = folder.bundlePath(sha256)
        return try onFile(path) {
            try allowing({ $0.isMissing || $0.isLoop }) {
                let handle = try FileHandle.open(path, FileHandle.existingFile)
                return try handle.status().kind == .file ? handle : nil
            }
        }
    }

    private func shard(of sha256: Digest) throws(QueueError) -> FolderHandle? {
        let path = folder.shardPath(sha256)
        return try ifThere(path) { try FolderHandle(path, followsLinks: false) }
    }

    /// Moves damaged bytes to `quarantine/`. They are never deleted.
    ///
    /// - Returns: the new path; nil if there was no file.
    package func quarantine(_ sha256: Digest) throws(QueueError) -> FilePath? {
        let name = QueueFolder.bundleName(sha256)
        guard let source = try shard(of: sha256) else { return nil }
        do throws(NativeError) {
            let target = try made(folder.quarantine)
            guard try source.status(of: name) != nil else { return nil }
            var number = 1
            while true {
                let other = FilePath.Component(digits: sha256.bytes).adding(".\(number).bundle")
                do throws(NativeError) {
                    try source.move(name, to: target, as: other)
                    try target.synchronize(renamed: other)
                    try source.synchronize()
                    return folder.quarantine.appending(other)
                } catch  where error.isExisting {
                    number += 1
                }
            }
        } catch {
            throw notMoved(folder.bundlePath(sha256), error)
        }
    }

    /// Unlinks the files of a permit, without syncing the folder. No other code unlinks files of the spool.
    package func remove(_ permit: RemovalPermit) throws(QueueError) {
        guard let shard = try shard(of: permit.sha256) else { return }
        try onFile(folder.shardPath(permit.sha256)) {
            // The bundle goes first: a sidecar alone is harmless, but a bundle alone looks like a stray file.
            if permit.includesBundle { _ = try shard.removeFile(QueueFolder.bundleName(permit.sha256)) }
            _ = try shard.removeFile(QueueFolder.sidecarName(permit.sha256))
        }
    }
}

/// Computes the tag of a file while its bytes are copied, with a key that is used for this file only.
package final class BytesTagger {
    private let key: [UInt8]
    private let poly: Poly1305

    package init() throws(NativeError) {
        key = try RandomBytes.make(Poly1305.keyLength)
        poly = try Poly1305(key: key)
    }

    package func update(_ bytes: Span<UInt8>) throws(NativeError) { try poly.update(bytes) }

    /// Returns the tag. It may be called once, after the last byte.
    package func finish() throws(NativeError) -> BytesTag? { BytesTag(bytes: key + (try poly.finish())) }
}
