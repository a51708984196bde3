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
        try native({ .writing(path, $0) }) { try AtomicFile.create(bytes, at: path, mode: 0o600) }
    }
}
