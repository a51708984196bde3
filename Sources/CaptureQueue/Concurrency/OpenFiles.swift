import CaptureNative

/// The number of files and connections that this process may have open.
public enum OpenFiles {
    /// Raises the limit of open files, at most to 65,536, and returns it. A server needs one file for each connection.
    @discardableResult
    public static func raiseLimit() -> Int { ProcessLimits.raiseOpenFiles() }
}
