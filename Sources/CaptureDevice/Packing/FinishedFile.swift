import CaptureBundle
import CaptureNative
import SystemPackage

/// A file with complete bytes but without a name. Several files of one folder are committed together, so that the run
/// waits for the disk only a few times and not once for each file.
struct FinishedFile: Sendable {
    let name: String
    let file: AtomicFile
    let naming: AtomicFile.Naming

    /// - Parameter folder: The folder that contains `place`.
    init(_ place: OutputPlace, in folder: FolderHandle) throws(BundleError) {
        guard let name = place.path?.name else {
            throw BundleError(.outputUnusable, "is not a file name", file: place.name)
        }
        self.name = place.name
        do { file = try AtomicFile(name, in: folder, mode: 0o666) } catch { throw .writing(place.name, error) }
        if case .replacing = place { naming = file.naming(.replace) } else { naming = file.naming(.refuse) }
    }

    /// Gives the files their names so that a power cut takes neither away.
    ///
    /// - Parameter stopsAtFailure: Whether files after a failed one get no name.
    /// - Returns: For each file up to the one at which it stopped, the error, or nil if it is on the disk under its name.
    static func commit(_ files: [FinishedFile], stopsAtFailure: Bool = false) -> [BundleError?] {
        zip(files, AtomicFile.commit(files.map(\.naming), stopsAtFailure: stopsAtFailure)).map { file, error in
            error.map { .writing(file.name, $0) }
        }
    }
}
