import CaptureNative
import SystemPackage

/// A file whose bytes are whole and which has no name yet. Several of one folder are committed together: the disk is waited
/// for a few times rather than for each.
struct FinishedFile: Sendable {
    /// As messages name it.
    let name: String
    let file: AtomicFile
    let existing: AtomicFile.Existing

    /// - Parameter folder: the folder that contains `place`.
    init(_ place: OutputPlace, in folder: FolderHandle) throws(BundleError) {
        guard let name = place.path?.name else {
            throw BundleError(.outputUnusable, "is not a file name", file: place.name)
        }
        self.name = place.name
        if case .replacing = place { existing = .replace } else { existing = .refuse }
        do { file = try AtomicFile(name, in: folder, mode: 0o666) } catch { throw .writing(place.name, error) }
    }

    /// Syncs the bytes of all, then gives them their names, then syncs the folder.
    ///
    /// - Parameter stopsAtFailure: whether files after one that failed get no name.
    /// - Returns: for each file what went wrong with it; nil where it is on the disk under its name. Where it stopped, what
    ///   comes after the first failure means nothing.
    static func commit(
        _ files: [FinishedFile], in folder: FolderHandle, stopsAtFailure: Bool = false
    ) -> [BundleError?] {
        guard !files.isEmpty else { return [] }
        for file in files { file.file.handle.startWriting(from: 0, count: 0) }
        var failures = files.map { file in
            file.failure { () throws(NativeError) in try file.file.handle.synchronize() }
        }
        for (index, file) in files.enumerated() {
            if failures[index] == nil {
                failures[index] = file.failure { () throws(NativeError) in try file.file.publish(file.existing) }
            }
            if failures[index] != nil && stopsAtFailure { break }
        }
        do {
            try folder.synchronize()
        } catch {
            for (index, file) in files.enumerated() where failures[index] == nil {
                failures[index] = .writing(file.name, error)
            }
        }
        return failures
    }

    private func failure(_ body: () throws(NativeError) -> Void) -> BundleError? {
        do {
            try body()
            return nil
        } catch {
            return .writing(name, error)
        }
    }
}
