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
    /// The descriptor for the child's standard input, like `output` for its standard output; nil to inherit ours.
    var input: FileHandle?
    var output: FileHandle?
    /// Whether the child's standard error is discarded; otherwise the child inherits ours.
    var discardsErrors = false
    /// Whether all other descriptors are closed in the child, also those that were opened without `O_CLOEXEC`.
    var closesOthers = false

    func run() throws(NativeError) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input { unsafe posix_spawn_file_actions_adddup2(&actions, input.descriptor, STDIN_FILENO) }
        if let output { unsafe posix_spawn_file_actions_adddup2(&actions, output.descriptor, STDOUT_FILENO) }
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
        let words = CStrings(arguments)
        let variables = CStrings(variables)
        let code = unsafe program.native { path in
            unsafe posix_spawn(&child, path, &actions, &attributes, words.pointers, variables.pointers)
        }
        guard code == 0 else { throw .system("posix_spawn", code) }
        return child
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
