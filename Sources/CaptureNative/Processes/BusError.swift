import Glibc

/// SIGBUS: a store into a file that is mapped into memory found no room on the disk, or a load could not be read.
///
/// SQLite maps its shared memory. Other file systems refuse in time, when the file is made; on btrfs each page that is
/// written for the first time needs new space.
package enum BusError {
    /// Lets the signal call `body`, which may only call the functions of signal-safety(7), such as `end`.
    package static func handle(_ body: @escaping @convention(c) (Int32) -> Void) {
        _ = signal(SIGBUS, body)
    }

    /// Writes a message to the standard error and ends the process at once.
    package static func end(_ message: StaticString, _ code: Int32) -> Never {
        unsafe _ = write(STDERR_FILENO, message.utf8Start, message.utf8CodeUnitCount)
        _exit(code)
    }
}
