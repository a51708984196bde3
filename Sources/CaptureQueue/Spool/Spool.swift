import CaptureBundle
import CaptureNative
import QueueModel
import QueueTransports
import SystemPackage

/// The folders that hold the bytes (Spec/queue.md section 2).
struct Spool: Sendable {
    let folder: QueueFolder

    private func handle(_ path: FilePath) throws(QueueError) -> FolderHandle {
        try onFile(path) { () throws(NativeError) in try FolderHandle(path, followsLinks: false) }
    }

    /// A file for bytes that come, which nobody can name yet.
    func openIncoming() throws(QueueError) -> IncomingFile {
        try onFile(folder.incoming) { () throws(NativeError) in
            try IncomingFile(in: FolderHandle(folder.incoming, followsLinks: false))
        }
    }

    /// Files that get their names together: first all names, then all folders are synced, since the first of those waits for
    /// the disk and the others find their work done.
    ///
    /// - Throws: for all; names that were given stay, and are good: their bytes were synced before.
    func publish(_ files: [(file: IncomingFile, shard: FilePath.Component, name: FilePath.Component)])
        throws(QueueError)
    {
        guard !files.isEmpty else { return }
        let byShard = Dictionary(grouping: files, by: \.shard)
        let spool = try handle(folder.spool)
        for (shard, files) in byShard {
            let path = folder.spool.appending(shard)
            let target = try onFile(path) { () throws(NativeError) in
                try spool.subfolderUnsynced(shard, mode: 0o700).folder
            }
            try QueueFolder.requirePrivate(path, onFile(path) { () throws(NativeError) in try target.status() })
            try onFile(path) { () throws(NativeError) in
                for (file, _, name) in files { try file.publish(in: target, as: name) }
            }
        }
        // Also where the shard was there: whoever made it may have been killed before this.
        try onFile(folder.spool) { () throws(NativeError) in try spool.synchronize() }
        for shard in byShard.keys { try synchronize(shard: shard) }
    }

    /// Syncs bundles that lay there already, and all that names them: whoever put them there may have been killed before that.
    func settle(_ bundles: [Digest]) throws(QueueError) {
        guard !bundles.isEmpty else { return }
        for sha256 in bundles {
            let path = folder.bundlePath(sha256)
            guard let handle = try open(sha256) else {
                throw QueueError(.inputOutput, "is gone", of: path)
            }
            try onFile(path) { () throws(NativeError) in try handle.synchronize() }
        }
        let spool = try handle(folder.spool)
        try onFile(folder.spool) { () throws(NativeError) in try spool.synchronize() }
        for shard in Set(bundles.map(QueueFolder.shard)) { try synchronize(shard: shard) }
    }

    func synchronize(shard: FilePath.Component) throws(QueueError) {
        let path = folder.spool.appending(shard)
        try onFile(path) { () throws(NativeError) in
            do throws(NativeError) {
                try FolderHandle(path, followsLinks: false).synchronize()
            } catch  where error.isMissing {
                // Nothing was ever in it.
            }
        }
    }

    /// The file of a bundle as it lies there: nil where there is none, or something that is no plain file.
    func bundleStatus(_ sha256: Digest) throws(QueueError) -> FileStatus? {
        let path = folder.bundlePath(sha256)
        return try onFile(path) { () throws(NativeError) in
            do throws(NativeError) {
                let status = try FileStatus.ofName(path)
                return status.kind == .file ? status : nil
            } catch  where error.isMissing {
                return nil
            }
        }
    }

    /// The shard folders that are there, in order.
    func shards() throws(QueueError) -> [FilePath.Component] {
        try names(in: folder.spool).filter { $0.bytes.count == 2 }
    }

    /// Names in a shard, in order.
    func names(inShard shard: FilePath.Component) throws(QueueError) -> [FilePath.Component] {
        try names(in: folder.spool.appending(shard))
    }

    private func names(in path: FilePath) throws(QueueError) -> [FilePath.Component] {
        try onFile(path) { () throws(NativeError) in
            do throws(NativeError) { return try DirectoryHandle.names(in: path) } catch  where error.isMissing {
                return []
            }
        }
    }

