import Glibc
import SystemPackage

/// The command line of this process. Nothing else in the tools asks `CommandLine`.
package enum ProcessArguments {
    private static let sizeLimit = 64 << 20

    /// All arguments as the bytes that they are, the program's name first; without any where the caller gave none.
    ///
    /// Swift's runtime searches the stack, whose place it reads in `/proc/self/maps`, backwards from the environment. A
    /// preloaded library that calls `setenv` before `main` (Debian's libfaketime can) moves the environment elsewhere, and
    /// the runtime then finds no arguments. The kernel still has them.
    ///
    /// - Throws: when the runtime found none and `/proc` cannot be read.
    package static func all() throws(NativeError) -> [[UInt8]] {
        guard CommandLine.argc == 0 else { return fromRuntime() }
        // proc(5): each argument is ended by NUL.
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
