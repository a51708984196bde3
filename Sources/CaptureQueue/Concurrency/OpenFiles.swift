import CaptureNative

/// The number of files and connections that this process may have open.
public enum OpenFiles {
    /// Raises it as far as the system allows, at most to 65,536, and returns it. A server needs one for each connection.
    @discardableResult
    public static func raiseLimit() -> Int { ProcessLimits.raiseOpenFiles() }
}
