package import SystemPackage

/// The settings of a folder on a mounted disk.
package struct FolderSettings: Hashable, Sendable {
    package let path: FilePath
    /// The contents of the marker file; nil before `dest add` has written it.
    package let marker: String?

    init(_ reader: inout SettingsReader) throws(SettingsFault) {
        guard let path = try reader.file("path") else { throw SettingsFault.missing("path", of: "folder") }
        self.path = path
        marker = try reader.text("marker")
    }
}
