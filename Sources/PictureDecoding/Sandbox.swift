import CSandbox
import Glibc
import PictureMessages

/// Limits what this process can do while it decodes: it can read descriptor 0, write descriptor 1 and use memory.
enum Sandbox {
    /// 1 GiB of addresses: the memory that a picture may need, and the libraries with their threads.
    private static let memoryLimit: UInt = 1 << 30
    /// `PictureDecoder` ends a process long before. This limit is for a process whose tool was killed.
    private static let processorSeconds: UInt = 600

    /// Sets the limits and the filter of system calls. They cannot be removed later.
    ///
    /// - Parameter libraries: Some need additional system calls: libde265, which libheif calls, decodes in a thread of its
    ///   own, and an archive is read from several places.
    /// - Returns: A text with the call that the kernel refused; nil if the sandbox is closed.
    static func close(forLibraries libraries: Set<PictureLibrary>) -> String? {
        guard capture_give_up_privileges() == 0 else { return "no_new_privs: \(systemText(errno))" }
        guard capture_set_limits(memoryLimit, processorSeconds) == 0 else { return "setrlimit: \(systemText(errno))" }
        let code = capture_close_sandbox(libraries.contains(.heif) ? 1 : 0, libraries.contains(.archive) ? 1 : 0)
        return code == 0 ? nil : "seccomp: \(systemText(code))"
    }

    private static func systemText(_ code: Int32) -> String { unsafe String(library: strerror(code)) }

    /// The forbidden actions that the test of the sandbox tries.
    enum Attempt: String {
        case open, connect, exec, fork
        case writeFile = "write-file"
        case executableMemory = "executable-memory"

        /// Tries the action. If the sandbox works, this call does not return.
        func run() {
            switch self {
            case .open: unsafe _ = Glibc.open("/etc/passwd", O_RDONLY)
            case .connect: _ = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            case .exec: capture_attempt_exec()
            case .fork: capture_attempt_fork()
            case .writeFile: unsafe _ = Glibc.creat("written", 0o600)
            case .executableMemory:
                unsafe _ = mmap(nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            }
        }
    }
}
