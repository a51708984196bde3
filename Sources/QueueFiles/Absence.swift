import CaptureNative
package import SystemPackage

/// Tells files that are gone from files that are absent with their folder, as on a disk that is not mounted
/// (Spec/queue.md section 11). The latter come back, so their captures wait.
package enum Absence {
    /// The code of a delivery that waits for such a file.
    package static let code = "source.absent"

    /// How long such a delivery waits before the file is looked for again, in milliseconds.
    package static let pause = 300_000

    /// The folder that is missing or empty.
    ///
    /// - Returns: nil if the file is there, or if it alone is missing.
    package static func root(of path: FilePath) -> FilePath? {
        guard FileStatus.isMissing(path) else { return nil }
        var folder = path.folder
        if isEmpty(folder) { return folder }
        guard FileStatus.isMissing(folder) else { return nil }
        while folder.folder != folder, FileStatus.isMissing(folder.folder) { folder = folder.folder }
        // The place to which a disk is mounted is empty while it is not.
        return isEmpty(folder.folder) ? folder.folder : folder
    }

    private static func isEmpty(_ folder: FilePath) -> Bool {
        (try? Folders.names(in: folder))?.isEmpty ?? false
    }

    package static func message(_ root: FilePath) -> String { "\(root) is missing or empty: is its disk mounted?" }
}
