import Glibc

/// The process's environment variables.
package enum ProcessEnvironment {
    /// nil when the variable is not set or empty: the XDG rule, which we hold to for all of them.
    package static func value(_ name: String) -> String? {
        guard let raw = unsafe getenv(name) else { return nil }
        let value = unsafe String(cString: raw)
        return value.isEmpty ? nil : value
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
