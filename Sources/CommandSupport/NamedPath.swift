import CaptureNative
package import SystemPackage

/// Paths as users name them: a slash at the end says something that `FilePath` does not keep.
extension FilePath {
    /// A file. `name/` is a folder, and must not become the file `name`: as `name/.` it stays one.
    package init(file text: String) {
        self.init(text)
        if text.hasSuffix("/") { append(".") }
    }

    /// A folder. With a slash at its end, a symbolic link stands for the folder that it leads to.
    package init(folder text: String) {
        self.init(text)
        if text.hasSuffix("/") && FileStatus.isLink(self) { self = resolved }
    }
}
