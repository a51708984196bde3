import Glibc

/// The process's environment variables.
package enum ProcessEnvironment {
    /// nil when the variable is not set or empty: the XDG rule, which we hold to for all of them.
    package static func value(_ name: String) -> String? {
        guard let raw = unsafe getenv(name) else { return nil }
        let value = unsafe String(cString: raw)
        return value.isEmpty ? nil : value
    }

    /// The folder that a variable of the XDG Base Directory Specification names, else that folder below the home.
    ///
    /// The specification has relative paths ignored.
    package static func folder(_ variable: String, orInHome usual: String) -> String {
        if let path = value(variable), path.utf8.first == UInt8(ascii: "/") { return path }
        return FilePath.join(home, usual)
    }

    /// `NAME=value` of all variables, with others put in place of those of the same name.
    package static func all(adding others: [String: String]) -> [String] {
        var lines = others.map { "\($0.key)=\($0.value)" }
        var next = unsafe environ
        while let line = unsafe next.pointee {
            let text = unsafe String(cString: line)
            if others[String(text.prefix { $0 != "=" })] == nil { lines.append(text) }
            unsafe next += 1
        }
        return lines
    }

    /// The home folder: `HOME`, else what the user database says.
    package static var home: String {
        if let home = value("HOME") { return home }
        guard let record = unsafe getpwuid(geteuid()), let folder = unsafe record.pointee.pw_dir else { return "/" }
        return unsafe String(cString: folder)
    }

    /// Whether a file could be made in the folder, as far as permissions tell beforehand.
    package static func canWrite(folder: String) throws(NativeError) {
        guard unsafe access(folder, W_OK | X_OK) == 0 else { throw .system("access") }
    }
}
