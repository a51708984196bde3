package import SystemPackage

/// A folder on a mounted disk.
package struct FolderSettings: Hashable, Sendable {
    package let path: FilePath
    /// What its marker file says; nil before `dest add` has marked it.
    package let marker: String?

    init(_ reader: inout SettingsReader) throws(SettingsFault) {
        guard let path = try reader.file("path") else { throw SettingsFault("folder needs --path") }
        self.path = path
        marker = try reader.text("marker")
    }
}
