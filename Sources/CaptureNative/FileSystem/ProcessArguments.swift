import Glibc
import SystemPackage

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
