/// Path arithmetic on plain strings, as POSIX has it. No file is looked at.
package enum FilePath {
    /// What Linux file systems allow for one name, in bytes.
    package static let nameLimit = 255

    /// The folder part: `.` for a bare name, `/` for a name in the root.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        let folder = path[..<slash]
        return folder.isEmpty ? "/" : String(folder)
    }

    package static func name(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return path }
        return String(path[path.index(after: slash)...])
    }

    package static func join(_ folder: String, _ name: String) -> String {
        folder.hasSuffix("/") ? folder + name : folder + "/" + name
    }
}
