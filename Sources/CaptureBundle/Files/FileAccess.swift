package import CaptureNative
public import SystemPackage

/// Checks what other users can do with files that they should not reach (Spec/command-line.md section 4). Callers
/// decide whether to refuse such a file or to warn.
package enum FileAccess {
    /// Checks a file that holds a secret.
    ///
    /// - Returns: nil if the group and others have no permissions on the file, and for pipes and devices.
    package static func exposure(ofSecret path: FilePath, _ status: FileStatus) -> BundleError? {
        guard status.kind == .file, status.isOpenToOthers else { return nil }
        return BundleError(
            .keyOpenToOthers, "others can read or write it (mode \(octal(status))), expected 600", file: path,
            cause: .openToOthers)
    }

    /// Checks the file at a path. Returns nil if the file is fine, or if it does not exist.
    package static func exposure(ofSecret path: FilePath) -> BundleError? {
        (try? FileStatus.of(path)).flatMap { exposure(ofSecret: path, $0) }
    }

    /// Checks a trust file: other users must not be able to change it or to replace it with another file.
    ///
    /// The check looks at the file and its folder, and for symbolic links also at the folder of each link. It ignores
    /// the folders above: on systems where each user has a private group, group-writable folders are common.
    ///
    /// - Returns: nil if only this user and root can change the file, and for pipes and devices.
    package static func exposure(ofTrustFile path: FilePath) -> BundleError? {
        let real = path.followed
        if let file = try? FileStatus.of(real) {
            guard file.kind == .file else { return nil }
            if let fault = exposure(of: real, file) { return fault }
        }
        // Follow each link: a user who can write to one of these folders decides which file is read.
        var hop = path
        for _ in 0..<mostLinks {
            if let status = try? FileStatus.of(hop.folder), let fault = exposure(of: hop.folder, status) {
                return fault
            }
            guard let target = hop.linkTarget else { break }
            hop = target.isAbsolute ? target : hop.folder.pushing(target)
        }
        return nil
    }

    /// Checks the folder of a `CounterState` or a file in it: others must not be able to change what was seen.
    ///
    /// - Returns: nil if only this user and root can change it.
    static func exposure(ofState path: FilePath, _ status: FileStatus) -> BundleError? {
        guard status.isOurs else {
            return BundleError(
                .stateOpenToOthers, "belongs to another user (id \(status.owner)), expected you or root", file: path)
        }
        guard status.isWritableByOthers else { return nil }
        return BundleError(
            .stateOpenToOthers,
            "others can write to it (mode \(octal(status))), so they can erase the remembered counters", file: path,
            cause: .openToOthers)
    }

    /// The maximum number of symbolic links that the kernel follows.
    private static let mostLinks = 40

    private static func exposure(of path: FilePath, _ status: FileStatus) -> BundleError? {
        guard status.isOurs else {
            return BundleError(
                .trustOpenToOthers,
                "belongs to another user (id \(status.owner)), who can change whom you trust; expected you or root",
                file: path)
        }
        guard status.isWritableByOthers, !(status.kind == .folder && status.isSticky) else { return nil }
        return BundleError(
            .trustOpenToOthers, "others can write it (mode \(octal(status))), and so change whom you trust",
            file: path, cause: .openToOthers)
    }

    private static func octal(_ status: FileStatus) -> String { String(status.mode & 0o777, radix: 8) }
}

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
