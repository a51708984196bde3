import Glibc
import SystemPackage

/// The terminal that the process was started from, if there is one. It does not depend on where the standard streams
/// go.
package enum Terminal {
    /// Asks for a line without showing the typed text. A signal that ends or stops the process takes effect only after
    /// the terminal shows typed text again. If the process is stopped and then continued, it prints the prompt again.
    ///
    /// - Returns: The line, without the line break. Returns nil if there is no terminal, or if the input ends without a
    ///   line (Ctrl-D).
    /// - Throws: `EFBIG` if the line is so long that the terminal may have cut it.
    package static func readSecret(prompt: String) throws(NativeError) -> [UInt8]? {
        guard let terminal = try? FileHandle.open("/dev/tty", O_RDWR | O_NOCTTY), terminal.isTerminal else {
            return nil
        }
        while true {
            let held = HeldSignals()
            defer { held.unblock() }
            let hidden = try HiddenInput(terminal)
            defer { hidden.end() }
            try terminal.write(Array(prompt.utf8))
            if let answer = try read(terminal, held) { return answer }
        }
    }

    /// - Returns: nil if a signal came first; a nil inside if the input ends without a line.
    private static func read(_ terminal: FileHandle, _ held: HeldSignals) throws(NativeError) -> [UInt8]?? {
        var line: [UInt8] = []
        var byte: [UInt8] = [0]
        while true {
            if held.isPending { return nil }
            guard FileHandle.wait(for: [terminal], milliseconds: 100)[0] else { continue }
            guard try terminal.readSome(into: &byte) == 1 else { return .some(line.isEmpty ? nil : line) }
            if byte[0] == UInt8(ascii: "\n") { return line }
            line.append(byte[0])
            // A terminal keeps at most this many bytes of a line (termios(3), canonical mode) and does not report what
            // it drops.
            if line.count >= 4095 { throw .system("read", EFBIG) }
        }
    }
}

/// A terminal with echo switched off, so that it does not show the typed text.
private struct HiddenInput {
    private let terminal: FileHandle
    private let before: termios

    init(_ terminal: FileHandle) throws(NativeError) {
        self.terminal = terminal
        var settings = termios()
        guard unsafe tcgetattr(terminal.descriptor, &settings) == 0 else { throw .system("tcgetattr") }
        before = settings
        settings.c_lflag &= ~tcflag_t(ECHO)
        guard unsafe tcsetattr(terminal.descriptor, TCSAFLUSH, &settings) == 0 else { throw .system("tcsetattr") }
    }

    func end() {
        var settings = before
        unsafe _ = tcsetattr(terminal.descriptor, TCSAFLUSH, &settings)
        try? terminal.write(Array("\n".utf8))
    }
}

/// Blocks signals until `unblock` is called.
private struct HeldSignals {
    private static let numbers = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]
    private var before = sigset_t()

    init() {
        var set = sigset_t(Self.numbers)
        unsafe _ = pthread_sigmask(SIG_BLOCK, &set, &before)
    }

    var isPending: Bool {
        var set = sigset_t()
        guard unsafe sigpending(&set) == 0 else { return false }
        return Self.numbers.contains { unsafe sigismember(&set, $0) == 1 }
    }

    func unblock() {
        var set = before
        unsafe _ = pthread_sigmask(SIG_SETMASK, &set, nil)
    }
}