    /// Bytes in `quarantine/`, which only the user empties.
    func quarantinedBytes() throws(QueueError) -> Int {
        try names(in: folder.quarantine).reduce(0) { sum, name in
            sum + ((try? FileStatus.ofName(folder.quarantine.appending(name)).size) ?? 0)
        }
    }

    /// Bundles, or sidecars of those that are held by reference.
    func holdsBundles() throws(QueueError) -> Bool {
        for shard in try shards()
        where try names(inShard: shard).contains(where: { $0.extension == "bundle" || $0.extension == "json" }) {
            return true
        }
        return false
    }

    /// Removes what killed pushes left in `incoming/`; what a push still has open stays.
    ///
    /// - Returns: names that were removed, or would be.
    func sweepIncoming(isDryRun: Bool) throws(QueueError) -> [FilePath.Component] {
        let names = try names(in: folder.incoming)
        guard !names.isEmpty else { return [] }
        return try onFile(folder.incoming) { () throws(NativeError) in
            let incoming = try FolderHandle(folder.incoming, followsLinks: false)
            var swept: [FilePath.Component] = []
            for name in names where try IncomingFile.isAbandoned(name, in: incoming) {
                guard !isDryRun else {
                    swept.append(name)
                    continue
                }
                // A folder, for one, is nothing that a push left.
                if (try? incoming.removeFile(name)) ?? false { swept.append(name) }
            }
            return swept
        }
    }

    /// Opens the bytes of a bundle.
    ///
    /// - Returns: nil where there are none, or something that is no plain file.
    func open(_ sha256: Digest) throws(QueueError) -> FileHandle? {
        let path = folder.bundlePath(sha256)
        return try onFile(path) { () throws(NativeError) in
            do throws(NativeError) {
                let handle = try FileHandle.open(path, FileHandle.existingFile)
                return try handle.status().kind == .file ? handle : nil
            } catch  where error.isMissing || error.isLoop {
                return nil
            }
        }
    }

    /// Whether damaged bytes of that name were set aside.
    func isSetAside(_ sha256: Digest) throws(QueueError) -> Bool {
        try names(in: folder.quarantine).contains { $0.bytes.starts(with: "\(sha256).".utf8) }
    }

    /// Sets damaged bytes aside. They are never deleted.
    ///
    /// - Returns: where they are now; nil when there was nothing.
    func quarantine(_ sha256: Digest) throws(QueueError) -> FilePath? {
        let name = QueueFolder.bundleName(sha256)
        let shard = folder.shardPath(sha256)
        return try onFile(folder.bundlePath(sha256)) { () throws(NativeError) in
            let source: FolderHandle
            do throws(NativeError) { source = try FolderHandle(shard, followsLinks: false) } catch
                where error.isMissing
            { return nil }
            let target = try FolderHandle(folder.quarantine, followsLinks: false)
            guard try source.status(of: name) != nil else { return nil }
            var number = 1
            while true {
                let other = FilePath.Component(digits: sha256.bytes).adding(".\(number).bundle")
                do throws(NativeError) {
                    try source.move(name, to: target, as: other)
                    try target.synchronize()
                    try source.synchronize()
                    return folder.quarantine.appending(other)
                } catch  where error.isExisting {
                    number += 1
                }
            }
        }
    }

    /// Unlinks what a permit names; the folder is not synced yet. The only call of the program that unlinks a spool file.
    func remove(_ permit: RemovalPermit) throws(QueueError) {
        let path = folder.shardPath(permit.sha256)
        try onFile(path) { () throws(NativeError) in
            let shard: FolderHandle
            do throws(NativeError) { shard = try FolderHandle(path, followsLinks: false) } catch  where error.isMissing
            { return }
            // The bundle first: a sidecar alone is nothing, a bundle alone looks like a stray.
            if permit.includesBundle { _ = try shard.removeFile(QueueFolder.bundleName(permit.sha256)) }
            _ = try shard.removeFile(QueueFolder.sidecarName(permit.sha256))
        }
    }
}
