import Glibc
import Synchronization
package import SystemPackage

/// A child process that answers on its standard output the requests on its standard input.
///
/// It has an empty environment and inherits no other descriptor. Its standard error is discarded. It is killed when the
/// last reference to this object is released. It ends by itself when this process ends, because its input ends then.
/// (PR_SET_PDEATHSIG is not used: it would kill the child when the *thread* that started it ends.)
///
/// Calls on one helper must not overlap.
package final class HelperProcess: Sendable {
    private let socket: FileHandle
    /// The process id; nil after the process was reaped.
    private let child: Mutex<pid_t?>

    /// - Parameters:
    ///   - arguments: The words after the program's name.
    ///   - input: A file that the process reads instead of what `send` sends.
    package init(_ program: FilePath, arguments: [String], input: FileHandle? = nil) throws(NativeError) {
        var ends: [Int32] = [-1, -1]
        // One socket serves both directions. Writing to a socket can be done without SIGPIPE, unlike writing to a pipe.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .system("socketpair") }
        socket = FileHandle(owning: ends[0])
        let other = FileHandle(owning: ends[1])
        let start = ProcessStart(
            program: program, arguments: [program.lastComponent?.string ?? ""] + arguments, input: input ?? other,
            output: other, discardsErrors: true, closesOthers: true)
        child = Mutex(try start.run())
    }

    deinit { _ = end() }

    package var processNumber: Int32? { child.withLock(\.self) }

    /// Sends all bytes. Throws `ETIMEDOUT` after `deadline` (of `MonotonicClock`), `EPIPE` if the process has ended.
    package func send(_ bytes: [UInt8], deadline: Double) throws(NativeError) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { raw in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: raw[sent...])
                return unsafe Glibc.send(
                    socket.descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count >= 0 { sent += count } else { try waitAfterFailure(for: POLLOUT, until: deadline, of: "send") }
        }
    }

    /// Receives `count` numbers in the byte order of the machine. Throws as `send` does.
    package func receive<Number: Numeric & BitwiseCopyable>(
        _ count: Int, as type: Number.Type = UInt8.self, deadline: Double
    ) throws(NativeError) -> [Number] {
        // Array(repeating:count:) would copy the numbers one by one, since this function is not specialized.
        var numbers = unsafe [Number](unsafeUninitializedCapacity: count) { target, filled in
            unsafe UnsafeMutableRawBufferPointer(target).initializeMemory(as: UInt8.self, repeating: 0)
            filled = count
        }
        var received = 0
        while received < count * MemoryLayout<Number>.stride {
            let done = unsafe numbers.withUnsafeMutableBytes { raw in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: raw[received...])
                return unsafe recv(socket.descriptor, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT))
            }
            if done == 0 { throw .system("recv", EPIPE) }
            if done > 0 { received += done } else { try waitAfterFailure(for: POLLIN, until: deadline, of: "recv") }
        }
        return numbers
    }

    private func waitAfterFailure(for event: Int32, until deadline: Double, of call: String) throws(NativeError) {
        if errno == EINTR { return }
        guard errno == EAGAIN else { throw .system(call, errno == ECONNRESET ? EPIPE : errno) }
        let rest = deadline - MonotonicClock.seconds
        guard rest > 0 else { throw .system(call, ETIMEDOUT) }
        var request = pollfd(fd: socket.descriptor, events: Int16(event), revents: 0)
        unsafe _ = poll(&request, 1, Int32(clamping: Int(rest * 1000) + 1))
    }

    /// Kills the process, if it still runs, and reaps it.
    ///
    /// - Returns: The signal that had already ended the process, if there was one.
    @discardableResult
    package func end() -> Int32? {
        child.withLock { child in
            guard let number = child.take() else { return nil }
            var status: Int32 = 0
            // A process that has closed its end is about to exit, and its own exit status is needed for the message.
            var code = unsafe waitpid(number, &status, WNOHANG)
            if code == 0 {
                kill(-number, SIGKILL)
                repeat { code = unsafe waitpid(number, &status, 0) } while code < 0 && errno == EINTR
                return nil
            }
            return code == number && status & 0x7f != 0 ? status & 0x7f : nil
        }
    }
}

extension NativeError {
    /// Whether the deadline of a call has passed.
    package var isLate: Bool { isErrno(ETIMEDOUT) }
}
