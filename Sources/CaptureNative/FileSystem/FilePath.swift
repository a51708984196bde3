import Glibc

/// Paths as plain strings. Only `resolved` looks at files.
package enum FilePath {
    /// The path without links, where it leads to something; otherwise the path itself.
    package static func resolved(_ path: String) -> String {
        guard let resolved = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(resolved) }
        return unsafe String(validatingCString: resolved) ?? path
    }

    /// The path itself, unless its last name is a link: then the file that it leads to, so that names derived from it are the
    /// same for all links.
    package static func followed(_ path: String) -> String { FileStatus.isLink(path) ? resolved(path) : path }

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

    /// The path from the root, as the working folder is now.
    package static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let here = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(here) }
        return unsafe join(String(cString: here), path)
    }

    package static func join(_ folder: String, _ name: String) -> String {
        folder.hasSuffix("/") ? folder + name : folder + "/" + name
    }
}
