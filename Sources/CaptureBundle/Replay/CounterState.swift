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

    /// Calls `body` with the records of these keys, under the lock of the folder. If it returns, its changes are on the
    /// disk; if it throws, they are undone.
    func change(
        _ keys: some Sequence<Digest>, _ body: (inout CounterRecords) throws -> Void
    ) throws {
        let lock = path.appending(Self.lockName)
        // Another user who can open this file could hold the lock for ever.
        let known = try native({ Self.failure($0, lock) }) { try folder.status(of: Self.lockName) }
        if let status = known {
            guard status.kind == .file else { throw Self.notAFile(lock) }
            if let fault = FileAccess.exposure(ofState: lock, status) { throw fault }
        }
        try native({ Self.failure($0, lock) }) {
            try FileLock.withLock(in: folder, Self.lockName) {
                var records = try CounterRecords(keys, in: folder, path)
                do {
                    try body(&records)
                    try records.synchronize()
                } catch {
                    records.undo()
                    throw error
                }
            }
        }
    }

    static func failure(_ error: NativeError, _ path: FilePath) -> BundleError {
        if error.isNoFolder { return BundleError(.outputUnusable, "is not a folder", file: path) }
        if error.isLoop { return BundleError(.stateDamaged, "is a symbolic link, expected a regular file", file: path) }
        if error.isFolder { return notAFile(path) }
        if error.call == "pread" { return BundleError(.inputOutput, "cannot be read: \(error.text)", file: path) }
        return .writing(path, error)
    }

    static func notAFile(_ path: FilePath) -> BundleError {
        BundleError(.stateDamaged, "is not a regular file", file: path)
    }
}
