import CaptureNative
package import SystemPackage

/// Paths as users write them. `FilePath` drops a slash at the end, but that slash has a meaning.
extension FilePath {
    /// A path to a file. `name/` means a folder and must not become the file `name`, so it becomes `name/.`.
    package init(file text: String) {
        self.init(text)
        if text.hasSuffix("/") { append(".") }
    }

    /// A path to a folder. With a slash at its end, a symbolic link means the folder to which it leads.
    package init(folder text: String) {
        self.init(text)
        if text.hasSuffix("/") && FileStatus.isLink(self) { self = resolved }
    }
}
