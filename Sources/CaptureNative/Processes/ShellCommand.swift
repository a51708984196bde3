import Glibc

/// A command of the user, run by `/bin/sh -c` for a limited time.
package struct ShellCommand {
    package enum Ending: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)
        /// The time was over, and the command was killed with its whole process group.
        case late
    }

    package let text: String
    /// Variables that are added to the environment of this process.
    package var environment: [String: String] = [:]
    package var input: [UInt8] = []
    /// The number of bytes of standard output to keep; the rest is discarded.
    package var outputLimit = 0
    /// Whether the command's standard error goes to ours; otherwise it is discarded.
    package var showsErrors = false
    package var seconds = 30.0

    package init(_ text: String) { self.text = text }

    /// - Parameter isStopped: Called several times a second; true ends the command as if its time were over.
    package func run(isStopped: () -> Bool = { false }) throws(NativeError) -> (ending: Ending, output: [UInt8]) {
        let given = try SpoolFile.open()
        try given.write(input)
        try given.seekToStart()
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw .system("pipe") }
        let (reader, writer) = (FileHandle(owning: ends[0]), FileHandle(owning: ends[1]))
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let child = try spawn(given, writer)
        return try wait(for: child, reader, closing: writer, isStopped)
    }

    private func spawn(_ given: FileHandle, _ writer: FileHandle) throws(NativeError) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, given.descriptor, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, writer.descriptor, STDOUT_FILENO)
        if !showsErrors {
            unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // The child gets its own process group, so that the whole group can be killed, and the signal settings that a
        // shell expects.
        let flags = Int32(POSIX_SPAWN_SETPGROUP) | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe posix_spawnattr_setsigmask(&attributes, &set)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { unsafe sigaddset(&set, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &set)
        var child: pid_t = 0
        let arguments = CStrings(["/bin/sh", "-c", text])
        let variables = CStrings(ProcessEnvironment.all(adding: environment))
        let code = unsafe posix_spawn(
            &child, "/bin/sh", &actions, &attributes, arguments.pointers, variables.pointers)
        guard code == 0 else { throw .system("posix_spawn", code) }
        return child
    }

    private func wait(
        for child: pid_t, _ reader: FileHandle, closing writer: FileHandle, _ isStopped: () -> Bool
    ) throws(NativeError) -> (Ending, [UInt8]) {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        let started = MonotonicClock.seconds
        var ended: (ending: Ending, at: Double)?
        while true {
            // Our own write end stays open, so reading never reports an end of file; the exit of the child ends the
            // loop.
            let hasOutput = FileHandle.wait(for: [reader], milliseconds: ended == nil ? 20 : 0)[0]
            if hasOutput {
                let count = try reader.readSome(into: &buffer)
                output += buffer[..<min(count, max(0, outputLimit - output.count))]
            }
            if let ended {
                // A process that the command started may go on writing for ever, so stop at the limit.
                if hasOutput && output.count < outputLimit { continue }
                return (ended.ending, output)
            }
            var status: Int32 = 0
            if unsafe waitpid(child, &status, WNOHANG) == child {
                let signal = status & 0x7f
                ended = (signal == 0 ? .code(status >> 8 & 0xff) : .signal(signal), MonotonicClock.seconds)
            } else if MonotonicClock.seconds - started > seconds || isStopped() {
                kill(-child, SIGKILL)
                unsafe _ = waitpid(child, &status, 0)
                withExtendedLifetime(writer) {}
                return (.late, output)
            }
        }
    }
}

/// An array of C strings that ends with a null pointer.
@safe
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) {
        count = strings.count
        unsafe pointers = .allocate(capacity: count + 1)
        for (index, string) in strings.enumerated() { unsafe pointers[index] = strdup(string) }
        unsafe pointers[count] = nil
    }

    deinit {
        for index in 0..<count { unsafe free(pointers[index]) }
        unsafe pointers.deallocate()
    }
}
