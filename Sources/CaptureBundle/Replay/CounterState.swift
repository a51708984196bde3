import CaptureNative
public import SystemPackage

/// A folder that remembers which bundle used a counter of a key (Spec/capture-bundle.md section 11.2).
///
/// A verifier with a state finds two bundles with one counter, and tells whether it verified a bundle before:
///
/// ```swift
/// let state = try CounterState(folder: "/var/lib/verifier")
/// let policy = VerificationPolicy(required: [.fresh])
/// let verifier = Verifier(trust: trust, policy: policy, state: state)
/// ```
///
/// Several threads and processes can use one folder at the same time. When a report is returned, its record is on the
/// disk.
public final class CounterState: Sendable {
    public let path: FilePath
    /// Whether the folder was created just now, so that no bundle was seen before.
    public let isNew: Bool
    private let folder: FolderHandle

    /// The number of bundles that a run over many bundles records with one sync.
    package static let bundlesPerSync = 32
    private static let lockName: FilePath.Component = "lock"

    /// Opens the folder, or creates it with mode 0700 if only it is missing.
    ///
    /// - Throws: `output.unusable` if the path is not a folder and cannot become one, `state.open` if others can change
    ///   the folder.
    public init(folder path: FilePath) throws(BundleError) {
        self.path = path
        (folder, isNew) = try native({ Self.failure($0, path) }) { try Self.open(path) }
        let status = try native({ Self.failure($0, path) }) { try folder.status() }
        if let fault = FileAccess.exposure(ofState: path, status) { throw fault }
    }

    private static func open(_ path: FilePath) throws(NativeError) -> (FolderHandle, Bool) {
        do {
            return (try FolderHandle(path), false)
        } catch {
            guard error.isMissing, !error.isNoFolder, let name = path.name else { throw error }
            return try FolderHandle(path.folder).subfolder(name, mode: 0o700)
        }
    }

    /// The counter of a key that a bundle used, and the SHA-256 of its manifest.
    typealias Use = (key: Digest, counter: UInt32, manifest: Digest)

    /// Returns for each use the manifest that is recorded for its counter, and records that of the use if there is none, all
    /// under the lock of the folder. If it returns, the records are on the disk; if it throws, they are undone.
    func exchange(_ uses: [Use]) throws -> [Digest?] {
        let lock = path.appending(Self.lockName)
        // Another user who can open this file could hold the lock for ever.
        if let status = try (native({ Self.failure($0, lock) }) { try folder.status(of: Self.lockName) }) {
            guard status.kind == .file else { throw Self.notAFile(lock) }
            if let fault = FileAccess.exposure(ofState: lock, status) { throw fault }
        }
        return try native({ Self.failure($0, lock) }) {
            try FileLock.withLock(in: folder, Self.lockName) { try exchangeLocked(uses) }
        }
    }

    private func exchangeLocked(_ uses: [Use]) throws -> [Digest?] {
        var files: [Digest: CounterFile] = [:]
        let opened = try uses.map { use in
            let file = try files[use.key] ?? CounterFile(use.key, in: folder, path)
            files[use.key] = file
            return (use: use, file: file)
        }
        // New names are on the disk before anything is written into their files.
        if files.values.contains(where: \.isEmpty) {
            try native({ Self.failure($0, path) }) { try folder.synchronize() }
        }
        var written: [(file: CounterFile, counter: UInt32)] = []
        do {
            let known = try opened.map { use, file in
                let known = try file.manifest(at: use.counter)
                if known == nil {
                    written.append((file, use.counter))
                    try file.record(use.manifest.bytes, at: use.counter)
                }
                return known
            }
            // Also those in which nothing was written: the process that wrote a record may have ended before it synced
            // the file.
            for file in files.values { try file.synchronize() }
            return known
        } catch {
            // Overwrites the new records with zeros, as far as the disk allows it.
            for (file, counter) in written { file.forget(counter) }
            throw error
        }
    }

    static func failure(_ error: NativeError, _ path: FilePath) -> BundleError {
        if error.isNoFolder { return BundleError(.outputUnusable, "is not a folder", file: path) }
        if error.isLoop { return BundleError(.stateDamaged, "is a symbolic link, expected a regular file", file: path) }
        if error.isFolder { return notAFile(path) }
        if error.call == "pread" { return BundleError(.inputOutput, "cannot be read: \(error.text)", file: path) }
        // The folder exists but cannot be changed, as on a read-only disk.
        if error.call == "open", !error.isMissing {
            return BundleError(.inputOutput, "cannot be written: \(error.text)", file: path)
        }
        return .writing(path, error)
    }

    static func notAFile(_ path: FilePath) -> BundleError {
        BundleError(.stateDamaged, "is not a regular file", file: path)
    }
}

/// The file of one key: 32 bytes for each counter, the SHA-256 of the manifest that used it.
private struct CounterFile {
    static let unseen = [UInt8](repeating: 0, count: 32)

    var isEmpty: Bool { size == 0 }
    /// The length of the file when it was opened.
    private let size: Int
    private let handle: FileHandle
    private let path: FilePath

    init(_ key: Digest, in folder: FolderHandle, _ folderPath: FilePath) throws(BundleError) {
        guard let name = FilePath.Component(Array(key.description.utf8)) else {
            throw BundleError(.internalFailure, "a key id that is not a file name")
        }
        path = folderPath.appending(name)
        let status: FileStatus
        (handle, status) = try native({ [path] in CounterState.failure($0, path) }) {
            let flags = FileHandle.newOrExistingFile | FileHandle.withoutBlocking
            let handle = try folder.open(name, flags, mode: 0o600)
            return (handle, try handle.status())
        }
        guard status.kind == .file else { throw CounterState.notAFile(path) }
        if let fault = FileAccess.exposure(ofState: path, status) { throw fault }
        guard status.size % Self.unseen.count == 0 else {
            throw BundleError(
                .stateDamaged, "has \(status.size) bytes, expected a multiple of \(Self.unseen.count)", file: path,
                cause: .recordCut)
        }
        size = status.size
    }

    func manifest(at counter: UInt32) throws(BundleError) -> Digest? {
        let bytes = try native({ CounterState.failure($0, path) }) {
            try handle.read(Self.unseen.count, at: Self.unseen.count * Int(counter))
        }
        return bytes.isEmpty || bytes == Self.unseen ? nil : Digest(bytes: bytes)
    }

    func record(_ bytes: [UInt8], at counter: UInt32) throws(BundleError) {
        try native({ CounterState.failure($0, path) }) {
            try handle.write(bytes, at: bytes.count * Int(counter))
        }
    }

    /// Takes back a record that was written since the file was opened, even if only a part of it was written.
    func forget(_ counter: UInt32) {
        if Self.unseen.count * Int(counter) < size { try? record(Self.unseen, at: counter) }
        try? handle.shorten(to: size)
    }

    func synchronize() throws(BundleError) {
        try native({ CounterState.failure($0, path) }) { try handle.synchronizeData() }
    }
}
