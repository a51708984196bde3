import CaptureNative
import SystemPackage

extension BundleError {
    /// A file that could not be opened, or a folder where a file was expected.
    static func opening(_ path: FilePath, _ error: NativeError) -> BundleError {
        guard error.isFolder else { return reading(path, error) }
        return BundleError(
            .inputUnreadable, "is a folder, expected a file", file: path, hints: FolderContents(path)?.hints ?? [])
    }
}
