import CLinux
import Glibc
import SystemPackage

/// Starts a child process.
///
/// The child gets its own process group, so that the whole group can be killed, and the default signal settings.
struct ProcessStart {
    let program: FilePath
    /// The command line, beginning with the name of the program.
    let arguments: [String]
    /// The environment, each variable as `NAME=value`.
    var variables: [String] = []
    /// The child's standard input and output.
    let input: FileHandle
    let output: FileHandle
    /// Whether the child's standard error is discarded; otherwise the child inherits ours.
    let discardsErrors: Bool
    /// Whether all other descriptors are closed in the child, also those that were opened without `O_CLOEXEC`.
    var closesOthers = false

    func run() throws(NativeError) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input.descriptor, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output.descriptor, STDOUT_FILENO)
        if discardsErrors {
            unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }
        if closesOthers { unsafe _ = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1) }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        let flags = Int32(POSIX_SPAWN_SETPGROUP) | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var (blocked, usual) = (sigset_t([]), sigset_t([SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ]))
        unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
        unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
        var child: pid_t = 0
        let (words, variables) = unsafe (Self.copies(of: arguments), Self.copies(of: variables))
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        let code = unsafe program.native { path in
            unsafe posix_spawn(&child, path, &actions, &attributes, words, variables)
        }
        guard code == 0 else { throw .system("posix_spawn", code) }
        return child
    }

    /// C strings, which the caller frees, and a null pointer at the end.
    private static func copies(of strings: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe strings.map { unsafe strdup($0) } + [nil]
    }
}
