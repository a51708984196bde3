import CaptureBundle
import CaptureNative
import SystemPackage

/// A file with complete bytes but without a name. Several files of one folder are committed together, so that the run
/// waits for the disk only a few times and not once for each file.
struct FinishedFile: Sendable {
    let name: String
    let file: AtomicFile
    let existing: AtomicFile.Existing

    /// - Parameter folder: The folder that contains `place`.
    init(_ place: OutputPlace, in folder: FolderHandle) throws(BundleError) {
        guard let name = place.path?.name else {
            throw BundleError(.outputUnusable, "is not a file name", file: place.name)
        }
        self.name = place.name
        if case .replacing = place { existing = .replace } else { existing = .refuse }
        do { file = try AtomicFile(name, in: folder, mode: 0o666) } catch { throw .writing(place.name, error) }
    }

    /// Syncs the bytes of all files, then gives the files their names, then syncs the folder.
    ///
    /// - Parameter stopsAtFailure: Whether files after a failed one get no name.
    /// - Returns: For each file up to the one at which it stopped, the error, or nil if it is on the disk under its name.
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
        let first = stopsAtFailure ? failures.firstIndex { $0 != nil } : nil
        return Array(failures[...(first ?? failures.count - 1)])
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
