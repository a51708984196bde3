import CaptureNative

/// The number of files and connections that this process may have open.
public enum OpenFiles {
    /// Raises the limit of open files as far as the system allows, at most to 65,536, and returns it: one a connection.
    @discardableResult
    public static func raiseLimit() -> Int { ProcessLimits.raiseOpenFiles() }
}
