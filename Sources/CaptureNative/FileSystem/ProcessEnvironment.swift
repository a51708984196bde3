import Glibc
package import SystemPackage

/// The environment variables of this process.
package enum ProcessEnvironment {
    /// The number of this process.
    package static var processNumber: Int { Int(getpid()) }

    /// The value of a variable; nil if it is unset or empty. XDG prescribes this rule, and we apply it to all
    /// variables.
    package static func value(_ name: String) -> String? {
        guard let raw = unsafe getenv(name) else { return nil }
        let value = unsafe String(cString: raw)
        return value.isEmpty ? nil : value
    }

    /// Sets a variable unless it is set. Only for a process with one thread, because others could read it meanwhile.
    package static func set(_ name: String, _ value: String) { unsafe _ = setenv(name, value, 0) }

    /// The value of a variable as a path, byte for byte; nil if it is unset or empty.
    package static func path(_ name: String) -> FilePath? {
        guard let raw = unsafe getenv(name) else { return nil }
        let path = unsafe FilePath(platformString: raw)
        return path.isEmpty ? nil : path
    }

    /// The folder that a variable of the XDG Base Directory Specification names, or else the usual folder in the home
    /// folder.
    ///
    /// The specification says that relative paths are ignored.
    package static func folder(_ variable: String, orInHome usual: String) -> FilePath {
        if let path = path(variable), path.isAbsolute { return path }
        return home.appending(usual)
    }

    /// All variables as `NAME=value`, with `others` added; a variable in `others` replaces one of the same name.
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

    /// The home folder: `HOME`, or else the one in the user database.
    package static var home: FilePath {
        if let home = path("HOME") { return home }
        guard let record = unsafe getpwuid(geteuid()), let folder = unsafe record.pointee.pw_dir else { return "/" }
        return unsafe FilePath(platformString: folder)
    }

    /// The name of a user in the user database; nil if it has none.
    package static func userName(_ id: UInt32) -> String? {
        guard let record = unsafe getpwuid(id), let name = unsafe record.pointee.pw_name else { return nil }
        return unsafe String(cString: name)
    }

    /// Throws if this user cannot create a file in the folder: EACCES, or EROFS also where only this process sees the
    /// mount as read-only.
    package static func canWrite(folder: FilePath) throws(NativeError) {
        _ = try NativeError.retrying("access") { unsafe folder.native { unsafe access($0, W_OK | X_OK) } }
    }
}

/// The command line of this process. No other code in the tools uses `CommandLine`.
package enum ProcessArguments {
    private static let sizeLimit = 64 << 20

    /// All arguments as raw bytes, beginning with the program's name; empty if the caller passed none.
    ///
    /// Swift's runtime searches the stack backwards from the environment; it reads the stack's address in
    /// `/proc/self/maps`. A preloaded library that calls `setenv` before `main` (as Debian's libfaketime can) moves the
    /// environment elsewhere, and the runtime then finds no arguments. The kernel still has them.
    ///
    /// - Throws: `NativeError` if the runtime found no arguments and `/proc` cannot be read.
    package static func all() throws(NativeError) -> [[UInt8]] {
        guard CommandLine.argc == 0 else { return fromRuntime() }
        // NUL ends each argument (proc(5)).
        let bytes = try FileHandle.reading("/proc/self/cmdline").readAll(limit: sizeLimit)
        guard !bytes.isEmpty else { return [] }
        let ended = bytes.last == 0 ? bytes.dropLast() : bytes[...]
        return ended.split(separator: 0, omittingEmptySubsequences: false).map { Array($0) }
    }

    private static func fromRuntime() -> [[UInt8]] {
        (0..<Int(CommandLine.argc)).compactMap { index in
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { return nil }
            return unsafe Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
        }
    }
}
