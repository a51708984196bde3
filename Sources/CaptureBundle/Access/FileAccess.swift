package import CaptureNative
package import SystemPackage

/// What other users can do with a file that they should not reach (Spec/command-line.md section 4). Whether it is refused or
/// warned of is the caller's decision.
package enum FileAccess {
    /// A file with a secret.
    ///
    /// - Returns: nil when nobody else can read or write it, and for pipes and devices.
    package static func exposure(ofSecret path: FilePath, _ status: FileStatus) -> BundleError? {
        guard status.kind == .file, status.isOpenToOthers else { return nil }
        return BundleError(
            .keyOpenToOthers,
            "others can read or write it (mode \(octal(status))), expected 600",
            file: path, hints: ["chmod 600 \(ShellWord.quote(path))"])
    }

    /// The same of a path; nil also where there is nothing to look at.
    package static func exposure(ofSecret path: FilePath) -> BundleError? {
        (try? FileStatus.of(path)).flatMap { exposure(ofSecret: path, $0) }
    }

    /// A trust file: others must not be able to write it, nor to put another in its place.
    ///
    /// Looked at are the file and the folder that it is in, of symbolic links also the folder of each. What is above
    /// them is not: on systems where each user has a group of their own, folders that the group can write are usual.
    ///
    /// - Returns: nil when only this user and root can change it, and for pipes and devices.
    package static func exposure(ofTrustFile path: FilePath) -> BundleError? {
        let real = path.followed
        if let file = try? FileStatus.of(real) {
            guard file.kind == .file else { return nil }
            if let fault = exposure(of: real, file) { return fault }
        }
        // From link to link: whoever can write in one of these folders decides which file is read.
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

    /// The kernel follows no more.
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
            file: path, hints: ["check the trust file, then: chmod go-w \(ShellWord.quote(path))"])
    }

    private static func octal(_ status: FileStatus) -> String { String(status.mode & 0o777, radix: 8) }
}
