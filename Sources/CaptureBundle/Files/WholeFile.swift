import CaptureNative
public import SystemPackage

/// Writes small files that appear under their name either complete or not at all.
public enum WholeFile {
    /// Creates a file that only its owner can read, unless the name exists. The file with this name is on the disk when
    /// the call returns. If several callers create the same name at once, one of them succeeds.
    ///
    /// - Returns: false if the name exists; nothing is changed then.
    /// - Throws: `output.unusable`, `io.failed`.
    public static func create(_ path: FilePath, _ bytes: [UInt8]) throws(BundleError) -> Bool {
        do throws(NativeError) {
            let file = try AtomicFile(path: path, mode: 0o600)
            try file.handle.write(bytes)
            do throws(NativeError) {
                try file.commit(.refuse)
                return true
            } catch  where error.isExisting {
                // Whoever created it may have failed to sync it.
                if let name = path.name { try FolderHandle(path.folder).synchronize(renamed: name) }
                return false
            }
        } catch {
            throw .writing(path, error)
        }
    }
}
