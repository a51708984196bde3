import Glibc
package import SystemPackage

/// The process's environment variables.
package enum ProcessEnvironment {
    /// nil when the variable is not set or empty: the XDG rule, which we hold to for all of them.
    package static func value(_ name: String) -> String? {
        guard let raw = unsafe getenv(name) else { return nil }
        let value = unsafe String(cString: raw)
        return value.isEmpty ? nil : value
    }

    /// The variable's value as a path, byte for byte; nil when it is not set or empty.
    package static func path(_ name: String) -> FilePath? {
        guard let raw = unsafe getenv(name) else { return nil }
        let path = unsafe FilePath(platformString: raw)
        return path.isEmpty ? nil : path
    }

    /// The folder that a variable of the XDG Base Directory Specification names, else that folder below the home.
    ///
    /// The specification has relative paths ignored.
    package static func folder(_ variable: String, orInHome usual: String) -> FilePath {
        if let path = path(variable), path.isAbsolute { return path }
        return home.appending(usual)
    }

    /// `NAME=value` of all variables, with others put in place of those of the same name.
    package static func all(adding others: [String: String]) -> [String] {
        var lines = others.map { "\($0.key)=\($0.value)" }
        var next = unsafe environ
        while let line = unsafe next.pointee {
            let text = unsafe String(cString: line)
            if others[String(decoding: text.utf8.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)] == nil {
                lines.append(text)
            }
            unsafe next += 1
        }
        return lines
    }

    /// The home folder: `HOME`, else what the user database says.
    package static var home: FilePath {
        if let home = path("HOME") { return home }
        guard let record = unsafe getpwuid(geteuid()), let folder = unsafe record.pointee.pw_dir else { return "/" }
        return unsafe FilePath(platformString: folder)
    }

    /// Whether a file could be made in the folder, as far as permissions tell beforehand.
    package static func canWrite(folder: FilePath) throws(NativeError) {
        guard (unsafe folder.native { unsafe access($0, W_OK | X_OK) }) == 0 else { throw .system("access") }
    }
}
