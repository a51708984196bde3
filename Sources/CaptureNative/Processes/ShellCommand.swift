import Glibc
import SystemPackage

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
        let given = try TemporaryFile.inMemory()
        try given.write(input)
        try given.seekToStart()
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw .system("pipe") }
        let (reader, writer) = (FileHandle(owning: ends[0]), FileHandle(owning: ends[1]))
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let start = ProcessStart(
            program: "/bin/sh", arguments: ["/bin/sh", "-c", text],
            variables: ProcessEnvironment.all(adding: environment), input: given, output: writer,
            discardsErrors: !showsErrors)
        return try wait(for: start.run(), reader, closing: writer, isStopped)
    }

    private func wait(
        for child: pid_t, _ reader: FileHandle, closing writer: FileHandle, _ isStopped: () -> Bool
    ) throws(NativeError) -> (Ending, [UInt8]) {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        let started = MonotonicClock.seconds
        var ended: Ending?
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
                return (ended, output)
            }
            var status: Int32 = 0
            if unsafe waitpid(child, &status, WNOHANG) == child {
                let signal = status & 0x7f
                ended = signal == 0 ? .code(status >> 8 & 0xff) : .signal(signal)
            } else if MonotonicClock.seconds - started > seconds || isStopped() {
                kill(-child, SIGKILL)
                unsafe _ = waitpid(child, &status, 0)
                withExtendedLifetime(writer) {}
                return (.late, output)
            }
        }
    }
}
